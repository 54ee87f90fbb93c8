import { beforeEach, expect, test } from 'vitest'
import { createLocalControl } from '../../src/operations/local.ts'
import { renderReport } from '../../src/ui/cli/render/report.ts'
import { emptyDirectoriesFixture, FIXTURE } from '../support/fixture.ts'
import { readService } from '../support/read-service.ts'
import type { MutableCompany, SyncHarness, SyncHarnessOptions } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

/** Tests have directories from 100 on. */
const OTHER_DIRECTORY = 99

const bed = useTestBed('configuration', { fixture: emptyDirectoriesFixture(OTHER_DIRECTORY, 1) })

let company: MutableCompany

beforeEach(() => {
  ;({ company } = bed)
})

async function harness(options: Partial<SyncHarnessOptions> = {}): Promise<SyncHarness> {
  const open = bed.open(options)
  await open.startWorker()
  return open
}

function hire(id: string): void {
  company.users.set(id, { name: `Person ${id}`, email: `${id}@example.org` })
}

function inOtherDirectory() {
  return { service: { baseUrl: bed.proxy.baseUrl, organizationId: 1, directoryId: OTHER_DIRECTORY } }
}

test('a run that was asked for before the directory was changed writes to the new one alone', async () => {
  hire('a')
  const before = bed.open()
  const asked = await before.requestRun()
  const after = await harness(inOtherDirectory())
  await after.executor.work(bed.sync, { scheduled: false })
  expect(await after.getRun(asked)).toMatchObject({
    state: 'done',
    target: expect.stringContaining(`/directories/${OTHER_DIRECTORY}`),
  })
  const inNew = await readService({ ...FIXTURE, ...inOtherDirectory().service })
  expect([...inNew.users.keys()]).toEqual(['a'])
  expect((await readService(bed.direct)).users.size).toBe(0)
})

/** Everybody's name comes from another attribute. */
function renameAll(): void {
  for (const [id, user] of company.users) company.users.set(id, { ...user, name: `Renamed ${user.name}` })
}

const OLD = { 'users.filter': 'a', 'users.map.name': 'b' }
const NEW = { 'users.filter': 'a', 'users.map.name': 'c' }

function control(target = bed.target) {
  const targets = new Map([[bed.sync, target]])
  return createLocalControl({ db: bed.opened.store.db, targets, wake: async () => undefined })
}

async function reportOf(run: number): Promise<string> {
  return renderReport((await control().run(run))!, { all: false }).join('\n')
}

async function namesInDirectory(): Promise<readonly unknown[]> {
  const { users } = await readService(bed.direct)
  return [...users.values()].map(({ name }) => name)
}

const HELD = { state: 'held', blocks: [{ code: 'configuration-changed' }] }

test('what a changed mapping does to everybody is held, and an operator is told what was changed', async () => {
  for (let index = 0; index < 30; index++) hire(`u${index}`)
  const first = await (await harness({ options: OLD })).sync()
  expect(first).toMatchObject({ state: 'done', configuration_change: null })

  renameAll()
  hire('new')
  const changed = bed.open({ options: NEW })
  const held = await changed.sync()
  expect(held).toMatchObject(HELD)
  expect(await reportOf(held.run)).toContain(
    `he configuration was changed since run ${first.run} (users.map.name)`,
  )
  expect(await namesInDirectory()).not.toContain('Renamed Person u1')

  await control().approve({ run: held.run, by: 'a test' })
  await changed.executor.work(bed.sync, { scheduled: false })
  expect(await namesInDirectory()).toContain('Renamed Person u1')
  // The run that completed is what the next one is compared with.
  renameAll()
  expect(await changed.sync()).toMatchObject({ state: 'done', configuration_change: null })
})

async function failToRead(): Promise<never> {
  throw new Error('the server is away')
}

test('a run that was held, that failed or that was of single entries does not make a changed configuration the known one', async () => {
  for (let index = 0; index < 30; index++) hire(`u${index}`)
  const first = await (await harness({ options: OLD })).sync()
  renameAll()
  const changed = bed.open({ options: NEW })
  const failing = bed.open({ options: NEW, onRead: failToRead })
  expect(await failing.sync()).toMatchObject({ state: 'failed' })
  expect(await changed.sync({ scope: { users: ['u1'], groups: [] } })).toMatchObject({ state: 'done' })
  expect(await changed.sync()).toMatchObject(HELD)
  const again = await changed.sync()
  expect(again).toMatchObject({
    ...HELD,
    configuration_change: { since: first.run, keys: ['users.map.name'] },
  })
})

test('a few changes after a change of the configuration are made, named once', async () => {
  for (let index = 0; index < 30; index++) hire(`u${index}`)
  await (await harness({ options: OLD })).sync()
  company.users.delete('u0')
  const changed = bed.open({ options: NEW })
  const run = await changed.sync()
  expect(run).toMatchObject({ state: 'done', configuration_change: { keys: ['users.map.name'] } })
  expect(await changed.sync()).toMatchObject({ state: 'done', configuration_change: null })
})

test('after a change of the directory, what was done to the old one counts as the last run', async () => {
  hire('a')
  const first = await (await harness({ options: { 'directory.directoryId': '7' } })).sync()
  const moved = await harness({ ...inOtherDirectory(), options: { 'directory.directoryId': '8' } })
  expect(await moved.sync()).toMatchObject({
    configuration_change: { since: first.run, keys: ['directory.directoryId'] },
  })
})

test('what is asked about one directory is not approved for another', async () => {
  for (let index = 0; index < 30; index++) hire(`u${index}`)
  await (await harness({ options: OLD })).sync()
  renameAll()
  const held = await bed.open({ options: NEW }).sync()
  expect(held).toMatchObject(HELD)
  // The same directory under another address is another target, with the same changes.
  const service = { baseUrl: bed.service.baseUrl, organizationId: 1, directoryId: bed.direct.directoryId }
  const moved = bed.open({ options: NEW, service })
  const heldThere = await moved.sync()
  expect(heldThere).toMatchObject(HELD)
  const asked = { run: heldThere.run, by: 'a test' }
  await expect(control().approve(asked)).rejects.toThrow(
    /cannot be decided about: it is for .*, and .* writes to /,
  )
  await control(heldThere.target).approve(asked)
  const decided = await bed.opened.store.db
    .selectFrom('dirsyncd.decisions')
    .select('target')
    .distinct()
    .execute()
  expect(decided.filter(({ target }) => target.endsWith(`/${bed.direct.directoryId}`))).toEqual([
    { target: heldThere.target },
  ])
})
