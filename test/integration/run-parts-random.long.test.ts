import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { type PartName, PARTS } from '../../src/core/decide.ts'
import type { DirsyncdError } from '../../src/base/errors.ts'
import type { DecisionRequest } from '../../src/operations/control.ts'
import { become, GROUPS, PEOPLE, someCompany } from '../support/random-company.ts'
import type { SyncHarness } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('parts-random')
const { company, seen } = bed

let harness: SyncHarness

beforeEach(async () => {
  // Each delete of a user needs an approval.
  harness = await bed.openWithWorker({ maxUserDeletes: 0 })
})

type Part = Pick<DecisionRequest, 'ids' | 'only'>

const somePart: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ only: fc.subarray([...PARTS], { minLength: 1 }) }),
  fc.record({ ids: fc.subarray([...PEOPLE, ...GROUPS], { minLength: 1 }) }),
)

const isOf = ({ ids, only }: Part, id: string, part: PartName): boolean =>
  (ids?.includes(id) ?? true) && (only?.includes(part) ?? true)

/**
 * Approves a part of what a run showed, and tests that nobody of another part is deleted. Nor is a group renamed while
 * open questions stop the plan.
 */
async function approvePart(run: number, part: Part): Promise<void> {
  const before = await seen()
  const approved = harness.control.approve({ run, by: 'ana', ...part })
  const isDecided = await approved.then(
    () => true,
    () => false,
  )
  if (!isDecided) return
  await harness.work()
  const after = await seen()
  const isStopped = (await harness.newestRun()).state === 'held'
  for (const id of before.users.keys()) if (!after.users.has(id)) expect(isOf(part, id, 'deletes')).toBe(true)
  for (const [id, { name }] of before.groups) {
    const now = after.groups.get(id)
    if (isStopped && now !== undefined && now.name !== name) expect(isOf(part, id, 'updates')).toBe(true)
  }
}

/** By id, because that overrules rejections. */
async function approveAll(run: number): Promise<void> {
  const ids = new Set<string>()
  for (const { change } of (await harness.control.run(run, { limit: 1000 }))!.changes) ids.add(change.id)
  // The part may have been all of it, and is made.
  await harness.approve(run, { ids: [...ids] }).catch((error: DirsyncdError) => {
    if (error.code !== 'run-unknown') throw error
  })
}

/** Approves what guards ask about, and then what the read does not prove. */
async function approveRest(): Promise<void> {
  let run = await harness.sync()
  while ((await harness.exitCode(run)) === 3) run = await harness.approve(run.run)
}

test('parts that are approved one after the other make the directory equal to the source', async () => {
  await fc.assert(
    fc.asyncProperty(
      someCompany,
      someCompany,
      fc.array(fc.record({ part: somePart, isRejected: fc.boolean() }), { maxLength: 4 }),
      async (first, second, parts) => {
        for (const wanted of [first, second]) {
          become(company, wanted)
          await harness.sync()
          for (const { part, isRejected } of wanted === second ? parts : []) {
            const { run, state } = await harness.sync()
            if (state !== 'held') continue
            if (isRejected) await harness.control.reject({ run, by: 'bob', isAll: true })
            await approvePart(run, part)
            if (isRejected) await approveAll(run)
          }
          await approveRest()
          expect(await harness.newestRun()).toMatchObject({ state: 'done' })
          const { users, groups } = await seen()
          expect(Object.fromEntries(users)).toEqual(Object.fromEntries(company.users))
          const wantedGroups = [...company.groups].map(([id, group]) => [
            id,
            { ...group, members: group.members.toSorted() },
          ])
          expect(Object.fromEntries(groups)).toEqual(Object.fromEntries(wantedGroups))
        }
      },
    ),
    { numRuns: 200 },
  )
})
