import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PLANTED_BUGS } from '../faults/patches.ts'

test.each(PLANTED_BUGS)('the planted bug $name still applies', ({ edits }) => {
  for (const { file, find } of edits) {
    expect(readFileSync(`src/${file}`, 'utf8').split(find).length - 1, `${file}: ${find}`).toBe(1)
  }
})
