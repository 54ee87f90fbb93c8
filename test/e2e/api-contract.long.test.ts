import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MARKER, wideFixture } from '../contract/wide-fixture.ts'
import { FIXTURE } from '../support/fixture.ts'
import { openSite, type ServiceSite, startServiceSite } from '../support/site.ts'
import { directorySection, databaseConfig } from '../support/sync-config.ts'

let service: ServiceSite

beforeAll(async () => {
  service = await startServiceSite({ fixture: wideFixture() })
})

afterAll(() => service[Symbol.asyncDispose]())

/** What a service answers, in the hands of somebody who breaks it. */
interface Passing {
  readonly method: string
  readonly url: string
  status: number
  readonly headers: Map<string, string>
  body: string
}

type Break = (passing: Passing) => void

interface Finding {
  readonly step: string
  readonly number: number
  readonly probe: string
  readonly state: string
  readonly reason?: string
  readonly differences: readonly { readonly expected: string; readonly actual: string }[]
  readonly notes: readonly unknown[]
}

/** The service, but for what `break_` does to each of its answers. */
async function startDeviating(break_: Break, rewrite: (url: string) => string = (url) => url) {
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const content = Buffer.concat(await request.toArray())
    const { method = '', url = '' } = request
    const headers = new Headers()
    for (const name of ['authorization', 'x-device-id', 'content-type']) {
      const value = request.headers[name]
      if (typeof value === 'string') headers.set(name, value)
    }
    const answer = await fetch(service.baseUrl + rewrite(url), {
      method,
      headers,
      ...(content.length > 0 && { body: content }),
    })
    const body = await answer.text()
    const passing = { method, url, status: answer.status, headers: new Map(answer.headers), body }
    for (const name of ['content-length', 'transfer-encoding', 'connection', 'keep-alive']) {
      passing.headers.delete(name)
    }
    break_(passing)
    response.writeHead(passing.status, Object.fromEntries(passing.headers))
    response.end(passing.body)
  }

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function openCheck(baseUrl: string) {
  const site = await openSite()
  const users = { path: 'users.csv', map: { external_id: 'id' } }
  const directory = directorySection({ baseUrl })
  await site.configure(databaseConfig([{ name: 'corp', source: { type: 'csv', users }, directory }]))
  await site.write('users.csv', 'id\n1\n')
  return site
}

/** Every finding of `dirsyncd check --api-contract`, and its exit code. */
async function compare(baseUrl: string, ...more: readonly string[]) {
  await using site = await openCheck(baseUrl)
  const { code, lines, stderr } = await site.json('check', 'corp', '--api-contract', ...more)
  expect(stderr).toBe('')
  const findings = (lines as Finding[]).filter(({ step }) => step === 'case')
  return { code, findings, last: lines.at(-1) }
}

/** `#3 good: expected …, got …` */
function differencesOf(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ number, probe, differences }) =>
    differences.map(({ expected, actual }) => `#${number} ${probe}: expected ${expected}, got ${actual}`),
  )
}

test('this service follows the description, and reading it sends nothing but GET', async () => {
  const before = (await service.requests()).length
  const { code, findings, last } = await compare(service.baseUrl)
  expect(differencesOf(findings)).toEqual([])
  expect(findings.flatMap(({ notes }) => notes)).toEqual([])
  expect(code).toBe(0)
  expect(last).toMatchObject({ step: 'end', left: [] })
  const sent = (await service.requests()).slice(before)
  expect(sent.length).toBeGreaterThan(300)
  expect([...new Set(sent.map(({ method }) => method))]).toEqual(['GET'])
})

test('with --writes and --reset-password all endpoints are checked, and everything is as before', async () => {
  const before = await seen()
  const id = String(FIXTURE.samlSubscriptionId)
  const { code, findings } = await compare(service.baseUrl, '--writes', '--reset-password', id)
  expect(differencesOf(findings)).toEqual([])
  expect(code).toBe(0)
  const good = findings.filter(({ probe }) => probe === 'good')
  expect(good).toHaveLength(21)
  expect(good.filter(({ state }) => state !== 'ok')).toEqual([])
  const lists = findings.filter(({ probe }) => probe === 'three entries in one request')
  expect(lists).toMatchObject([
    { number: 4, state: 'ok', notes: [] },
    { number: 9, state: 'ok', notes: [] },
  ])
  expect(await seen()).toEqual(before)
})

