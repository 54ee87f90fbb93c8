import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { codesDocument } from '../../../../scripts/codes-document.ts'

test('docs/codes.md is what the tables of messages say; npm run codes writes it', () => {
  const file = new URL('../../../../docs/codes.md', import.meta.url)
  expect(readFileSync(file, 'utf8')).toBe(codesDocument())
})
