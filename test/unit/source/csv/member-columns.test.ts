import { expect, test } from 'vitest'
import { memberColumns } from '../../../../src/source/csv/member-columns.ts'

/** A file of members with these columns and their values. */
function file(columns: Readonly<Record<string, string>>) {
  return Object.entries(columns).map(([name, values]) => ({
    name,
    values: new Set(values.split(' ').filter((value) => value !== '')),
  }))
}

const USERS = { column: 'id', values: new Set(['1', '2', '3', '4']) }
const GROUPS = { column: 'gid', values: new Set(['1', '2']) }
const ids = { users: USERS, groups: GROUPS }

test.each<[string, Record<string, string>, [string, string]]>([
  ['both are called as in their own files', { gid: '1 2', id: '3 4' }, ['gid', 'id']],
  ['only that of the users is', { group_id: '1 2', ID: '3 4' }, ['group_id', 'ID']],
  ['the values say otherwise than a name', { id: '1 2', member: '3 4' }, ['id', 'member']],
  ['the names say nothing', { code: '1 2', x: '3 4' }, ['code', 'x']],
  ['the values say nothing', { group: '1 2', person: '1 2' }, ['group', 'person']],
  ['there is no value', { user_id: '', group_id: '' }, ['group_id', 'user_id']],
  ['there are others', { since: '2020 2021', role: 'lead', user: '3 4', group: '1 2' }, ['group', 'user']],
  ['some of the ids are unknown', { group: '1 2 9', user: '3 4 8' }, ['group', 'user']],
])('which column is which: %s', (_, columns, [group, user]) => {
  const [best, ...others] = memberColumns(file(columns), ids)
  expect(best).toEqual({ group, user, isCertain: true })
  expect(others.every(({ isCertain }) => !isCertain)).toBe(true)
})

test.each<[string, Record<string, string>]>([
  ['neither names nor values tell', { code: '1 2', x: '1 2' }],
  ['names and values contradict each other', { user: '1 2', group: '1 2 3' }],
  ['the values speak for a third column', { group: '1 2', approved_by: '3 4', user: '0003 0004' }],
  ['no value is a known id', { group: 'a b', user: 'c d' }],
  ['there is no value, and no name tells', { code: '', x: '' }],
])('a person is asked where %s', (_, columns) => {
  const pairs = memberColumns(file(columns), ids)
  expect(pairs.length).toBeGreaterThanOrEqual(2)
  expect(pairs.filter(({ isCertain }) => isCertain)).toEqual([])
})

test('ids of which not all were read prove nothing', () => {
  const unread = { users: { ...USERS, values: undefined }, groups: { ...GROUPS, values: undefined } }
  expect(memberColumns(file({ group: 'a', user: 'b' }), unread)[0]?.isCertain).toBe(true)
  expect(memberColumns(file({ code: '1', x: '3' }), unread)[0]?.isCertain).toBe(false)
})

test('a name that both files give to their ids says nothing', () => {
  const same = { users: USERS, groups: { ...GROUPS, column: 'id' } }
  expect(memberColumns(file({ code: '1 2', id: '1 2' }), same)[0]?.isCertain).toBe(false)
})

test('no column is proposed twice', () => {
  expect(memberColumns(file({ gid: '1 2' }), ids)).toEqual([])
})
