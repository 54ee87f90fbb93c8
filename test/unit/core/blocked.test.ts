import { expect, test } from 'vitest'
import { atOnce } from '../../../src/base/steps.ts'
import { blocksOf, keysOfChange, Rest } from '../../next/core/blocked.ts'
import { order } from '../../next/core/order.ts'
import { emptied, grace, leavers, maxDeletes, person, snapshots, sync, type ToyUser } from './run/toys.ts'
import type { Ended } from './run/ram.ts'

/** What a run does not make, each change with the codes of the blocks that name it. */
function notMade({ left, blocks }: Ended): readonly string[] {
  const rest = new Rest(left)
  return Array.from(atOnce(order(rest, () => 'gone')), ({ change }) => {
    const places = blocksOf(blocks, keysOfChange(rest, change))
    return [change.op, change.id, ...places.map((place) => blocks[place]!.code)].join(' ')
  })
}

test('blocked changes are shown like all changes, whichever check blocks them', () => {
  const users: ToyUser[] = [person('a'), person('b')]
  const world = snapshots([], [], users, [], { hidden: new Set(['b']) })
  expect(notMade(sync([grace(7), emptied]).run(world))).toEqual([
    'delete-user a grace',
    'delete-user b grace container-emptied',
  ])
})

test('of a held plan, what only the stop keeps is shown without a block', () => {
  const held = sync([maxDeletes(1)]).run(leavers(2, [person('n')]))
  expect(notMade(held)).toEqual([
    'create-user n',
    'delete-user l000 max-deletes',
    'delete-user l001 max-deletes',
  ])
})
