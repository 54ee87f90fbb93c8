import { exitCodeOf } from '../support/exit-code.ts'
import { noticeText } from '../../src/ui/messages/notices.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { changesOf } from '../../src/store/change-list.ts'
import { noticesOf } from '../../src/store/plans.ts'
import type { RunRecord } from '../../src/store/runs.ts'
import type { ProxiedRequest } from '../support/api-proxy.ts'
import { EMPTY_OBJECT } from '../support/empty-object.ts'
import { callService, readService } from '../support/read-service.ts'
import type { MutableCompany, SyncHarness, SyncHarnessOptions } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('verification')

let company: MutableCompany
let harness: SyncHarness
let run: () => Promise<RunRecord>
/** `GET /users/u01`, without lists, in the order of their coming. */
let requests: string[]
/** The ids that were sent to be created. */
let sent: Set<string>
/** Lookups of users that were sent to be created before. */
let readBacks: string[]
/** Answers in the service's place, or changes a request. */
let intercept: typeof bed.proxy.intercept

beforeEach(async () => {
  ;({ company } = bed)
  requests = []
  sent = new Set()
  readBacks = []
  intercept = () => undefined
  bed.proxy.intercept = (request) => {
    const line = lineOf(request)
    if (line !== undefined) requests.push(line)
    if (request.method === 'POST')
      for (const id of new URLSearchParams(request.body).getAll('users[][external_id]')) sent.add(id)
    else if (line?.startsWith('GET /users/') && sent.has(line.slice(11))) readBacks.push(line)
    return intercept(request)
  }
  await open()
})

async function open(more: Partial<SyncHarnessOptions> = {}): Promise<void> {
  await harness?.[Symbol.asyncDispose]()
  harness = bed.open(more)
  await harness.startWorker()
  run = harness.sync
}

function lineOf({ method, url }: ProxiedRequest): string | undefined {
  const path = /\/directories\/\d+(\/.+)$/.exec(url)?.[1]
  return path === undefined || path.includes('?') ? undefined : `${method} ${path}`
}

const idOf = (number: number) => `u${String(number).padStart(2, '0')}`

function hire(...numbers: readonly number[]): void {
  for (const number of numbers) {
    const id = idOf(number)
    company.users.set(id, { name: `Person ${id}`, email: `${id}@example.org` })
  }
}

const next = (id: string) => idOf((Number(id.slice(1)) % 20) + 1)
const range = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const seen = () => readService(bed.direct)
const looks = (path: string) => requests.filter((line) => line.startsWith(`GET ${path}`))
const writes = () => requests.filter((line) => !line.startsWith('GET '))

/** Expects that the run ended after the first 20 creates, and what it says of them. */
async function expectStopped(stopped: RunRecord, words: RegExp): Promise<void> {
  expect(stopped.state).toBe('failed')
  expect(stopped.error).toMatch(words)
  expect(stopped.error).toMatch(
    /Nothing more was sent\. .* The next run sends 2 changes of this kind and reads them back/,
  )
  expect(await exitCodeOf(bed.db, stopped)).toBe(1)
  expect(writes()).toEqual(Array.from({ length: 20 }, () => 'POST /users'))
  expect(stopped.counts?.outcomes).toEqual({ applied: 20, dropped: 31 })
}

function hireFifty(): void {
  hire(...range(50))
  company.groups.set('g1', { name: 'One', members: [] })
}

