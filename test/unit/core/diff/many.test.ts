import { expect, test } from 'vitest'
import { atOnce } from '../../../../src/base/steps.ts'
import { findEmptied, takeBaseline } from '../../../../src/core/plan/baseline.ts'
import { diff } from '../../../../src/core/diff/diff.ts'
import { type Key, KeySet } from '../../../../src/core/keys.ts'
import { without } from '../../../../src/core/without.ts'
import {
  directoryOf,
  haveGroup,
  haveUser,
  planInSteps,
  rejecting,
  sourceOf,
  wantGroup,
  wantUser,
} from './build.ts'

/** V8 refuses a call with so many arguments, such as `push(...list)`. */
const MANY = 140_000
const ids = Array.from({ length: MANY }, (_, index) => String(index).padStart(6, '0'))

const emailOf = (place: number) => `${place}@example.org`

function* nobody() {
  yield
  return undefined
}

test('a container may lose any number of entries', () => {
  const before = atOnce(
    takeBaseline(function* (visit) {
      for (const id of ids) visit(id, 'ou=all,dc=org')
      yield
      return undefined
    }),
  )
  expect(atOnce(findEmptied(before, nobody, ids)).get('ou=all,dc=org')).toHaveLength(MANY)
})

test('any number of members of a group may be rejected', () => {
  const source = sourceOf(
    ids.map((id) => wantUser(id)),
    [wantGroup('g', 'All', ids)],
  )
  const directory = directoryOf(
    ids.map((id) => haveUser(id)),
    [haveGroup('g', 'All')],
  )
  const keys = ids.map((id): Key => ['group', 'g', '+member', id])
  const plan = atOnce(planInSteps({ source, directory }, rejecting(keys)))
  expect(plan.changes.length).toBe(0)
  expect(plan.blocked).toMatchObject([{ change: { want: { length: MANY } }, codes: ['rejected'] }])
})

test('any number of ids may have another form than those of the source', () => {
  const source = sourceOf([wantUser('6fd0f2c4-7e30-1041-8c95-a5e19ca83c11')])
  const directory = directoryOf(ids.map((id) => haveUser(id)))
  const plan = atOnce(planInSteps({ source, directory }))
  expect(plan.notices.filter(({ code }) => code === 'other-id-form')).toHaveLength(MANY)
})

test('any number of users may need the e-mail of a user that keeps it', () => {
  const source = sourceOf(ids.map((id, place) => wantUser(id, 'Name', emailOf(place + 1))))
  const have = ids.map((id, place) => haveUser(id, 'Name', emailOf(place)))
  const directory = directoryOf(have)
  const rules = { policy: 'mirror', membership: 'write', allowedDomains: [] } as const
  const wanted = atOnce(diff({ source, directory }, rules))
  const keyOf = (place: number): Key => ['user', ids[place]!, 'email', emailOf(place + 1)]
  const left = atOnce(without(wanted, [new KeySet([keyOf(MANY - 1)])]))
  expect([wanted.has(keyOf(0)), left.has(keyOf(0))]).toEqual([true, false])
})

test('any number of users may get the e-mail of the one before them', () => {
  const chain = ids.slice(0, 20_000)
  const source = sourceOf(chain.map((id, place) => wantUser(id, id, emailOf(place + 1))))
  const have = chain.map((id, place) => haveUser(id, id, emailOf(place)))
  const stuck = [haveUser('old', 'Old', emailOf(chain.length))]
  const seen = { user: new Set([...chain, 'old']), group: new Set<string>() }
  const planned = (from: typeof source, users: typeof have) =>
    atOnce(planInSteps({ source: from, directory: directoryOf(users) })).changes.length
  expect(planned(source, have)).toBe(chain.length)
  expect(planned({ ...source, seen }, [...have, ...stuck])).toBe(0)
})
