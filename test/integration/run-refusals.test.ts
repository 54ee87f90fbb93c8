import { exitCodeOf } from '../support/exit-code.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import type { RunRecord } from '../../src/store/runs.ts'
import type { ProxiedRequest } from '../support/api-proxy.ts'
import { EMPTY_OBJECT } from '../support/empty-object.ts'
import { FIXTURE } from '../support/fixture.ts'
import { readService } from '../support/read-service.ts'
import type { MutableCompany } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const PEOPLE = 72

/** As on a network. Within it, the workers hear of each other's refusals. */
const WRITE_MS = 20

function idOf(index: number): string {
  return `u${String(index).padStart(3, '0')}`
}
/** Three workers with four changes each may be under way when the last one of a row is refused. */
const WORKERS = 3
const UNDER_WAY = 12
const IN_ROW = 20
/** On a busy machine, a worker may send as many several times before it hears of the others' refusals. */
const MOST_REFUSED = IN_ROW + 4 * UNDER_WAY

const bed = useTestBed('refusals')

let company: MutableCompany
/** How many writes came, and how many of them were answered with 403. */
let writes = { all: 0, refused: 0 }

beforeEach(() => {
  ;({ company } = bed)
  for (let index = 0; index < PEOPLE; index++) hire(idOf(index))
})

function hire(id: string): void {
  company.users.set(id, { name: `Person ${id}`, email: `${id}@example.org` })
}

/** Answers those writes with 403 for which `isRefused` is true; it gets the number of the write, from 1. */
function refuse(isRefused: (request: ProxiedRequest, number: number) => boolean): void {
  writes = { all: 0, refused: 0 }
  bed.proxy.intercept = async (request) => {
    if (request.method === 'GET') return undefined
    await sleep(WRITE_MS)
    writes.all += 1
    if (!isRefused(request, writes.all)) return undefined
    writes.refused += 1
    return { status: 403, answer: { title: 'Forbidden' } }
  }
}

/** Refuses every write that is about one of these users. */
function refuseUsers(ids: readonly string[]): void {
  refuse(({ url, body }) => {
    const values = new Set(new URLSearchParams(body).values())
    return ids.some((id) => url.endsWith(`/users/${id}`) || (url.endsWith('/users') && values.has(id)))
  })
}

async function open(token: string = FIXTURE.token): Promise<() => Promise<RunRecord>> {
  const harness = bed.open({ token: () => token })
  for (let worker = 0; worker < WORKERS; worker++) await harness.startWorker()
  return harness.sync
}

async function quarantined(): Promise<readonly (string | null)[]> {
  const query = bed.opened.store.db.selectFrom('dirsyncd.quarantine').select(['entry_id', 'op'])
  const rows = await query.where('sync', '=', bed.sync).orderBy('entry_id').execute()
  return rows.map(({ op, entry_id: id }) => `${op} ${id}`)
}

function seen() {
  return readService(bed.direct)
}

/** The outcomes of a run. On a machine that stalls, a change is looked up that was applied, and is found there. */
function outcomes({ counts }: RunRecord) {
  const { applied = 0, found = 0, ...others } = counts?.outcomes ?? {}
  return { there: applied + found, ...others }
}

const STOPPED = { state: 'failed', stop_code: 'scope-missing' }

/** One user of so many is refused. */
const SHARE = 8
/** The last third is accepted: who is sent after a refusal has to show that others are accepted. */
const SCATTERED = Array.from({ length: PEOPLE / SHARE }, (_, n) => idOf(Math.floor((n * SHARE * 2) / 3)))

const FORBIDDEN: [string, readonly string[]][] = [[`one of ${SHARE}, scattered`, SCATTERED]]

test('a service that forbids everything in the middle of a run stops it, and the next run completes', async () => {
  refuse((_, number) => number > PEOPLE / 2)
  const run = await open()
  const stopped = await run()
  expect(stopped).toMatchObject(STOPPED)
  expect(stopped.error).toMatch(
    /^The service refused \d+ changes in a row with 403 .*token.*These changes were not put into/,
  )
  expect(await exitCodeOf(bed.db, stopped)).toBe(1)
  expect(await quarantined()).toEqual([])
  expect(writes.refused).toBeGreaterThanOrEqual(IN_ROW)
  expect(writes.refused).toBeLessThanOrEqual(MOST_REFUSED)
  refuse(() => false)
  const next = await run()
  expect(next).toMatchObject({ state: 'done', counts: { notices: EMPTY_OBJECT } })
  expect(await exitCodeOf(bed.db, next)).toBe(0)
  expect((await seen()).users).toEqual(company.users)
})

