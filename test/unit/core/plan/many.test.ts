import { expect, test } from 'vitest'
import { atOnce } from '../../../../src/base/steps.ts'
import { findEmptied, takeBaseline } from '../../../../src/core/plan/baseline.ts'
import { memberFingerprint } from '../../../../src/core/plan/change.ts'
import { ruleEmails } from '../../../../src/core/plan/emails.ts'
import type { Withheld } from '../../../../src/core/plan/inputs.ts'
import { makePlan } from '../../../../src/core/plan/plan.ts'
import { directoryOf, haveGroup, haveUser, sourceOf, wantGroup, wantUser } from './build.ts'

/** V8 refuses a call with so many arguments, such as `push(...list)`. */
const MANY = 140_000
const ids = Array.from({ length: MANY }, (_, index) => String(index).padStart(6, '0'))
const users = new Map(ids.map((id) => [id, 'absent'] as const))
const RULES = { policy: 'mirror', membership: 'write', allowedDomains: [] } as const

function* nobody() {
  yield
  return undefined
}

test.each([
  { emptied: [], found: 'now' },
  { emptied: ['ou=all,dc=org'], found: 'in an earlier read' },
])('a container may lose any number of entries, found $found', ({ emptied }) => {
  const before = atOnce(
    takeBaseline(
      function* (visit) {
        for (const id of ids) visit(id, 'ou=all,dc=org')
        yield
        return undefined
      },
      { absent: [], before: undefined, emptied },
    ),
  )
  const [container] = atOnce(findEmptied(before, nobody, ids))
  expect(container?.ids).toHaveLength(MANY)
})

test('any number of members of a group may be rejected', () => {
  const params = { by: 'bo', at: '2026-11-21T07:29:03.000Z', run: 1, release: null }
  const rejected: Withheld = { code: 'rejected', params }
  const plan = makePlan({
    source: sourceOf(
      ids.map((id) => wantUser(id)),
      [wantGroup('g', 'All', ids)],
    ),
    directory: directoryOf(
      ids.map((id) => haveUser(id)),
      [haveGroup('g', 'All')],
    ),
    sightings: { user: new Map(), group: new Map() },
    rules: RULES,
    withheld: new Map(ids.map((id) => [memberFingerprint('g', 'added', id), rejected])),
  })
  expect(plan.changes.length).toBe(0)
  expect(plan.withheld).toHaveLength(MANY + 1)
})

test('any number of ids may have another form than those of the source', () => {
  const plan = makePlan({
    source: sourceOf([wantUser('6fd0f2c4-7e30-1041-8c95-a5e19ca83c11')]),
    directory: directoryOf(ids.map((id) => haveUser(id))),
    sightings: { user: users, group: new Map() },
    rules: RULES,
    withheld: new Map(),
  })
  expect(plan.notices.filter(({ code }) => code === 'other-id-form')).toHaveLength(MANY)
})

test('any number of users may have an e-mail whose change is withheld', () => {
  const nobodys = { writableUsers: [], holders: [], directory: new Map(), deleted: new Set<string>() }
  const rulings = atOnce(ruleEmails({ ...nobodys, keepsEmail: () => false, withheld: new Set(ids) }))
  expect([...rulings.ruled]).toEqual([])
})
