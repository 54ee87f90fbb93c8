import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'vitest'
import { atOnce } from '../../../../src/base/steps.ts'
import { Decisions, EMPTY_LEDGER } from '../../../../src/core/decisions.ts'
import { diff } from '../../../../src/core/diff/diff.ts'
import { UserTable } from '../../../../src/core/entries/user-table.ts'
import { DirectoryUsers, SourceUsers } from '../../../../src/core/entries/users.ts'
import { firstFacts, judge } from '../../../../src/core/judge.ts'
import { order } from '../../../../src/core/order.ts'
import type { ToyFacts } from './ram.ts'
import { deletedBefore, emptied, firstContact, grace, maxDeletes, snapshots, unreadable } from './toys.ts'

const idAt = (place: number) => `6f9619ff-8b86-d011-b42d-${String(place).padStart(12, '0')}`

/** A first fill: what is kept of each user is a row of the plan, and no key. */
export function fill(users: number): void {
  const table = new UserTable()
  const source = new SourceUsers(table)
  for (let place = 0; place < users; place += 1)
    source.add({
      id: idAt(place),
      email: `firstname.lastname${place}@example.org`,
      name: 'First Last',
      employeeId: undefined,
      from: `uid=u${place},ou=people,dc=example,dc=org`,
    })
  const none = snapshots([], [], [], [])
  const world = {
    ...none,
    source: { ...none.source, users: source, seen: { ...none.source.seen, user: seenIn(source) } },
    directory: { ...none.directory, users: new DirectoryUsers(table) },
  }
  const before = heapUsed()
  const wanted = atOnce(diff(world, { policy: 'mirror', membership: 'write', allowedDomains: [] }))
  const job = { now: 0, isDry: false, scope: undefined, crash: false, fails: () => false }
  let facts: ToyFacts = {
    ...atOnce(firstFacts(wanted, new Decisions(EMPTY_LEDGER))),
    world,
    job,
    states: new Map(),
  }
  for (const tier of [
    [unreadable, grace(7)],
    [emptied, deletedBefore],
    [maxDeletes(50), firstContact],
  ])
    facts = atOnce(judge(tier, facts))
  const plan = atOnce(order(facts.left, () => 'gone'))
  const kept = heapUsed() - before
  expect([plan.length, facts.left.has(['user', idAt(users - 1), 'create'])]).toEqual([users, true])
  expect(kept / users).toBeLessThan(BYTES_PER_USER)
}

/** A key of each value as an object, or as a text in a set, would be several hundred. */
const BYTES_PER_USER = 250

function seenIn(users: SourceUsers) {
  return { size: users.size, has: (id: string) => users.has(id), [Symbol.iterator]: () => users.keys() }
}

function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed: heap, arrayBuffers } = process.memoryUsage()
  return heap + arrayBuffers
}