test('a service that forbids every write for a short while in the middle of a run puts nothing into quarantine', async () => {
  refuse((_, number) => number > PEOPLE / 2 && number < PEOPLE / 2 + IN_ROW)
  const done = await (await open())()
  expect(done.state).toBe('done')
  expect(outcomes(done)).toEqual({ there: PEOPLE })
  expect(writes.refused).toBe(IN_ROW - 1)
  expect(await quarantined()).toEqual([])
  expect(await exitCodeOf(bed.db, done)).toBe(0)
})

test.each(FORBIDDEN)(
  '%s users whom the service always forbids are quarantined, exactly those',
  async (_, ids) => {
    refuseUsers(ids)
    const run = await open()
    const done = await run()
    const applied = PEOPLE - ids.length
    expect(done).toMatchObject({ state: 'done', error: null })
    expect(outcomes(done)).toEqual({ there: applied, quarantined: ids.length })
    expect(await exitCodeOf(bed.db, done)).toBe(4)
    expect(await quarantined()).toEqual(ids.map((id) => `create-user ${id}`))
    expect((await seen()).users.size).toBe(applied)
    const next = await run()
    expect(next).toMatchObject({ state: 'done', counts: { planned: EMPTY_OBJECT } })
  },
)

test('a token without the scope stops the run soon, and puts nothing into quarantine', async () => {
  refuse(() => false)
  const stopped = await (await open(FIXTURE.readOnlyToken))()
  expect(stopped).toMatchObject(STOPPED)
  expect(writes.all).toBeLessThanOrEqual(MOST_REFUSED)
  expect(await quarantined()).toEqual([])
  expect((await seen()).users.size).toBe(0)
})

test.each([1, 6])(
  '%i creates and a delete that are always forbidden are quarantined, and the rest of their groups is made',
  async (count) => {
    const run = await open()
    refuse(() => false)
    const [stays, joins, leaver] = [...company.users.keys()] as [string, string, string]
    const group = (id: string, ...members: string[]) => company.groups.set(id, { name: id, members })
    group('g1', stays, leaver)
    group('g2', stays, leaver)
    await run()
    const added = Array.from({ length: count }, (_, index) => `new${index}`)
    for (const id of added) hire(id)
    company.users.delete(leaver)
    group('g1', stays, joins, ...added)
    group('g2', stays)
    refuseUsers([...added, leaver])
    const members = async () => {
      const { groups } = await seen()
      // Both are created at once, so the service may list either first.
      return ['g1', 'g2'].map((id) => groups.get(id)?.members)
    }
    const done = await run()
    expect(done).toMatchObject({ state: 'done', counts: { outcomes: { quarantined: count + 1 } } })
    expect(await exitCodeOf(bed.db, done)).toBe(4)
    expect(await members()).toEqual([
      [stays, joins],
      [stays, leaver],
    ])
    await run()
    expect(await members()).toEqual([[stays, joins], [stays]])
    refuse(() => false)
    await bed.db.deleteFrom('dirsyncd.quarantine').where('sync', '=', bed.sync).execute()
    await run()
    expect((await seen()).users).toEqual(company.users)
    expect(await members()).toEqual([[stays, joins, ...added].toSorted(), [stays]])
  },
)

test('an operation that is always forbidden while others succeed is about the token; the others are applied', async () => {
  const run = await open()
  refuse(() => false)
  await run()
  for (const id of [...company.users.keys()].slice(0, 30)) company.users.delete(id)
  for (let index = 0; index < 30; index++) hire(`new${index}`)
  company.groups.set('g1', { name: 'One', members: ['new1'] })
  refuse(({ method }) => method === 'DELETE')
  const stopped = await run()
  expect(stopped).toMatchObject(STOPPED)
  expect(outcomes(stopped)).toMatchObject({ there: 32 })
  expect(await quarantined()).toEqual([])
})

test('a day later the forbidden users are tried again, and stay in quarantine although nothing succeeds', async () => {
  const ids = ['u010', 'u011', 'u012', 'u013', 'u014', 'u015']
  refuseUsers(ids)
  const run = await open()
  await run()
  const yesterday = new Date(Date.now() - 25 * 3_600_000)
  const query = bed.opened.store.db.updateTable('dirsyncd.quarantine').set({ tried_at: yesterday })
  await query.where('sync', '=', bed.sync).execute()
  const before = writes.refused
  expect(await run()).toMatchObject({ state: 'done', counts: { outcomes: { quarantined: 6 } } })
  expect(writes.refused).toBe(before + 6)
})