async function read(path: string): Promise<any> {
  const headers = { authorization: `token ${FIXTURE.token}`, 'x-device-id': 'e2e' }
  const answer = await fetch(`${service.baseUrl}/api/v2/organizations/1${path}`, { headers })
  expect(answer.status).toBe(200)
  return answer.json()
}

/** What a check could have left behind. */
async function seen(): Promise<unknown[]> {
  const users = await read('/admin/directories/7/users?per_page=100')
  const groups = await read('/admin/directories/7/groups?per_page=100')
  const subscriptions: any[] = await read('/subscriptions?all=true')
  return [
    users,
    groups,
    subscriptions.map(({ id, name, favorite, position }) => ({ id, name, favorite, position })),
  ]
}

const isList = ({ method, url }: Passing, path: string) =>
  method === 'GET' && url.replace(/\?.*/, '').endsWith(path)

/** Deviations of different endpoints, which one comparison finds side by side; each has its own name and difference. */
const DEVIATIONS: readonly Readonly<Record<string, readonly [Break, RegExp]>>[] = [
  {
    'a total that counts one too many': [
      (answer) => {
        if (!isList(answer, '/users')) return
        answer.headers.set('total', String(Number(answer.headers.get('total')) + 1))
      },
      /^#3 all pages together: expected 46 items on all pages together, got 45$/,
    ],
    'no total': [
      (answer) => void (isList(answer, '/events') && answer.headers.delete('total')),
      /^#19 good: expected a whole number in the header total, got no such header$/,
    ],
    'no header of the token': [
      (answer) => void (isList(answer, '/directories/7') && answer.headers.delete('x-token-expires-in')),
      /^#2 good: expected the header x-token-expires-in, got none$/,
    ],
    'an id that is a string': [
      (answer) => {
        if (isList(answer, '/admin/groups')) answer.body = answer.body.replaceAll(/"id":(\d+)/g, '"id":"$1"')
      },
      /^#20 good: expected \[0\]\.id as described, got expected \w+, received string$/,
    ],
    'a 500 for an unknown id': [
      (answer) => {
        if (answer.status === 404 && answer.url.includes('/users/')) answer.status = 500
      },
      /^#5 unknown external id: expected a refusal \(4xx\), got 500$/,
    ],
    'an answer to nobody in particular': [
      (answer) => {
        if (answer.status === 401 && answer.url.endsWith('/subscriptions')) answer.status = 200
      },
      /^#13 no token: expected a refusal \(4xx\), got 200$/,
    ],
  },
  {
    'a subscriber in the list': [
      (answer) => {
        if (isList(answer, '/subscriptions')) answer.body = answer.body.replace('{', '{"subscriber":null,')
      },
      /^#13 good: expected no subscriber in the list, got one$/,
    ],
    'the oldest event first': [
      (answer) => {
        if (isList(answer, '/events') && answer.status === 200) {
          answer.body = JSON.stringify((JSON.parse(answer.body) as unknown[]).toReversed())
        }
      },
      /^#19 good: expected the newest event first, got another order$/,
    ],
    'a link that forgets the last page': [
      (answer) => {
        const link = answer.headers.get('link')
        if (isList(answer, '/users'))
          answer.headers.set('link', (link ?? '').replace(/, <[^>]*>; rel="last"/, ''))
      },
      /^#3 the first page: expected link to next 2, last 3 on page 1, got next 2$/,
    ],
  },
]

