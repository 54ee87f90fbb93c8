import { loadStates } from '../../src/store/check-states.ts'
import { exitCodeOf } from '../support/exit-code.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { changesOf } from '../../src/store/change-list.ts'
import { noticesOf } from '../../src/store/plans.ts'
import type { Interception, ProxiedRequest } from '../support/api-proxy.ts'
import { FIXTURE } from '../support/fixture.ts'
import { EMPTY_OBJECT } from '../support/empty-object.ts'
import { callService, readService } from '../support/read-service.ts'
import type { MutableCompany, SyncHarness, SyncHarnessOptions } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('identity', { uniqueExternalIds: false })

let company: MutableCompany

beforeEach(() => {
  ;({ company } = bed)
})

async function harness(options: Partial<SyncHarnessOptions> = {}): Promise<SyncHarness> {
  const open = bed.open(options)
  await open.startWorker()
  return open
}

function hire(id: string, email: string, name = `Person ${id}`): void {
  company.users.set(id, { name, email })
}

/** Later than a change is tried again that failed, and earlier than one whose request timed out. */
const LATE_MS = 1000

const PERSON = {
  id: 1,
  external_id: 'a',
  name: 'Person a',
  first_name: 'Person',
  last_name: 'a',
  email: 'a@example.org',
}

async function emails(): Promise<Record<string, string | null>> {
  const { users } = await readService(bed.direct)
  return Object.fromEntries([...users].map(([id, { email }]) => [id, email]))
}

async function noticed(run: number): Promise<string[]> {
  const notices = await noticesOf(bed.opened.store.db, run, 100)
  return notices.map(({ code, id }) => `${code} ${id}`)
}

/** Refuses an e-mail that another user of the directory has, as a service with unique e-mails would. */
async function refuseTaken({ method, url, body }: ProxiedRequest): Promise<Interception | undefined> {
  const form = new URLSearchParams(body)
  const email = (form.get('email') ?? form.get('users[][email]'))?.toLowerCase()
  if ((method !== 'POST' && method !== 'PATCH') || email === undefined) return undefined
  const id = form.get('users[][external_id]') ?? decodeURIComponent(url.split('/').at(-1) ?? '')
  const others = Object.entries(await emails()).filter(([other]) => other !== id)
  if (!others.some(([, theirs]) => theirs?.toLowerCase() === email)) return undefined
  return { status: 422, answer: { title: 'Unprocessable', detail: 'email is taken' } }
}

/** A list that is short in both looks at it, and has no headers that would tell. */
async function hideFromList({ method, url }: ProxiedRequest, id: string): Promise<Interception | undefined> {
  if (method !== 'GET' || !/\/users\?/.test(url)) return undefined
  const headers = { authorization: `token ${FIXTURE.token}`, 'x-device-id': 'test' }
  const page: any = await (await fetch(bed.service.baseUrl + url, { headers })).json()
  return { status: 200, answer: page.filter((user: { external_id: string }) => user.external_id !== id) }
}

/** The first of the users, as if they were all. */
async function listOnly({ method, url }: ProxiedRequest, count: number): Promise<Interception | undefined> {
  if (method !== 'GET' || !/\/users\?/.test(url)) return undefined
  const headers = { authorization: `token ${FIXTURE.token}`, 'x-device-id': 'test' }
  const page: any = await (await fetch(bed.service.baseUrl + url, { headers })).json()
  return {
    status: 200,
    answer: page.slice(0, count),
    headers: { total: String(count), 'per-page': '100' },
  }
}

/** Creates the people of a form, whatever requests they are sent in. */
async function createEach(body: string): Promise<void> {
  const form = new URLSearchParams(body)
  for (const id of form.getAll('users[][external_id]')) {
    const person = { 'users[][external_id]': id, 'users[][name]': `Person ${id}` }
    await callService(bed.direct, 'POST', '/users', { ...person, 'users[][email]': `${id}@example.org` })
  }
}

/** The service refuses whatever happens to this user, and minds no e-mail that two people have. */
function refuse(id: string): void {
  bed.proxy.intercept = async ({ method, url }) =>
    method !== 'GET' && url.endsWith(`/users/${id}`)
      ? { status: 422, answer: { title: 'Unprocessable', detail: 'locked by a person' } }
      : undefined
}

