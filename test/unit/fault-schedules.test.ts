import { expect, test } from 'vitest'
import { API_TROUBLES, faultName, LDAP_TROUBLES, scheduleOf } from '../faults/schedule.ts'
import { replayOf } from '../faults/report.ts'
import { writesOf } from '../faults/write-history.ts'

test('the same seed gives the same schedule', () => {
  expect(scheduleOf(12)).toEqual(scheduleOf(12))
  expect(scheduleOf(13)).not.toEqual(scheduleOf(12))
})

test('an hour of schedules has every kind of fault', () => {
  const schedules = Array.from({ length: 300 }, (_, seed) => scheduleOf(seed))
  const seen = new Set(schedules.flatMap(({ faults }) => faults.map(faultName)))
  expect([...seen].toSorted()).toEqual(
    [
      ...API_TROUBLES.map((trouble) => `api-${trouble}`),
      ...LDAP_TROUBLES.map((trouble) => `ldap-${trouble}`),
      'clock',
      'freeze',
      'kill',
      'outside-delete',
      'retry-after-day',
      'postgres-cut',
      'postgres-freeze',
      'postgres-restart',
      'redis-flush',
      'redis-pause',
      'redis-restart',
    ].toSorted(),
  )
})

test('the command for a replay names what is left of a schedule', () => {
  const whole = Array.from({ length: 50 }, (_, seed) => scheduleOf(seed)).find(
    ({ faults }) => faults.length > 2,
  )!
  const part = { ...whole, faults: whole.faults.slice(1, 2), edits: [], users: 20, groups: 2 }
  expect(replayOf(part, undefined)).toBe(
    `npm run faults -- --seed ${whole.seed} --schedules 1 --only-faults 1 --only-edits none --users 20 --groups 2`,
  )
})

test.each([
  [
    'POST',
    '/users',
    'users[][external_id]=a%2F1&users[][name]=Ann&users%5B%5D%5Bexternal_id%5D=b&users%5B%5D%5Bname%5D=Bo',
    { op: 'create', kind: 'user', id: 'a/1', name: 'Ann' },
    { op: 'create', kind: 'user', id: 'b', name: 'Bo' },
  ],
  [
    'PATCH',
    '/users/a%2F1',
    'email=a@example.org',
    { op: 'update', kind: 'user', id: 'a/1', email: 'a@example.org' },
  ],
  [
    'PATCH',
    '/groups/g1',
    'name=Team&external_member_ids[]=b&external_member_ids[]=a',
    { op: 'update', kind: 'group', id: 'g1', name: 'Team', members: ['a', 'b'] },
  ],
  ['DELETE', '/groups/g1', '', { op: 'delete', kind: 'group', id: 'g1' }],
])('understands %s %s', (method, path, body, ...writes) => {
  const url = `/api/v2/organizations/1/admin/directories/7${path}`
  expect(writesOf({ method, url, body })).toEqual(writes)
  expect(writesOf({ method: 'GET', url, body: '' })).toEqual([])
})