describe('on a directory that the sync has not written to', () => {
  test('the first changes of each operation are read back, once', async () => {
    hire(...range(50))
    for (const number of range(30))
      company.groups.set(`g${number}`, { name: `G ${number}`, members: ['u01'] })
    const first = await run()
    expect(first).toMatchObject({ state: 'done', counts: { outcomes: { applied: 110 } } })
    expect(looks('/users/')).toEqual(range(20).map((number) => `GET /users/${idOf(number)}`))
    // 20 creates, and 20 times members.
    expect(looks('/groups/')).toHaveLength(40)
    expect(writes().slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 'POST /users'))
    expect(requests.slice(20, 40)).toEqual(looks('/users/'))
    const notices = await noticesOf(bed.opened.store.db, first.run, 10)
    expect(first.counts?.notices).toEqual({ 'read-back': 3 })
    expect(notices.map((notice) => `${notice.kind}: ${noticeText(notice)}`)).toEqual([
      'user: the first 20 changes of the kind create-user were read back',
      'group: the first 20 changes of the kind create-group were read back',
      'group: the first 20 changes of the kind set-members were read back',
    ])
    expect(harness.messages()).toContain('the first changes were read back from the service and are as sent')

    requests = []
    hire(...range(70))
    expect(await run()).toMatchObject({
      state: 'done',
      counts: { outcomes: { applied: 20 }, notices: EMPTY_OBJECT },
    })
    expect(readBacks).toHaveLength(20)
  })

  test('creates in lists are read back where creates one by one had passed', async () => {
    hire(1, 2)
    await run()
    await open({ inBatches: true })
    hire(3, 4)
    await run()
    hire(5, 6)
    await run()
    expect(readBacks).toEqual(range(4).map((number) => `GET /users/${idOf(number)}`))
  })

  test('changes that the service refuses prove nothing: the next ones are read back', async () => {
    hire(...range(65))
    intercept = ({ method, body }) => {
      const number = Number(/u(\d\d)@?/.exec(decodeURIComponent(body))?.[1])
      return method === 'POST' && number <= 50 ? { status: 422, answer: { title: 'no' } } : undefined
    }
    const refused = await run()
    expect(refused).toMatchObject({ state: 'done', counts: { outcomes: { applied: 15, quarantined: 50 } } })
    // The refused ones are looked up once each, because the service may have created them all the same.
    const looked = Map.groupBy(looks('/users/'), (line) => Number(line.slice(-2)) <= 50)
    expect(looked.get(true)).toEqual(range(50).map((number) => `GET /users/${idOf(number)}`))
    expect(looked.get(false)).toEqual(range(10).map((number) => `GET /users/${idOf(number + 50)}`))
  })
})

describe('a run stops after the first 20 changes', () => {
  test('where the service answers 201 and stores nothing; the next run does all', async () => {
    hireFifty()
    intercept = ({ method }) => (method === 'POST' ? { status: 201, answer: {} } : undefined)
    await expectStopped(
      await run(),
      /: user "u01" was created \(answer 201\), and is not there\. So it is with 20 of the first 20 changes of the kind create-user\. .*Check directory\.baseUrl, organizationId and directoryId/,
    )
    intercept = () => undefined
    expect(await run()).toMatchObject({ state: 'done', counts: { outcomes: { applied: 51 } } })
    expect((await seen()).users.size).toBe(50)
  })

  test('where a single one of them is missing', async () => {
    hireFifty()
    intercept = ({ method, body }) =>
      method === 'POST' && body.includes('u07') ? { status: 200, answer: {} } : undefined
    await expectStopped(
      await run(),
      /: user "u07" was created \(answer 200\), and is not there\. Nothing more/,
    )
  })

  test('where users get the e-mails of others, although their creation was refused', async () => {
    hire(...range(21))
    intercept = ({ method, body }) =>
      method === 'POST'
        ? { body: body.replace(/u\d\d(?=%40)/, next), afterwards: { status: 422, answer: { title: 'no' } } }
        : undefined
    const stopped = await run()
    expect(stopped).toMatchObject({ state: 'failed', counts: { outcomes: { quarantined: 20, dropped: 1 } } })
    expect(stopped.error).toMatch(
      /"u01" was created \(answer 422\) with the e-mail "u01@example\.org", and shows the e-mail "u02@example\.org"/,
    )
  })

  test('where no update shows; a few that do not are only noticed', async () => {
    hire(...range(34))
    await run()
    intercept = ({ method }) => (method === 'PATCH' ? { status: 200, answer: {} } : undefined)
    for (const number of range(4))
      company.users.set(idOf(number), { name: 'New', email: `${idOf(number)}@example.org` })
    const noticed = await run()
    expect(noticed).toMatchObject({ state: 'done', counts: { notices: { rewritten: 4 } } })
    expect(await exitCodeOf(bed.db, noticed)).toBe(0)
    for (const number of range(34))
      company.users.set(idOf(number), { name: 'Newer', email: `${idOf(number)}@example.org` })
    const stopped = await run()
    expect(stopped.state).toBe('failed')
    expect(stopped.error).toMatch(
      /: user "u01" got the name "Newer", and shows the name "Person u01"\. So it is with 20 of the first 20 changes of the kind update-user\./,
    )
    expect(stopped).toMatchObject({ state: 'failed', counts: { outcomes: { applied: 20, dropped: 14 } } })
  })

  test('before anybody is deleted', async () => {
    hire(1)
    await run()
    company.users.clear()
    hire(...range(30).map((number) => number + 10))
    company.users.set('heir', { name: 'Heir', email: 'u01@example.org' })
    intercept = ({ method }) => (method === 'POST' ? { status: 201, answer: {} } : undefined)
    const stopped = await run()
    expect(stopped).toMatchObject({ state: 'failed', counts: { planned: { 'delete-user': 1 } } })
    expect((await changesOf(bed.opened.store.db, stopped, 1))[0]).toMatchObject({
      change: { op: 'delete-user' },
    })
    expect(writes().filter((line) => line.startsWith('DELETE'))).toEqual([])
    expect([...(await seen()).users.keys()]).toEqual(['u01'])
  })

  test('after two of the next run, and after 20 more in the one that finds it mended', async () => {
    hireFifty()
    intercept = ({ method }) => (method === 'POST' ? { status: 201, answer: {} } : undefined)
    await run()
    for (let turn = 0; turn < 2; turn++) {
      requests = []
      expect(await run()).toMatchObject({
        state: 'failed',
        counts: { outcomes: { applied: 2, dropped: 49 } },
      })
      expect(writes()).toEqual(['POST /users', 'POST /users'])
    }
    requests = []
    // What comes right after the first two shows that these alone let nothing pass.
    intercept = ({ method, body }) =>
      method === 'POST' && /u(0[3-9]|1\d)%40/.test(body) ? { status: 201, answer: {} } : undefined
    expect(await run()).toMatchObject({
      state: 'failed',
      counts: { outcomes: { applied: 22, dropped: 29 } },
    })
    intercept = () => undefined
    sent.clear()
    readBacks = []
    expect(await run()).toMatchObject({ state: 'done', counts: { notices: { 'read-back': 1 } } })
    expect(readBacks).toHaveLength(2 + 22)
  })
})

