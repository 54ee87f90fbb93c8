import { noticeText } from '../../src/ui/messages/notices.ts'
import { beforeEach, expect, test } from 'vitest'
import { noticesOf } from '../../src/store/plans.ts'
import { partsOf } from '../faults/write-history.ts'
import type { Interception, ProxiedRequest } from '../support/api-proxy.ts'
import { FIXTURE } from '../support/fixture.ts'
import { readService } from '../support/read-service.ts'
import type { MutableCompany } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const PEOPLE = 60
const LIST = 10

const bed = useTestBed('lists')

let company: MutableCompany
/** The number of entries of each POST of users. */
let posts: number[]

beforeEach(() => {
  ;({ company } = bed)
  for (let index = 0; index < PEOPLE; index++) hire(`u${String(index).padStart(3, '0')}`)
})

function hire(id: string, email = `${id}@example.org`): void {
  company.users.set(id, { name: `Person ${id}`, email })
}

/** Does this to the first lists, one after the other. */
function meet(...troubles: readonly ((parts: readonly string[]) => Interception | undefined)[]): void {
  const left = [...troubles]
  posts = []
  bed.proxy.intercept = ({ method, url, body }: ProxiedRequest) => {
    if (method !== 'POST' || !url.endsWith('/users')) return undefined
    const parts = partsOf(body)
    posts.push(parts.length)
    return parts.length > 1 ? left.shift()?.(parts) : undefined
  }
}

async function sync() {
  const harness = bed.open({ token: () => FIXTURE.token, createBatch: LIST })
  await harness.startWorker()
  return harness.sync()
}

const PAGE = '<html>Please log in</html>'
const half = (parts: readonly string[]) => parts.slice(0, parts.length / 2).join('&')

test('new entries share requests', async () => {
  company.groups.set('g1', { name: 'One', members: ['u001', 'u002'] })
  company.groups.set('g2', { name: 'Two', members: [] })
  meet()
  expect(await sync()).toMatchObject({ state: 'done', counts: { outcomes: { applied: PEOPLE + 3 } } })
  // Two lists are the first 20 changes, which are read back. The others are spread over eight chunks for all workers.
  expect(posts.slice(0, 2)).toEqual([10, 10])
  expect(posts.slice(2)).toEqual([5, 5, 5, 5, 5, 5, 5, 5])
  expect(await readService(bed.direct)).toEqual({ ...company, duplicates: [] })
})

test('whatever happens to lists on the way, each person is created once, with their own values', async () => {
  meet(
    (parts) => ({ body: half(parts), afterwards: 'cut' }),
    () => ({ afterwards: 'half' }),
    () => ({ afterwards: { status: 200, page: PAGE } }),
    () => ({ status: 500, answer: {} }),
    (parts) => ({ body: parts[0]! }),
  )
  const { state, counts } = await sync()
  const { applied = 0, found = 0, ...others } = counts?.outcomes ?? {}
  expect({ state, there: applied + found, others }).toEqual({ state: 'done', there: PEOPLE, others: {} })
  expect(await readService(bed.direct)).toEqual({ users: company.users, groups: new Map(), duplicates: [] })
  const again = await sync()
  expect(again.counts).toMatchObject({ planned: {} })
})

test('a service that mixes up the entries of a list, and answers as if it did not, gets no more than 20', async () => {
  meet(...Array.from({ length: 10 }, () => mixUp))
  const { state, error } = await sync()
  expect(state).toBe('failed')
  expect(error).toMatch(/shows the e-mail "u0\d\d@example\.org", which was sent for user/)
  expect(posts).toEqual([10, 10])
})

