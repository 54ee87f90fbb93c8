import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import type { DirectoryUser } from '../../src/core/entries/entry.ts'
import type { DirectorySnapshot } from '../../src/core/entries/snapshot.ts'
import { PART } from '../../src/base/steps.ts'
import { FencedRun } from '../../src/store/fenced-run.ts'
import { useTestBed } from '../support/test-bed.ts'
import { useWorkCounter } from '../support/work-counter.ts'

// Otherwise a turn has as many steps as the machine does in ten milliseconds.
vi.mock(import('../../src/base/turns.ts'), () => ({
  async inTurns(steps) {
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
      await setImmediate()
    }
  },
}))

const bed = useTestBed('bounded')
const work = useWorkCounter()

/** A part of 1,000 rows or keys looks up to 30 of them up. */
const PEOPLE = 600 * PART
const MOST = 500 * PART

const ANA = { id: 'ana', name: 'Person ana', email: 'ana@example.org' }
const people = Array.from({ length: PEOPLE }, (_, index) => ({ id: `u${index}`, name: 'Old', email: null }))

function directoryOf(users: readonly DirectoryUser[]): DirectorySnapshot {
  const byId = new Map([ANA, ...users].map((user) => [user.id, user]))
  return { users: byId, groups: new Map(), notices: [], moved: false, unprovedEmpty: [] }
}

/** The most that was done between two turns of the event loop, while all is done. */
async function mostInTurn(all: () => Promise<unknown>): Promise<number> {
  let [most, before, isOver] = [0, work.count, false]
  const look = () => {
    most = Math.max(most, work.count - before)
    before = work.count
    if (!isOver) void setImmediate().then(look)
  }
  void setImmediate().then(look)
  await all().finally(() => (isOver = true))
  return most
}

const write = Reflect.get<FencedRun, 'write'>(FencedRun.prototype, 'write')
afterEach(() => {
  FencedRun.prototype.write = write
})

/** How much is done in each transaction of a run. */
function watchTransactions(): readonly number[] {
  const done: number[] = []
  // A spy would keep all that it sees.
  FencedRun.prototype.write = function <T>(this: FencedRun, some: Parameters<typeof write<T>>[0]) {
    return write.call<FencedRun, [typeof some], Promise<T>>(this, async (trx, run) => {
      const before = work.count
      const result = await some(trx, run)
      done.push(work.count - before)
      return result
    })
  }
  return done
}

test('no turn and no transaction of a run in which all people wait handles more than a part of them', async () => {
  bed.hire('ana')
  const [some, all] = [directoryOf([]), directoryOf(people)]
  let directory = all
  const harness = bed.open({ listed: () => directory, grace: { deleteAfter: { user: { runs: 9 } } } })
  const states: string[] = []
  const sync = async (listed: DirectorySnapshot) => {
    directory = listed
    states.push((await harness.sync()).state)
  }
  const transactions = watchTransactions()
  const turns = await mostInTurn(async () => {
    // The first contact asks about all that are in grace, the next run again, and the others complete.
    for (const listed of [all, all, some, all, all]) await sync(listed)
  })
  expect(states).toEqual(['held', 'held', 'done', 'done', 'done'])
  expect(turns).toBeLessThan(MOST)
  expect(Math.max(...transactions)).toBeLessThan(MOST)
})