/** Answers changes of this user with 403, as long as `isRefused` says so. */
function forbid(isRefused: (request: ProxiedRequest) => boolean): void {
  bed.proxy.intercept = (request) =>
    request.method !== 'GET' && isRefused(request)
      ? { status: 403, answer: { title: 'Forbidden' } }
      : undefined
}

test('a list that lacks existing users does not decide which user owns an e-mail', async () => {
  const { sync, getRun } = await harness()
  hire('x', 'one@example.org')
  hire('hidden', 'hidden@example.org')
  await sync()
  hire('x', 'two@example.org')
  hire('taker', 'one@example.org')
  bed.proxy.intercept = (request) => hideFromList(request, 'hidden')
  const short = await getRun((await sync()).run)
  expect(short.counts?.outcomes).toMatchObject({ found: 1, failed: 1 })
  expect(await exitCodeOf(bed.db, short)).toBe(4)
  expect(await emails()).toEqual({ x: 'two@example.org', hidden: 'hidden@example.org' })
  const changes = await changesOf(bed.opened.store.db, short, 10)
  const taker = changes.find(({ state }) => state === 'failed')
  expect(taker).toMatchObject({
    change: { id: 'taker' },
    detail: expect.stringContaining('was not whole'),
  })
  bed.proxy.intercept = () => undefined
  await sync()
  expect(await emails()).toMatchObject({ taker: 'one@example.org' })
})

test.each<[string, (path: string) => Interception | undefined]>([
  [
    'ends too early and has no total',
    (path) => ({ status: 200, answer: path.includes('page=1&') ? [PERSON] : [] }),
  ],
  [
    'is empty and says that this is all',
    () => ({ status: 200, answer: [], headers: { total: '0', 'per-page': '100' } }),
  ],
  [
    'shows somebody without an id',
    () => ({
      status: 200,
      answer: [PERSON, { ...PERSON, id: 2, external_id: null }],
      headers: { total: '2', 'per-page': '100' },
    }),
  ],
])('where a service takes an id twice, a list that %s doubles nobody', async (_, lie) => {
  const { sync } = await harness()
  hire('a', 'a@example.org')
  hire('b', 'b@example.org')
  await sync()
  hire('c', 'c@example.org')
  bed.proxy.intercept = ({ method, url }) =>
    method === 'GET' && /\/users\?/.test(url) ? lie(url) : undefined
  expect(await sync()).toMatchObject({ counts: { outcomes: { applied: 1 } } })
  const { users, duplicates } = await readService(bed.direct)
  expect([...users.keys()].toSorted()).toEqual(['a', 'b', 'c'])
  expect(duplicates).toEqual([])
})

test('where a service takes an id twice, a list that is much shorter than before doubles nobody whom others created', async () => {
  const { sync } = await harness()
  for (let n = 10; n < 20; n++) hire(`u${n}`, `u${n}@example.org`)
  for (const [id, { name, email }] of company.users) {
    const person = { 'users[][external_id]': id, 'users[][name]': name, 'users[][email]': email }
    await callService(bed.direct, 'POST', '/users', person)
  }
  expect(await sync()).toMatchObject({ state: 'done', counts: { planned: {} } })
  bed.proxy.intercept = (request) => listOnly(request, 6)
  const short = await sync()
  expect((await readService(bed.direct)).duplicates).toEqual([])
  expect(short).toMatchObject({
    state: 'done',
    counts: { outcomes: { found: 4 }, notices: { 'directory-incomplete': 1 } },
  })
  expect(await exitCodeOf(bed.db, short)).toBe(4)
})

test('a list is as short as expected after the deletes of the last good run', async () => {
  const { sync } = await harness()
  for (let n = 10; n < 20; n++) hire(`u${n}`, `u${n}@example.org`)
  expect(await sync()).toMatchObject({ state: 'done' })
  for (let n = 10; n < 14; n++) company.users.delete(`u${n}`)
  expect(await sync()).toMatchObject({
    counts: { outcomes: { applied: 4 } },
    evidence: { directoryMoved: false },
  })
  hire('new', 'new@example.org')
  expect(await sync()).toMatchObject({
    counts: { outcomes: { applied: 1 } },
    evidence: { directoryMoved: false },
  })
  await bed.opened.store.db.deleteFrom('dirsyncd.runs').where('sync', '=', bed.sync).execute()
  hire('newer', 'newer@example.org')
  expect(await sync()).toMatchObject({
    counts: { outcomes: { applied: 1 } },
    evidence: { directoryMoved: false },
  })
})