test('a service that mixes up only longer lists than the first ones stops the run, too; the next one corrects them', async () => {
  for (let index = 0; index < 60; index++) hire(`v${String(index).padStart(3, '0')}`)
  const harness = bed.open({ token: () => FIXTURE.token, createBatch: 20 })
  await harness.startWorker()
  posts = []
  bed.proxy.intercept = ({ method, url, body }) => {
    if (method !== 'POST' || !url.endsWith('/users')) return undefined
    const parts = partsOf(body)
    posts.push(parts.length)
    return parts.length === 20
      ? undefined
      : { body: mixed(parts).join('&'), afterwards: { status: 201, answer: {} } }
  }
  const { state, error, counts } = await harness.sync()
  expect({ state, quarantined: counts?.outcomes.quarantined }).toEqual({ state: 'failed' })
  expect(error).toMatch(
    /, which was sent for user "\w\d\d\d"\. So it is with .* looked up of a list of \d+\. Nothing more/,
  )
  posts = []
  bed.proxy.intercept = ({ method, url, body }) => {
    if (method === 'POST' && url.endsWith('/users')) posts.push(partsOf(body).length)
    return undefined
  }
  expect(await harness.sync()).toMatchObject({ state: 'done' })
  // What passed before counts no more: two, then 20, and then the rest.
  expect(posts.slice(0, 2)).toEqual([2, 20])
  expect((await readService(bed.direct)).users).toEqual(company.users)
})

test('a service that shows late what it created in batches is sent nobody twice', async () => {
  meet()
  /** The list in which each was created, and how often the service was asked for one of it. */
  const lists = new Map<string, { looks: number }>()
  const { intercept } = bed.proxy
  bed.proxy.intercept = async (request) => {
    const { method, url, body } = request
    if (method === 'POST') {
      const list = { looks: 0 }
      for (const [id] of body.matchAll(/u\d\d\d/g)) lists.set(id, lists.get(id) ?? list)
      await intercept(request)
      return { afterwards: { status: 201, answer: {} } }
    }
    const list = lists.get(url.slice(-4))
    if (method !== 'GET' || list === undefined) return undefined
    list.looks += 1
    return list.looks <= 2 ? { status: 404, answer: {} } : undefined
  }
  const { state, counts } = await sync()
  const { applied = 0, found = 0 } = counts?.outcomes ?? {}
  expect({ state, there: applied + found }).toEqual({ state: 'done', there: PEOPLE })
  expect(posts.reduce((sum, length) => sum + length, 0)).toBe(PEOPLE)
})

function mixUp(parts: readonly string[]): Interception {
  return { body: mixed(parts).join('&'), afterwards: { status: 201, answer: answerTo(parts) } }
}

/** Each entry with the e-mail of the next one. */
function mixed(parts: readonly string[]): readonly string[] {
  return parts.map((part, index) => part.replace(emailIn(part), emailIn(parts[(index + 1) % parts.length]!)))
}

/** The answer of a service that did what it was told. */
function answerTo(parts: readonly string[]): object {
  return parts.map((part, index) => {
    const form = new URLSearchParams(part)
    const [id, email, name] = ['external_id', 'email', 'name'].map((field) => form.get(`users[][${field}]`))
    return { id: index + 1, external_id: id, email, name }
  })
}

function emailIn(part: string): string {
  return /u\d+%40/.exec(part)?.[0] ?? ''
}

test('one refused person costs none of the others anything', async () => {
  hire('u030', 'u030@elsewhere.example')
  meet()
  expect(await sync()).toMatchObject({
    state: 'done',
    counts: { outcomes: { applied: PEOPLE - 1, quarantined: 1 } },
  })
  const { users } = await readService(bed.direct)
  company.users.delete('u030')
  expect(users).toEqual(company.users)
})

test('a service that takes no lists gets each user alone after three of them', async () => {
  meet(...Array.from({ length: 100 }, () => () => ({ status: 400, answer: { title: 'one user, please' } })))
  const { run, state, counts } = await sync()
  expect({ state, counts }).toMatchObject({
    state: 'done',
    counts: { outcomes: { applied: PEOPLE }, notices: { 'batches-off': 1 } },
  })
  const notices = await noticesOf(bed.opened.store.db, run, 10)
  expect(noticeText(notices.find(({ code }) => code === 'batches-off')!)).toMatch(
    /^The service did not take \d+ entries with one request .*; the rest of the run sends each entry alone$/,
  )
  // Four may be under way when the third one is refused.
  expect(posts.filter((length) => length > 1).length).toBeLessThanOrEqual(6)
  expect((await readService(bed.direct)).users).toEqual(company.users)
})
