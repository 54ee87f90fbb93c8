import { expect, test } from 'vitest'
import type { Change } from '../../../../src/core/plan/change.ts'
import { type Unmet, withoutUnmet } from '../../../../src/core/plan/needs.ts'

interface Given {
  readonly users?: Record<string, Unmet>
  readonly groups?: Record<string, Unmet>
  readonly owners?: Record<string, Unmet>
}

function left(change: Change, { users = {}, groups = {}, owners = {} }: Given): Change | Unmet {
  const creates = { user: new Map(Object.entries(users)), group: new Map(Object.entries(groups)) }
  return withoutUnmet(change, { creates, owners: new Map(Object.entries(owners)) })
}

const takes = { from: 'a', after: 1 }
const have = { name: 'Bo', email: 'b@example.org' }
const EMAIL = { email: 'a@example.org' }

test('an e-mail whose owner keeps it is left out, and the other values are sent', () => {
  const update: Change = { op: 'update-user', id: 'b', have, want: { ...EMAIL, name: 'Bob' }, takes }
  const create: Change = { op: 'create-user', id: 'b', want: { ...EMAIL, employeeId: '7' }, takes }
  expect(left(update, { owners: { a: 'not-made' } })).toEqual({
    op: 'update-user',
    id: 'b',
    have,
    want: { name: 'Bob' },
  })
  expect(left(create, { owners: { a: 'not-made' } })).toEqual({
    op: 'create-user',
    id: 'b',
    want: { employeeId: '7' },
  })
  expect(left(update, { owners: { c: 'not-made' } })).toBe(update)
})

test('of an update of the e-mail alone nothing is left', () => {
  const update: Change = { op: 'update-user', id: 'b', have, want: EMAIL, takes }
  expect(left(update, { owners: { a: 'not-made' } })).toBe('not-made')
  expect(left(update, { owners: { a: 'waits' } })).toBe('waits')
  expect(left({ ...update, want: { ...EMAIL, name: 'Bob' } }, { owners: { a: 'undecided' } })).toBe(
    'undecided',
  )
})

const members = (before: readonly string[], want: readonly string[]): Change => ({
  op: 'set-members',
  id: 'g',
  name: 'G',
  have: before,
  want,
})

test('users who were not created are left out of a group, which gets its other members', () => {
  const change = members(['a', 'x'], ['a', 'b', 'c'])
  expect(left(change, { users: { c: 'not-made' } })).toEqual(members(['a', 'x'], ['a', 'b']))
  expect(left(change, { users: { d: 'not-made' } })).toBe(change)
  expect(left(change, { users: { b: 'not-made', c: 'waits' } })).toBe('waits')
})

test('of a group that would only get users who were not created nothing is left', () => {
  expect(left(members(['a'], ['a', 'b']), { users: { b: 'not-made' } })).toBe('not-made')
  const empties = members(['a'], ['b'])
  expect(left(empties, { users: { b: 'not-made' } })).toEqual(members(['a'], []))
})

test('a group that was not created gets no members', () => {
  const change = members([], ['a'])
  expect(left(change, { groups: { g: 'not-made' } })).toBe('not-made')
  expect(left(change, { groups: { g: 'waits' } })).toBe('waits')
  expect(left(change, { users: { g: 'not-made' } })).toBe(change)
})

test('deletes, and updates of groups, need nothing', () => {
  const change: Change = { op: 'update-group', id: 'g', have: { name: 'A' }, want: { name: 'B' } }
  expect(left(change, { groups: { g: 'not-made' } })).toBe(change)
})