test('a service that creates users long after a time-out, and takes ids twice, has no user twice', async () => {
  const { sync } = await harness({ createBatch: 10 })
  for (const id of ['a', 'b', 'c']) hire(id, `${id}@example.org`)
  const late: Promise<unknown>[] = []
  let answered = Number.POSITIVE_INFINITY
  bed.proxy.intercept = async ({ method, body }) => {
    // A busy machine may take until the second try for what was due before it.
    if (performance.now() - answered > LATE_MS) await Promise.all(late)
    if (method !== 'POST') return undefined
    answered = performance.now()
    late.push(sleep(LATE_MS).then(() => createEach(body)))
    return { status: 504 }
  }
  const run = await sync()
  await Promise.all(late)
  expect(run).toMatchObject({ state: 'done', counts: { outcomes: { found: 3 } } })
  bed.proxy.intercept = () => undefined
  expect(await sync()).toMatchObject({ counts: { planned: EMPTY_OBJECT, notices: EMPTY_OBJECT } })
})

describe('e-mails that are exchanged', () => {
  beforeEach(() => {
    for (const id of ['a', 'b', 'c', 'd']) hire(id, `${id}@example.org`)
  })

  test('between two and among three users arrive in one run', async () => {
    const { sync } = await harness()
    await sync()
    hire('a', 'b@example.org')
    hire('b', 'a@example.org')
    expect(await sync()).toMatchObject({ state: 'done', counts: { outcomes: { applied: 2 } } })
    expect(await emails()).toMatchObject({ a: 'b@example.org', b: 'a@example.org' })
    hire('a', 'c@example.org')
    hire('b', 'b@example.org')
    hire('c', 'a@example.org')
    expect(await sync()).toMatchObject({ state: 'done', counts: { outcomes: { applied: 3 } } })
    expect(await sync()).toMatchObject({ counts: { planned: EMPTY_OBJECT, notices: EMPTY_OBJECT } })
  })

  test('in a circle that the service refuses are named, delay no other user, and go on when the circle is opened by hand', async () => {
    const { sync, blocked } = await harness()
    await sync()
    bed.proxy.intercept = refuseTaken
    hire('a', 'b@example.org')
    hire('b', 'a@example.org')
    hire('c', 'c@example.org', 'Renamed')
    const first = await sync()
    expect(first).toMatchObject({ state: 'done', counts: { outcomes: { applied: 1, quarantined: 2 } } })
    expect(await noticed(first.run)).toEqual(['email-swap a', 'email-swap b'])
    const second = await sync()
    expect(second).toMatchObject({ state: 'done', counts: { planned: EMPTY_OBJECT } })
    expect(await blocked(second)).toEqual(['update-user a quarantine', 'update-user b quarantine'])
    expect(await callService(bed.direct, 'PATCH', '/users/b', { email: 'by-hand@example.org' })).toBe(200)
    expect(await sync()).toMatchObject({ state: 'done', counts: { outcomes: { applied: 2 } } })
    expect(await emails()).toMatchObject({ a: 'b@example.org', b: 'a@example.org' })
    expect(await sync()).toMatchObject({ counts: { planned: EMPTY_OBJECT, notices: EMPTY_OBJECT } })
  })
})

describe('an e-mail whose owner could not be changed', () => {
  beforeEach(() => {
    for (const id of ['a', 'b', 'c']) hire(id, `${id}@example.org`)
  })

  test('is not given away, neither in this run nor in the next one', async () => {
    const { sync, blocked } = await harness()
    await sync()
    refuse('a')
    company.users.delete('a')
    hire('b', 'a@example.org', 'Renamed')
    hire('d', 'b@example.org')
    company.groups.set('g', { name: 'All', members: ['b', 'd'] })
    const first = await sync()
    const outcomes = { applied: 4, quarantined: 1 }
    expect(first).toMatchObject({ state: 'done', counts: { outcomes } })
    const kept = { a: 'a@example.org', b: 'b@example.org', c: 'c@example.org', d: null }
    expect(await emails()).toEqual(kept)
    const second = await sync()
    expect(await blocked(second)).toEqual(['delete-user a quarantine'])
    expect(await noticed(second.run)).toEqual(['duplicate-email b', 'duplicate-email d'])
    expect(await emails()).toEqual(kept)
    expect((await readService(bed.direct)).groups.get('g')?.members).toEqual(['b', 'd'])
    expect(await sync()).toMatchObject({ counts: { planned: EMPTY_OBJECT } })
  })
})

