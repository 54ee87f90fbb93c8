import { expect, test } from 'vitest'
import { keyText } from '../../../src/core/keys.ts'
import { atOnce } from '../../../src/base/steps.ts'
import { BlockedChanges } from '../../../src/core/blocked.ts'
import { idsOf } from '../../../src/core/within.ts'
import type { Ended } from './run/ram.ts'
import {
  emptied,
  grace,
  leavers,
  maxDeletes,
  maxMembers,
  person,
  rest,
  snapshots,
  sync,
  type ToyUser,
} from './run/toys.ts'

const blockedOf = ({ facts }: Ended) => atOnce(BlockedChanges.of(facts, () => 'gone'))

/** The changes that a run blocks, each with the codes of the blocks that name it. */
function listed(ended: Ended): readonly string[] {
  return Array.from(blockedOf(ended), ({ planned: { change }, reasons }) =>
    [change.op, change.id, ...reasons.map(({ block }) => ended.blocks[block]!.code)].join(' '),
  )
}

test('blocked changes are shown like all changes, whichever check blocks them', () => {
  const users: ToyUser[] = [person('a'), person('b')]
  const world = snapshots([], [], users, [], { hidden: new Set(['b']) })
  const ended = sync([grace(7), emptied]).run(world)
  expect(listed(ended)).toEqual(['delete-user a grace', 'delete-user b grace container-emptied'])
  expect(blockedOf(ended).asking).toEqual({ 'delete-user': 1 })
})

test('of a held plan, what only the stop blocks is shown without a reason', () => {
  const held = sync([maxDeletes(1)]).run(leavers(2, [person('n')]))
  expect(listed(held)).toEqual([
    'create-user n',
    'delete-user l000 max-deletes',
    'delete-user l001 max-deletes',
  ])
  expect(blockedOf(held).named[0]).toBe(2)
})

test('a removal of a user in the grace period is shown where it needs a decision', () => {
  const users = [person('a'), ...rest]
  const held = sync([grace(7), maxMembers(0)]).run(snapshots(rest, [['g', []]], users, [['g', ['a']]]))
  expect(listed(held)).toEqual(['set-members g max-removals', 'delete-user a grace'])
})

test('a blocked change of a group shows no removal that the run made, or that a blocked delete stands for', () => {
  const x = person('x')
  const s = sync([grace(7), maxMembers(1)])
  const both = snapshots(
    [x, ...rest],
    [['g', ['r000']]],
    [x, person('a'), ...rest],
    [['g', ['r000', 'a', 'x']]],
  )
  const asking = s.run(both)
  s.reject(asking.id, { id: ['x'] })
  s.approve(asking.id, { id: ['a'], only: ['members'] })
  const [change] = [...blockedOf(s.run(both))].flatMap(({ planned }) =>
    planned.change.op === 'set-members' ? planned.change : [],
  )
  expect(change).toMatchObject({ have: ['a', 'r000', 'x'], want: ['a', 'r000'] })
})

test('what a run of some entries leaves alone is not blocked', () => {
  const world = leavers(3, [person('n')])
  const ended = sync([grace(7)]).run(world, { scope: idsOf({ users: ['n', 'l001'], groups: [] }) })
  expect(listed(ended)).toEqual(['delete-user l001 grace'])
})

test('an e-mail whose holder keeps it is not blocked: it is no difference that a later run makes', () => {
  const world = snapshots(
    [['a', 'x@e', 'A'], ['b', 'x@e', 'B'], ...rest],
    [],
    [['b', 'x@e', 'B'], ...rest],
    [],
  )
  expect(listed(sync([grace(7)]).run(world))).toEqual([])
})

test('rejected changes are counted with who rejected them last, and other reasons change the digest', () => {
  const s = sync([maxDeletes(1)])
  const world = leavers(2)
  const asking = s.run(world)
  s.reject(asking.id, { id: ['l000', 'l001'] })
  const rejected = blockedOf(s.run(world))
  expect(rejected.rejected).toEqual({ 'delete-user': 2 })
  expect(rejected.asking).toEqual({})
  expect(rejected.lastRejection).toMatchObject({ run: asking.id, by: 'ana' })
  expect(rejected.digest).not.toBe(blockedOf(asking).digest)
  expect(s.store.ledger('sync').rejections.has(keyText(['user', 'l000', 'leave']))).toBe(true)
})
