import { exitCodeOf } from '../support/exit-code.ts'
import { reasonText } from '../../src/ui/messages/blocks.ts'
import { changesOf } from '../../src/store/change-list.ts'
import { beforeEach, expect, test } from 'vitest'
import { createLocalControl } from '../../src/operations/local.ts'
import { unconverged } from '../../src/store/convergence.ts'
import type { RunRecord } from '../../src/store/runs.ts'
import { EMPTY_OBJECT } from '../support/empty-object.ts'
import { callService, readService } from '../support/read-service.ts'
import type { MutableCompany, SyncHarness, SyncHarnessOptions } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('convergence')

let company: MutableCompany
let harness: SyncHarness | undefined
let run: () => Promise<RunRecord>

beforeEach(async () => {
  ;({ company } = bed)
  for (const id of ['u1', 'u2', 'u3']) hire(id)
  company.groups.set('g1', { name: 'One', members: ['u1', 'u2'] })
  await reopen()
  await run()
})

async function reopen(more: Partial<SyncHarnessOptions> = {}): Promise<void> {
  await harness?.[Symbol.asyncDispose]()
  harness = bed.open(more)
  await harness.startWorker()
  run = harness.sync
}

function hire(id: string): void {
  company.users.set(id, { name: `Person ${id}`, email: `${id}@example.org` })
}

const seen = () => readService(bed.direct)

/** What `dirsyncd quarantine` does. */
function control() {
  const targets = new Map([[bed.sync, bed.target]])
  return createLocalControl({ db: bed.opened.store.db, targets, wake: async () => undefined })
}

/** What was written twice, to these entries or to all. */
const twiceOf = (ids?: readonly string[]) =>
  unconverged(bed.opened.store.db, { sync: bed.sync, target: bed.target }, ids)

/** The service says that it did what these requests ask for, and does nothing. */
function ignore(method: string, status: number): void {
  bed.proxy.intercept = (request) => (request.method === method ? { status, answer: {} } : undefined)
}

async function expectLeftAlone(left: RunRecord, text: string): Promise<void> {
  const [blocked] = await changesOf(bed.opened.store.db, left, 10)
  expect(left.counts).toMatchObject({ planned: EMPTY_OBJECT })
  expect(left.blocks).toMatchObject([{ code: 'not-persisted', changes: 1 }])
  expect(reasonText(blocked!.reasons[0]!)).toContain(text)
  expect(await exitCodeOf(bed.db, left)).toBe(4)
}

/** The service says that it created whoever this is, and does not. */
function createsNobody(id: string): void {
  bed.proxy.intercept = ({ method, body }) =>
    method === 'POST' && body.includes(id) ? { status: 201, answer: {} } : undefined
}

test('a value that is changed by hand again and again is corrected each time, where a run saw it correct in between', async () => {
  for (let turn = 0; turn < 3; turn++) {
    const byHand = { name: 'One', 'external_member_ids[]': 'u3' }
    expect(await callService(bed.direct, 'PATCH', '/groups/g1', byHand)).toBe(200)
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
  expect(await twiceOf()).toHaveLength(1)
  expect(await twiceOf(['u1', 'g1'])).toEqual(await twiceOf())
  expect(await twiceOf(['u1'])).toEqual([])
  bed.proxy.intercept = () => undefined
  const left = await run()
  await expectLeftAlone(left, 'written twice')
  expect(left.counts?.unchanged).toBe(3)
  await expectLeftAlone(await run(), 'written twice')
  expect(await control().quarantine({})).toMatchObject([
    {
      sync: bed.sync,
      kind: 'group',
      id: 'g1',
      op: 'set-members',
      refusal: { code: 'not-persisted', params: { how: 'not-changed' } },
    },
  ])
  expect(await control().release({ by: 'ana', scope: { users: [], groups: ['g1'] } })).toHaveLength(1)
  const written = await run()
  expect(written).toMatchObject({ counts: { outcomes: { applied: 1 }, notices: EMPTY_OBJECT } })
  expect(await exitCodeOf(bed.db, written)).toBe(0)
  expect((await seen()).groups.get('g1')?.members).toEqual(['u1', 'u3'])
  expect(await control().quarantine({})).toEqual([])
})

test('a user that the service accepts and never shows is left alone after two runs', async () => {
  hire('ghost')
  company.groups.set('g2', { name: 'Two', members: [] })
  createsNobody('ghost')
  const first = await run()
  expect(first).toMatchObject({
    state: 'done',
    counts: { outcomes: { applied: 2 }, notices: EMPTY_OBJECT },
  })
  expect(await run()).toMatchObject({ counts: { planned: { 'create-user': 1 }, outcomes: { applied: 1 } } })
  const left = await run()
  await expectLeftAlone(left, 'was created twice, and the directory does not show it')
  await expectLeftAlone(await run(), 'was created twice')
  bed.proxy.intercept = () => undefined
  await control().release({ by: 'ana', scope: { users: ['ghost'], groups: [] } })
  expect(await exitCodeOf(bed.db, run())).toBe(0)
  expect((await seen()).users.has('ghost')).toBe(true)
})

test('a user who is deleted by hand again and again is created each time, where a run saw the user in between', async () => {
  for (let turn = 0; turn < 3; turn++) {
    expect(await callService(bed.direct, 'DELETE', '/users/u3')).toBe(204)
    expect(await run()).toMatchObject({ counts: { planned: { 'create-user': 1 }, notices: EMPTY_OBJECT } })
    expect(await run()).toMatchObject({ counts: { planned: EMPTY_OBJECT, notices: EMPTY_OBJECT } })
  }
})

test('users are not deleted and created for ever where a service lower-cases ids', async () => {
  bed.proxy.intercept = ({ method, body, url }) =>
    method === 'POST' && url.endsWith('/users') ? { body: body.replaceAll('X1', 'x1') } : undefined
  hire('X1')
  const deletes = []
  for (let turn = 0; turn < 6; turn++) deletes.push((await run()).counts?.planned['delete-user'] ?? 0)
  expect(deletes).toEqual([0, 1, 1, 0, 0, 0])
  expect((await seen()).users.has('x1')).toBe(true)
})

test('a user that the service lists and does not find when it is to be deleted is left alone after two runs', async () => {
  company.users.delete('u3')
  company.groups.delete('g1')
  bed.proxy.intercept = ({ method, url }) =>
    method !== 'POST' && /\/(u3|g1)$/.test(url) ? { status: 404, answer: {} } : undefined
  expect(await run()).toMatchObject({ counts: { outcomes: { already: 2 } } })
  expect(await run()).toMatchObject({ counts: { outcomes: { already: 2 } } })
  const left = await run()
  expect(left.blocks).toMatchObject([{ code: 'not-persisted', changes: 2 }])
  const [blocked] = await changesOf(bed.opened.store.db, left, 10)
  expect(blocked).toMatchObject({ reasons: [{ facts: { how: 'missing-but-listed' } }] })
  expect(await exitCodeOf(bed.db, left)).toBe(4)
})

test('a delete without effect is counted also where the grace begins again after it', async () => {
  await reopen({ grace: { deleteAfter: { user: { runs: 2 } } } })
  company.users.delete('u3')
  ignore('DELETE', 204)
  const deletes = []
  for (let turn = 0; turn < 7; turn++) deletes.push((await run()).counts?.planned['delete-user'] ?? 0)
  expect(deletes).toEqual([0, 1, 0, 1, 0, 0, 0])
})
