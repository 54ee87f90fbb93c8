import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLocalControl } from '../../src/control/local.ts'
import { isInPart, type Part, PART_NAMES } from '../../src/plan/part/part.ts'
import { backendNamed, type OpenBackend } from '../support/backends.ts'
import { emptyDirectoriesFixture, FIXTURE } from '../support/fixture.ts'
import { inLong } from '../support/long.ts'
import { readService } from '../support/read-service.ts'
import { type RunningService, startService } from '../support/service.ts'
import { type MutableCompany, openSyncHarness, type SyncHarness } from '../support/sync-harness.ts'

const SYNC = 'parts-random'
const PEOPLE = ['a', 'b', 'c', 'd', 'e', 'f']
const GROUPS = ['g', 'h', 'i']

let service: RunningService
let opened: OpenBackend
let harness: SyncHarness
const company: MutableCompany = { users: new Map(), groups: new Map() }

beforeAll(async () => {
  service = await startService({ fixture: emptyDirectoriesFixture(100, 1) })
  opened = await backendNamed('postgres').open()
  harness = openSyncHarness(opened, {
    sync: SYNC,
    service: { baseUrl: service.baseUrl, organizationId: 1, directoryId: 100 },
    token: () => FIXTURE.token,
    company,
    // Whoever is deleted is held.
    maxUserDeletes: 0,
  })
  await harness.startWorker()
})
afterAll(async () => {
  await harness?.[Symbol.asyncDispose]()
  await opened?.close()
  await service?.close()
})

/** A company of some of the people, each with an e-mail of nobody else, in some of the groups. */
const someCompany = fc.record({
  people: fc.shuffledSubarray(PEOPLE),
  emails: fc.shuffledSubarray(PEOPLE, { minLength: PEOPLE.length }),
  groups: fc.array(fc.option(fc.subarray(PEOPLE)), { minLength: GROUPS.length, maxLength: GROUPS.length }),
})
type SomeCompany = typeof someCompany extends fc.Arbitrary<infer T> ? T : never

const somePart: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ names: fc.subarray([...PART_NAMES], { minLength: 1 }) }),
  fc.record({ kinds: fc.constantFrom(['user'] as const, ['group'] as const) }),
  fc.record({ ids: fc.subarray([...PEOPLE, ...GROUPS], { minLength: 1 }) }),
)

function become({ people, emails, groups }: SomeCompany): void {
  company.users.clear()
  company.groups.clear()
  for (const [place, id] of people.entries())
    company.users.set(id, { name: `Person ${id}`, email: `${emails[place]}@example.org` })
  for (const [place, members] of groups.entries()) {
    const id = GROUPS[place]!
    if (members !== null)
      company.groups.set(id, {
        name: `Group ${id}`,
        members: members.filter((user) => people.includes(user)),
      })
  }
}

const seen = () => readService({ ...FIXTURE, baseUrl: service.baseUrl, organizationId: 1, directoryId: 100 })

function control() {
  return createLocalControl({
    db: opened.store.db,
    targets: new Map([[SYNC, `${service.baseUrl}/directories/100`]]),
    wake: async () => undefined,
  })
}

async function newest() {
  const [run] = await control().runs({ sync: SYNC, limit: 1 })
  return run!
}

/** Approves a part of what is held, and tests that nobody of another part is deleted. */
async function approvePart(run: number, part: Part): Promise<void> {
  const before = await seen()
  const approved = control().approve({ run, by: 'ana', part })
  if (
    !(await approved.then(
      () => true,
      () => false,
    ))
  )
    return
  await harness.executor.work(SYNC, { scheduled: false })
  const after = await seen()
  for (const id of before.users.keys()) {
    const deletion = { op: 'delete-user', id, have: { email: null, name: null }, why: 'gone' } as const
    if (!after.users.has(id)) expect(isInPart(part, deletion)).toBe(true)
  }
}

/** Approves what guards hold, and then what the evidence of the read does not prove. */
async function approveRest(): Promise<void> {
  for (let run = await newest(); run.hold === 'open'; run = await newest()) {
    await control().approve({ run: run.run, by: 'bob' })
    await harness.executor.work(SYNC, { scheduled: false })
  }
}

test(
  'parts that are approved one after the other make the directory equal to the source',
  { timeout: 600_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        someCompany,
        someCompany,
        fc.array(somePart, { maxLength: 4 }),
        async (first, second, parts) => {
          for (const wanted of [first, second]) {
            become(wanted)
            await harness.sync()
            for (const part of wanted === second ? parts : []) {
              const held = await newest()
              if (held.state === 'held') await approvePart(held.run, part)
            }
            await approveRest()
            expect(await newest()).toMatchObject({ state: 'done' })
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
      { numRuns: inLong(6, 200) },
    )
  },
)
