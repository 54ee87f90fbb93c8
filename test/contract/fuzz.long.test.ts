import { connect } from 'node:net'
import { once } from 'node:events'
import fc from 'fast-check'
import { Agent } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpoints } from '../../src/api/contract/endpoints.ts'
import { FIXTURE } from '../support/fixture.ts'
import { type RunningService, startService } from '../support/service.ts'
import { ask } from './api.ts'
import { brokenHttp, type FuzzedRequest, fuzzedRequest } from './fuzz-requests.ts'
import { MARKER, wideFixture } from './wide-fixture.ts'

const WELL_FORMED = 9400
const BROKEN = 600
/** How many are sent at once. */
const AT_ONCE = 10

/** No request may take longer. */
const PATIENCE_MS = 5000

let service: RunningService
let agent: Agent
let before: readonly unknown[]
const failures: unknown[] = []

beforeAll(async () => {
  const log = { error: (...what: unknown[]) => void failures.push(what), warn() {}, info() {}, debug() {} }
  service = await startService({ fixture: wideFixture(), log: { ...log, child: () => log } as never })
  agent = new Agent({ connections: AT_ONCE, pipelining: 1 })
  before = await othersData()
})

afterAll(async () => {
  await agent.destroy()
  await service.close()
})

/** Everything that organization 2 sees of itself. */
async function othersData(): Promise<unknown[]> {
  const others = { token: FIXTURE.otherToken, organizationId: FIXTURE.otherOrganizationId }
  const at = { ...others, directoryId: FIXTURE.otherDirectoryId, subscriptionId: FIXTURE.otherSubscriptionId }
  const seen = []
  for (const operation of [
    ...(['listDirectories', 'listUsers', 'listGroups', 'listSubscriptions', 'listEvents'] as const),
    'listOrganizationGroups' as const,
  ]) {
    const answer = await ask(service, operation, at)
    expect(answer.status).toBe(200)
    expect(JSON.stringify(answer.body)).toContain(MARKER)
    seen.push(answer.body)
  }
  return seen
}

interface Seen {
  readonly status: number
  readonly type: string
  /** Headers and body. */
  readonly all: string
}

async function send({ method, path, headers, body }: FuzzedRequest, patience = PATIENCE_MS): Promise<Seen> {
  const answer = await agent.request({
    origin: service.baseUrl,
    path,
    method,
    headers,
    body: body ?? null,
    signal: AbortSignal.timeout(patience),
  })
  const text = await answer.body.text()
  return {
    status: answer.statusCode,
    type: String(answer.headers['content-type']),
    all: `${JSON.stringify(answer.headers)}${text}`,
  }
}

/** What is wrong with an answer, or nothing. */
function complaint({ status, type, all }: Seen): string | undefined {
  if (status >= 500) return `answered ${status}: ${all} ${JSON.stringify(failures.at(-1))}`
  if (all.includes(MARKER)) return `shows what is somebody else's: ${all}`
  if (status >= 400 && !type.startsWith('application/problem+json')) return `answered ${status} as ${type}`
  return undefined
}

test(`${WELL_FORMED} requests to all endpoints: no 5xx, no silence, no leak, and every refusal is a problem`, async () => {
  const statuses = new Map<number, number>()
  const reached = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      fc.array(fuzzedRequest, { minLength: AT_ONCE, maxLength: AT_ONCE }),
      async (requests) => {
        const answers = await Promise.all(requests.map((request) => send(request)))
        for (const [index, answer] of answers.entries()) {
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
          if (answer.status < 300) reached.add(requests[index]!.operation)
          const what = complaint(answer)
          if (what !== undefined) throw new Error(`${JSON.stringify(requests[index])} ${what}`)
        }
      },
    ),
    { numRuns: WELL_FORMED / AT_ONCE, endOnFailure: true },
  )
  // A fuzzer that is refused at the door proves nothing.
  expect([...reached].toSorted()).toEqual(Object.keys(endpoints).toSorted())
  expect(
    [...statuses].filter(([status]) => status < 300).reduce((sum, [, count]) => sum + count, 0),
  ).toBeGreaterThan(WELL_FORMED / 8)
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([400, 401, 403, 404, 409, 415, 422]))
})