describe('a chain of e-mails that the service forbids', () => {
  beforeEach(() => {
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) hire(id, `${id}@example.org`)
  })

  test('for good ends at once, and no user gets an e-mail that another one still has', async () => {
    const { sync } = await harness()
    await sync()
    forbid(({ url }) => url.endsWith('/users/b'))
    hire('a', 'new@example.org')
    hire('b', 'a@example.org')
    hire('c', 'b@example.org')
    const run = await sync()
    expect(run).toMatchObject({
      state: 'done',
      counts: { outcomes: { applied: 1, quarantined: 1, failed: 1 } },
    })
    expect(await emails()).toMatchObject({ a: 'new@example.org', b: 'b@example.org', c: 'c@example.org' })
  })

  test('for a short while arrives at the end of the run', async () => {
    const { sync } = await harness()
    await sync()
    const refused = new Set<string>()
    forbid(({ url }) => {
      const isNew = /[bdfh]$/.test(url) && !refused.has(url)
      refused.add(url)
      return isNew
    })
    for (const [taker, owner] of ['ba', 'dc', 'fe', 'hg'] as const) {
      hire(owner!, `new-${owner}@example.org`)
      hire(taker!, `${owner}@example.org`)
    }
    hire('i', 'b@example.org')
    const run = await sync()
    expect(run).toMatchObject({ state: 'done', counts: { outcomes: { applied: 9 } } })
    expect(await emails()).toMatchObject({ b: 'a@example.org', i: 'b@example.org', h: 'g@example.org' })
  })
})

describe('one e-mail of three users', () => {
  test.each(['unique', 'shared'] as const)('%s', async (kind) => {
    hire('b', 'Box@example.org')
    hire('c', 'box@example.org')
    const { sync } = await harness({ rules: { emails: kind } })
    await sync()
    hire('a', 'BOX@example.org')
    const run = await sync()
    const isUnique = kind === 'unique'
    expect(await emails()).toEqual({
      a: isUnique ? null : 'BOX@example.org',
      b: 'Box@example.org',
      c: isUnique ? null : 'box@example.org',
    })
    expect(await noticed(run.run)).toEqual(isUnique ? ['duplicate-email a', 'duplicate-email c'] : [])
    expect(await sync()).toMatchObject({ counts: { planned: EMPTY_OBJECT } })
  })
})

test('entries whose ids have characters that a URL path reserves are created, changed and deleted', async () => {
  const ids = [
    'a/b',
    'a?b',
    'a#b',
    'a%2Fb',
    '%',
    '..%2F..',
    '...',
    'a;b=c',
    'a+b',
    'a b',
    ' a ',
    'a&b=c',
    'a\\b',
    '"quoted"',
    "O'Hara",
    'žluť',
    'e\u0301',
    '\u00e9',
    '🙂',
    '__proto__',
    '000123',
    '123',
    'A',
    'a',
    'x'.repeat(2048),
  ]
  for (const [index, id] of ids.entries()) hire(id, `p${index}@example.org`, 'Odd')
  company.groups.set('g/1', { name: 'All', members: ids.toSorted() })
  const { sync } = await harness()
  expect(await sync()).toMatchObject({ state: 'done', counts: { outcomes: { applied: ids.length + 2 } } })
  expect(await readService(bed.direct)).toEqual({ ...company, duplicates: [] })
  for (const [index, id] of ids.entries()) hire(id, `p${index}@example.org`, 'Renamed')
  expect(await sync()).toMatchObject({ state: 'done', counts: { outcomes: { applied: ids.length } } })
  expect(await readService(bed.direct)).toEqual({ ...company, duplicates: [] })
  company.users.clear()
  company.groups.clear()
  hire('.hidden', 'p@example.org')
  expect(await sync()).toMatchObject({ state: 'done', counts: { outcomes: { applied: ids.length + 2 } } })
  expect(await readService(bed.direct)).toEqual({ ...company, duplicates: [] })
})

