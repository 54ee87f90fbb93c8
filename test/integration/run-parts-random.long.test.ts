import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { isInPart, type Part, PART_NAMES } from '../../src/core/plan/part/part.ts'
import { become, GROUPS, PEOPLE, someCompany } from '../support/random-company.ts'
import type { SyncHarness } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('parts-random')
const { company, seen } = bed

let harness: SyncHarness

beforeEach(async () => {
  // Whoever is deleted is held.
  harness = await bed.openWithWorker({ maxUserDeletes: 0 })
})

const somePart: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ names: fc.subarray([...PART_NAMES], { minLength: 1 }) }),
  fc.record({ kinds: fc.constantFrom(['user'] as const, ['group'] as const) }),
  fc.record({ ids: fc.subarray([...PEOPLE, ...GROUPS], { minLength: 1 }) }),
)

/** Approves a part of what is held, and tests that nobody of another part is deleted, and no group renamed. */
async function approvePart(run: number, part: Part): Promise<void> {
  const before = await seen()
  const approved = harness.control.approve({ run, by: 'ana', part })
  if (
    !(await approved.then(
      () => true,
      () => false,
    ))
  )
    return
  await harness.work()
  const after = await seen()
  for (const id of before.users.keys()) {
    const deletion = {
      op: 'delete-user',
      id,
      have: { email: null, name: null, groups: [] },
      why: 'gone',
    } as const
    if (!after.users.has(id)) expect(isInPart(part, deletion)).toBe(true)
  }
  for (const [id, have] of before.groups) {
    const want = after.groups.get(id)
    if (want === undefined || want.name === have.name) continue
    expect(isInPart(part, { op: 'update-group', id, have, want })).toBe(true)
  }
}

/** Approves what guards hold, and then what the evidence of the read does not prove. */
async function approveRest(): Promise<void> {
  let run = await harness.newestRun()
  while (run.hold === 'open') run = await harness.approve(run.run)
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
            const { run, state, hold } = await harness.newestRun()
            if (state !== 'held') continue
            const isOverruled = isRejected && hold === 'open'
            if (isOverruled) await harness.control.reject({ run, by: 'bob' })
            await approvePart(run, part)
            if (isOverruled) await harness.approve(run)
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
