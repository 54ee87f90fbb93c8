import { expect, test } from 'vitest'
import { manyRefused } from '../../../../src/sync/apply/refused-changes.ts'

test('what is said of refusals in a row is said of these changes only', () => {
  expect(manyRefused(24, 'No.')).toMatch(
    / No\. These changes were not put into quarantine; the next run tries/,
  )
})