test.each(DEVIATIONS.map((deviations) => ({ deviations, count: Object.keys(deviations).length })))(
  '$count deviations at once are named, each by itself',
  async ({ deviations }) => {
    const all = Object.entries(deviations)
    await using deviating = await startDeviating((answer) => {
      for (const [, [break_]] of all) break_(answer)
    })
    const { code, findings } = await compare(deviating.baseUrl)
    expect(code).toBe(1)
    const differences = differencesOf(findings)
    const unnamed = all.filter(([, [, expected]]) => !differences.some((each) => expected.test(each)))
    expect(unnamed.map(([name]) => name)).toEqual([])
  },
)

test('a per_page that is ignored is named', async () => {
  await using deviating = await startDeviating(
    () => {},
    (url) => url.replaceAll(/per_page=\d+/g, 'per_page=20'),
  )
  const { code, findings } = await compare(deviating.baseUrl)
  expect(code).toBe(1)
  const names = differencesOf(findings)
  expect(names).toContain('#3 ?per_page=1: expected 1 in the header per-page, got "20"')
  expect(names).toContain('#3 ?per_page=100: expected 100 in the header per-page, got "20"')
})

test('other refusals than those of this service are notes, and no differences', async () => {
  await using deviating = await startDeviating((answer) => {
    if (answer.status === 404) answer.status = 400
    if (answer.status === 422) answer.status = 400
  })
  const { code, findings } = await compare(deviating.baseUrl)
  expect(code).toBe(0)
  expect(findings.filter(({ notes }) => notes.length > 0).map(({ probe }) => probe)).toContain(
    'unknown directory',
  )
})

test('with --writes no password is reset, and what is made is removed also after an answer 500', async () => {
  const before = await seen()
  await using deviating = await startDeviating((answer) => {
    if (answer.method === 'POST' && answer.status === 201) answer.status = 500
  })
  const { code, findings } = await compare(deviating.baseUrl, '--writes')
  expect(code).toBe(1)
  expect(differencesOf(findings)).toContain('#4 good: expected a success (2xx), got 500')
  expect(findings.find(({ number }) => number === 18)).toMatchObject({ state: 'not-checked' })
  expect(await seen()).toEqual(before)
})

test('on a terminal there is a line for each endpoint, differences below it, and never the token', async () => {
  await using deviating = await startDeviating((answer) => {
    if (answer.status === 404 && answer.url.includes('/users/')) {
      answer.status = 500
      answer.body = `no ${FIXTURE.token}`
    }
    if (isList(answer, '/admin/groups')) answer.headers.set('total', FIXTURE.token)
  })
  await using site = await openCheck(deviating.baseUrl)
  const { code, stdout, stderr } = await site.run('check', 'corp', '--api-contract')
  expect(code).toBe(1)
  expect(stdout).toMatch(/^ 1 {2}GET {5}\/admin\/directories +ok +\d+$/m)
  expect(stdout).toMatch(/^ 4 {2}POST .* not checked {2}it writes, and writing was not allowed$/m)
  expect(stdout).toMatch(
    /^ 5 {2}GET .* differs +\d+ of \d+ differ\n {6}unknown organization: expected a refusal/m,
  )
  expect(stdout).toMatch(
    /^The service differs from the API description in \d+ of \d+ cases of \d+ endpoints; 10 endpoints not checked\.$/m,
  )
  expect(stdout + stderr).not.toContain(FIXTURE.token)
  expect(stdout).not.toContain(MARKER)
})

test('a service that cannot be compared is one sentence', async () => {
  await using site = await openCheck('http://127.0.0.1:9')
  const { code, stdout } = await site.run('check', '--api-contract')
  expect(code).toBe(1)
  expect(stdout).toContain('FAIL  corp: http://127.0.0.1:9 does not answer: connection refused.')
})

test.each([
  ['--api-contract and --writes', ['--reset-password', '101']],
  ['--api-contract and --writes', ['--reset-password', '101', '--api-contract']],
])('--reset-password needs %s', async (_what, options) => {
  await using site = await openCheck(service.baseUrl)
  const { code, stderr } = await site.run('check', ...options)
  expect(code).toBe(64)
  expect(stderr).toBe('The option --reset-password needs --api-contract and --writes.\n')
})
