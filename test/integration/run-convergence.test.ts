import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { runExitCode } from '../../src/cli/exit-code.ts'
import { createLocalControl } from '../../src/control/local.ts'
import { noticesOf } from '../../src/store/plans.ts'
import type { RunRecord } from '../../src/store/runs.ts'
import { type ApiProxy, startApiProxy } from '../support/api-proxy.ts'
import { backendNamed, type OpenBackend } from '../support/backends.ts'
import { EMPTY_OBJECT } from '../support/empty-object.ts'
import { emptyDirectoriesFixture, FIXTURE } from '../support/fixture.ts'
import { callService, readService } from '../support/read-service.ts'
import { type RunningService, startService } from '../support/service.ts'
import { type MutableCompany, openSyncHarness, type SyncHarnessOptions } from '../support/sync-harness.ts'

let service: RunningService
let proxy: ApiProxy
let opened: OpenBackend
let stack: AsyncDisposableStack
let company: MutableCompany
let name: string
let run: () => Promise<RunRecord>
let tests = 0

beforeAll(async () => {
  service = await startService({ fixture: emptyDirectoriesFixture(100, 10) })
  proxy = await startApiProxy(service.baseUrl)
  opened = await backendNamed('postgres').open()
})
afterAll(async () => {
  await opened?.close()
  await proxy?.[Symbol.asyncDispose]()
  await service?.close()
})
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  tests += 1
  name = `convergence-${tests}`
  company = { users: new Map(), groups: new Map() }
  for (const id of ['u1', 'u2', 'u3']) hire(id)
  company.groups.set('g1', { name: 'One', members: ['u1', 'u2'] })
  proxy.intercept = () => undefined
  await reopen()
  await run()
})
afterEach(() => stack.disposeAsync())

async function reopen(more: Partial<SyncHarnessOptions> = {}): Promise<void> {
  await stack.disposeAsync()
  stack = new AsyncDisposableStack()
  const options = { sync: name, service: place(), token: () => FIXTURE.token, company, ...more }
  const harness = stack.use(openSyncHarness(opened, options))
  await harness.startWorker()
  run = harness.sync
}

function hire(id: string): void {
  company.users.set(id, { name: `Person ${id}`, email: `${id}@example.org` })
}

const place = () => ({ baseUrl: proxy.baseUrl, organizationId: 1, directoryId: 100 + tests - 1 })
const direct = () => ({ ...FIXTURE, ...place(), baseUrl: service.baseUrl })
const seen = () => readService(direct())

/** What `dirsyncd quarantine` does. */
function control() {
  const targets = new Map([[name, `${proxy.baseUrl}/directories/${place().directoryId}`]])
  return createLocalControl({ db: opened.store.db, targets, wake: async () => undefined })
}

/** The service says that it did what these requests ask for, and does nothing. */
function ignore(method: string, status: number): void {
  proxy.intercept = (request) => (request.method === method ? { status, answer: {} } : undefined)
}

async function expectLeftAlone(left: RunRecord, text: string): Promise<void> {
  const [notice] = await noticesOf(opened.store.db, left.run, 10)
  expect(left.counts).toMatchObject({ planned: EMPTY_OBJECT, notices: { 'does-not-converge': 1 } })
  expect(notice?.detail).toContain(text)
  expect(runExitCode(left)).toBe(4)
}

test('what somebody changes by hand is put right however often, where a run saw that it was right between', async () => {
  for (let turn = 0; turn < 3; turn++) {
    const byHand = { name: 'One', 'external_member_ids[]': 'u3' }
    expect(await callService(direct(), 'PATCH', '/groups/g1', byHand)).toBe(200)
    expect(await run()).toMatchObject({ counts: { outcomes: { applied: 1 }, notices: EMPTY_OBJECT } })
    expect(await run()).toMatchObject({ counts: { planned: EMPTY_OBJECT, notices: EMPTY_OBJECT } })
    expect((await seen()).groups.get('g1')?.members).toEqual(['u1', 'u2'])
  }
})

test('a change without effect is left alone after two runs, and is in quarantine until it is released', async () => {
  company.groups.set('g1', { name: 'One', members: ['u1', 'u3'] })
  ignore('PATCH', 200)
  expect(await run()).toMatchObject({ counts: { outcomes: { applied: 1 } } })
  expect(await run()).toMatchObject({ counts: { outcomes: { applied: 1 } } })
  proxy.intercept = () => undefined
  const left = await run()
  await expectLeftAlone(left, 'written twice')
  expect(left.counts?.unchanged).toBe(3)
  await expectLeftAlone(await run(), 'written twice')
  expect(await control().quarantine({})).toMatchObject([
    { sync: name, kind: 'group', id: 'g1', op: 'set-members', detail: expect.stringContaining('twice') },
  ])
  expect(await control().release({ only: { users: [], groups: ['g1'] } })).toHaveLength(1)
  const written = await run()
  expect(written).toMatchObject({ counts: { outcomes: { applied: 1 }, notices: EMPTY_OBJECT } })
  expect(runExitCode(written)).toBe(0)
  expect((await seen()).groups.get('g1')?.members).toEqual(['u1', 'u3'])
  expect(await control().quarantine({})).toEqual([])
})

test('a delete without effect is left alone after two runs, and is in quarantine until it is released', async () => {
  company.users.delete('u3')
  ignore('DELETE', 204)
  expect(await run()).toMatchObject({ counts: { outcomes: { applied: 1 } } })
  expect(await run()).toMatchObject({ counts: { outcomes: { applied: 1 } } })
  await expectLeftAlone(await run(), 'deleted twice')
  proxy.intercept = () => undefined
  await control().release({ only: { users: ['u3'], groups: [] } })
  expect(runExitCode(await run())).toBe(0)
  expect([...(await seen()).users.keys()].toSorted()).toEqual(['u1', 'u2'])
})

test('a delete without effect is counted also where the grace begins again after it', async () => {
  await reopen({ grace: { deleteAfter: { user: { runs: 2 } } } })
  company.users.delete('u3')
  ignore('DELETE', 204)
  const deletes = []
  for (let turn = 0; turn < 7; turn++) deletes.push((await run()).counts?.planned['delete-user'] ?? 0)
  expect(deletes).toEqual([0, 1, 0, 1, 0, 0, 0])
})

test('somebody who leaves, comes back and leaves within a day is deleted each time', async () => {
  for (let turn = 0; turn < 3; turn++) {
    company.users.delete('u3')
    expect(await run()).toMatchObject({ counts: { planned: { 'delete-user': 1 }, notices: EMPTY_OBJECT } })
    hire('u3')
    expect(await run()).toMatchObject({ counts: { planned: { 'create-user': 1 }, notices: EMPTY_OBJECT } })
  }
})

test('a service that lower-cases ids has nobody deleted and created for ever', async () => {
  proxy.intercept = ({ method, body, url }) =>
    method === 'POST' && url.endsWith('/users') ? { body: body.replaceAll('X1', 'x1') } : undefined
  hire('X1')
  const deletes = []
  for (let turn = 0; turn < 6; turn++) deletes.push((await run()).counts?.planned['delete-user'] ?? 0)
  expect(deletes).toEqual([0, 1, 1, 0, 0, 0])
})