test('an entry that shows only after a moment is waited for', async () => {
  hire(...range(30))
  const shown = new Set<string>()
  intercept = ({ method, url }) => {
    if (method !== 'GET' || !url.includes('/users/u') || shown.has(url)) return undefined
    shown.add(url)
    return { status: 404, answer: {} }
  }
  expect(await run()).toMatchObject({ state: 'done', counts: { outcomes: { applied: 30 } } })
  expect(looks('/users/')).toHaveLength(40)
})

describe('where the service does not answer what it was sent', () => {
  test('an outage that ends is waited for', async () => {
    hire(1, 2, 3)
    let failures = 4
    intercept = ({ method, url }) =>
      method === 'GET' && url.includes('/users/u') && failures-- > 0 ? { status: 500, answer: {} } : undefined
    expect(await run()).toMatchObject({ state: 'done', counts: { outcomes: { applied: 3 } } })
    expect(failures).toBeLessThan(0)
    expect(writes()).toHaveLength(3)
  })

  test('a token that may not read stops the run, which says what the token needs', async () => {
    hire(...range(30))
    intercept = ({ method, url }) =>
      method === 'GET' && url.includes('/users/u') ? { status: 403, answer: {} } : undefined
    const stopped = await run()
    expect(stopped).toMatchObject({ state: 'failed', counts: { outcomes: { applied: 20, dropped: 10 } } })
    expect(stopped.error).toMatch(
      /GET .*\/users\/u\d\d at .* The token needs the scope ORG_READ for this endpoint/,
    )
  })

  test('an outage without end stops the run as such, and nothing has passed', async () => {
    hire(...range(30))
    await open({ giveUpMs: 5_000 })
    intercept = ({ method, url }) =>
      method === 'GET' && url.includes('/users/u') ? { status: 503, answer: {} } : undefined
    const stopped = await run()
    expect(stopped).toMatchObject({ state: 'failed', counts: { outcomes: { applied: 20, dropped: 10 } } })
    expect(stopped.error).toMatch(/could not be read back for .* minutes; the last answer was: GET .* 503/)
    expect(harness.codes()).toEqual(['directory-unreachable'])
    intercept = () => undefined
    requests = []
    expect(await run()).toMatchObject({ state: 'done', counts: { outcomes: { applied: 10 } } })
    // On a busy machine one may be looked at twice.
    expect(new Set(looks('/users/')).size).toBe(10)
  })
})

test('members that the service does not store stop the run, and the way out is named', async () => {
  hire(1, 2)
  for (const number of range(30)) company.groups.set(`g${number}`, { name: `G ${number}`, members: ['u01'] })
  intercept = ({ method }) => (method === 'PATCH' ? { status: 200, answer: {} } : undefined)
  const stopped = await run()
  expect(stopped.state).toBe('failed')
  expect(stopped.error).toMatch(
    /group "g1" got 1 member, and shows 0 members\. .* set directory\.membership to report/,
  )
  expect(await callService(bed.direct, 'GET', '/groups/g1')).toBe(200)
})
