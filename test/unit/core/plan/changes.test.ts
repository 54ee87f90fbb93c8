import fc from 'fast-check'
import { expect, test } from 'vitest'
import { byCodeUnit } from '../../../../src/base/order.ts'
import { PART } from '../../../../src/base/steps.ts'
import { fingerprint } from '../../../../src/core/plan/change.ts'
import { directoryOf, haveGroup, haveUser, planOf, sourceOf, wantGroup, wantUser } from '../diff/build.ts'

/** Creates, updates and deletes of more users than one step handles, in any order, and of some groups. */
function largePlan() {
  const ids = Array.from({ length: 3 * PART }, (_, index) => `u${(index * 7919) % (3 * PART)}`)
  const wanted = ids.filter((_, index) => index % 3 !== 0).map((id) => wantUser(id, `New ${id}`))
  const had = ids.filter((_, index) => index % 3 !== 1).map((id) => haveUser(id))
  const group = wantGroup('g', 'G', ['u1', 'u2'])
  return planOf(sourceOf(wanted, [group]), directoryOf(had, [haveGroup('old', 'Old', ['u1'])]))
}

test('a change that is made again is the one that was planned', () => {
  const { changes } = largePlan()
  const all = [...changes]
  expect(all.map(({ change }) => fingerprint(change))).toEqual(all.map((each) => each.fingerprint))
  expect([...changes]).toEqual(all)
})

test('changes are found by their operation', () => {
  const { changes } = largePlan()
  const all = [...changes]
  for (const op of ['create-user', 'update-user', 'delete-user', 'set-members', 'update-group'] as const) {
    const some = all.filter(({ change }) => change.op === op)
    expect(changes.countOf(op)).toBe(some.length)
    expect([...changes.of(op)]).toEqual(some)
  }
})

test('changes of one operation come in the order of the code units of their ids', () => {
  const id = fc.string({
    unit: fc.constantFrom('a', 'B', '0', '\u00e9', '\u00ff', '\u0100', '\ud83d\ude00', '\ufffd'),
    minLength: 1,
  })
  fc.assert(
    fc.property(fc.uniqueArray(id, { maxLength: 30 }), (ids) => {
      const plan = planOf(
        sourceOf(ids.map((each, index) => wantUser(each, 'Name', `m${index}@example.org`))),
        directoryOf([]),
      )
      expect([...plan.changes].map(({ change }) => change.id)).toEqual(ids.toSorted(byCodeUnit))
    }),
  )
})