/** Sends bytes, ends the sending side and reads until the service closes. */
async function sendBytes(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  // A reset is an end like any other.
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.end(Buffer.from(bytes, 'latin1'))
  await once(socket, 'close', { signal: AbortSignal.timeout(PATIENCE_MS) })
  return Buffer.concat(chunks).toString('latin1')
}

test(`${BROKEN} requests that are not quite HTTP: no 5xx, no silence, no leak, and every refusal is a problem`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(brokenHttp, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (requests) => {
      const answers = await Promise.all(requests.map(sendBytes))
      for (const [index, answer] of answers.entries()) {
        for (const seen of answersIn(answer)) {
          const what = complaint(seen)
          if (what !== undefined)
            throw new Error(`${JSON.stringify(requests[index]?.slice(0, 2000))} ${what}`)
        }
      }
    }),
    { numRuns: BROKEN / AT_ONCE, endOnFailure: true },
  )
})

test.each([
  ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', 'The header Host is missing.'],
  [
    'an unknown Expect',
    'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: more\r\n\r\n',
    'The header Expect may only be 100-continue.',
  ],
  ['no HTTP', 'hello\r\n\r\n', 'The request is not valid HTTP.'],
])('%s is a problem', async (_name, bytes, detail) => {
  const [answer] = answersIn(await sendBytes(bytes))
  expect(answer).toMatchObject({ status: 400, type: 'application/problem+json' })
  expect(answer?.all).toContain(detail)
})

/** One connection may have carried several. */
function answersIn(text: string): Seen[] {
  return text
    .split(/(?=^HTTP\/1\.1 \d{3})/m)
    .filter((part) => part !== '')
    .map((all) => ({
      status: Number(/^HTTP\/1\.1 (\d{3})/.exec(all)?.[1] ?? 599),
      type: /^content-type: (.*)$/im.exec(all)?.[1]?.replace(/;.*/, '').trim() ?? '',
      all,
    }))
}

const LARGE = 15 * 1024 * 1024
/** To send that much and have it looked at takes seconds where the machine is busy. */
const LARGE_PATIENCE_MS = 30_000
const FORM = 'application/x-www-form-urlencoded'

test.each([
  ['names', FORM, 'a=&'],
  ['separators', FORM, '&'],
  ['entries', FORM, 'users[][a]=&users[][a]=&'],
  ['members', FORM, 'users[][external_member_ids][]=x&'],
  ['different names', FORM, ''],
  ['brackets', FORM, '['],
  ['escapes', FORM, '%41'],
  ['lists in lists', 'application/json', '['],
  ['entries in JSON', 'application/json', ''],
])('15 MiB of %s are answered', async (name, type, piece) => {
  const body =
    name === 'entries in JSON'
      ? `{"users":[${'{"name":1},'.repeat(LARGE / 11)}{}]}`
      : name === 'different names'
        ? Array.from({ length: LARGE / 10 }, (_, n) => `f${n}=`).join('&')
        : piece.repeat(LARGE / piece.length)
  const answer = await send(
    {
      operation: 'createUsers',
      method: 'POST',
      path: '/api/v2/organizations/1/admin/directories/7/users',
      headers: { authorization: `token ${FIXTURE.token}`, 'x-device-id': 'fuzz', 'content-type': type },
      body,
    },
    LARGE_PATIENCE_MS,
  )
  expect(complaint(answer)).toBeUndefined()
})

test('nothing of the other organization was changed, and nothing failed unseen', async () => {
  expect(await othersData()).toEqual(before)
  expect(failures).toEqual([])
  expect((await fetch(`${service.baseUrl}/healthz`)).status).toBe(200)
})