test('a user under a new id is one delete and one create, and the notice names both', async () => {
  hire('p-17', 'ana@example.org')
  const { sync } = await harness()
  await sync()
  company.users.delete('p-17')
  hire('p-18', 'Ana@example.org')
  bed.proxy.intercept = refuseTaken
  const run = await sync()
  expect(run).toMatchObject({
    counts: { planned: { 'create-user': 1, 'delete-user': 1 }, outcomes: { applied: 2 } },
  })
  expect(await noticed(run.run)).toEqual(['new-id p-18'])
  expect(await emails()).toEqual({ 'p-18': 'Ana@example.org' })
})

test('lists leave entries out and keep them, and the report names them', async () => {
  for (const id of ['a', 'svc-1', 'root']) hire(id, `${id}@example.org`)
  const first = await harness()
  await first.sync()
  company.users.delete('root')
  company.users.delete('svc-1')
  hire('svc-2', 'svc-2@example.org')
  hire('a', 'a@example.org', 'Renamed')
  await first[Symbol.asyncDispose]()
  const entries = { users: { exclude: ['svc-*'], protected: ['root'] } }
  const { sync } = await harness({ rules: { entries } })
  const run = await sync()
  expect(run).toMatchObject({
    state: 'done',
    counts: { outcomes: { applied: 1 }, notices: { excluded: 2 } },
    blocks: [{ code: 'protected', until: 'configuration', changes: 1 }],
  })
  expect(await noticed(run.run)).toEqual(['excluded svc-1', 'excluded svc-2'])
  expect(Object.keys(await emails()).toSorted()).toEqual(['a', 'root', 'svc-1'])
})

const states = () => loadStates(bed.db, { sync: bed.sync, target: bed.target })

test('a list that lacks many existing users ends no run as clean, no question, and leaves the last complete run as it is', async () => {
  const { sync } = await harness({ maxUserDeletes: 0 })
  for (const id of ['a', 'b', 'c', 'leaver']) hire(id, `${id}@example.org`)
  const good = await sync()
  company.users.delete('leaver')
  const held = await sync()
  expect([held.state, await exitCodeOf(bed.db, held)]).toEqual(['held', 3])
  const { size } = await states()
  hire('new', 'new@example.org')
  const headers = { total: '0', 'per-page': '100' }
  bed.proxy.intercept = ({ method, url }) =>
    method === 'GET' && /\/users\?/.test(url) ? { status: 200, answer: [], headers } : undefined
  const short = await sync()
  expect(short).toMatchObject({
    state: 'done',
    counts: { outcomes: { found: 3, applied: 1 }, notices: { 'directory-incomplete': 1 } },
  })
  expect(await exitCodeOf(bed.db, short)).toBe(4)
  expect(await noticesOf(bed.opened.store.db, short.run, 1)).toMatchObject([
    {
      code: 'directory-incomplete',
      params: { there: 3, creates: 4 },
    },
  ])
  expect(await exitCodeOf(bed.db, held)).toBe(3)
  expect(await states()).toMatchObject({ size, configuration: { run: good.run } })
  bed.proxy.intercept = () => undefined
  expect(await sync()).toMatchObject({ state: 'held' })
})

test('an e-mail that another user still has in the service is tried again at the end of the run', async () => {
  for (const id of ['a', 'b']) hire(id, `${id}@example.org`)
  const { sync } = await harness()
  await sync()
  let refusals = 1
  bed.proxy.intercept = async ({ method, url }) => {
    if (method === 'GET' || !url.endsWith('/users/b') || refusals === 0) return undefined
    refusals -= 1
    return { status: 422, answer: { title: 'Unprocessable', detail: 'email is taken' } }
  }
  hire('a', 'new@example.org')
  hire('b', 'a@example.org')
  const run = await sync()
  expect(run).toMatchObject({ state: 'done', counts: { outcomes: { applied: 2 } } })
  expect(run.counts?.outcomes.quarantined).toBeUndefined()
  expect(await emails()).toEqual({ a: 'new@example.org', b: 'a@example.org' })
})
