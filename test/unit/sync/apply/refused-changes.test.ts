import { expect, test } from 'vitest'
import { neverAccepted, manyRefused } from '../../../../src/sync/apply/refused-changes.ts'

test('one change that the service refuses while it accepts others is named, with what to do', () => {
  const refused = { op: 'delete-user', changes: 1, id: 'u9', answer: 'DELETE /users/u9: 403.' } as const
  expect(neverAccepted(refused, { acceptedOthers: true })).toBe(
    'The service refused delete-user of "u9" with 403 and accepted no other of this kind, although it accepted other changes in this run. The token ' +
      'may not do this, or a proxy does not let it through, or the service protects the entry: then put the id on the list ' +
      'entries.users.protected of the sync. DELETE /users/u9: 403. This change was not put into quarantine; the next ' +
      'run tries it again.',
  )
})

test.each([
  ['create-user', 'entries.users.exclude'],
  ['set-members', 'entries.groups.exclude'],
  ['delete-group', 'entries.groups.protected'],
] as const)('of many refused changes %s, the number and the list %s are named', (op, list) => {
  const said = neverAccepted({ op, changes: 1200, id: 'a', answer: 'No.' }, { acceptedOthers: false })
  expect(said).toContain(
    `refused 1200 changes of the kind ${op} with 403 and accepted none of this kind, nor any`,
  )
  expect(said).toContain(`put the ids on the list ${list} of the sync. No. These changes were not put into`)
})

test('what is said of refusals in a row is said of these changes only', () => {
  expect(manyRefused(24, 'No.')).toMatch(
    / No\. These changes were not put into quarantine; the next run tries/,
  )
})
