import { afterAll, beforeAll, expect, test } from 'vitest'
import { MARKER, wideFixture } from '../contract/wide-fixture.ts'
import { type Alterable, startApiProxy } from '../support/api-proxy.ts'
import { FIXTURE } from '../support/fixture.ts'
import { openSite, type ServiceSite, startServiceSite } from '../support/site.ts'

let service: ServiceSite

beforeAll(async () => {
  service = await startServiceSite({ fixture: wideFixture() })
})

afterAll(() => service[Symbol.asyncDispose]())

/** An answer of the service with its request, to be changed. */
type Passing = Alterable & { readonly method: string; readonly url: string }
type Break = (passing: Passing) => void

interface Finding {
  readonly step: string
  readonly number: number
  readonly probe: string
  readonly state: string
  readonly reason?: string
  readonly differences: readonly { readonly expected: string; readonly actual: string }[]
  readonly unstated?: unknown
}

/** The service behind a proxy that changes each of its answers with `break_`. */
async function startDeviating(break_: Break) {
  const proxy = await startApiProxy(service.baseUrl)
  proxy.alter = ({ method, url }, answer) => break_(Object.assign(answer, { method, url }))
  return proxy
}

/** The directory of the tests at this address. */
function conformance(baseUrl: string, token: string): readonly string[] {
  return ['conformance', baseUrl, '--token-file', token, '--organization', '1', '--directory', '7']
}

/** Every finding of `access-service conformance`, and its exit code. */
async function compare(baseUrl: string, ...more: readonly string[]) {
  await using site = await openSite({ program: 'access-service' })
  const token = await site.write('token', FIXTURE.token)
  const { code, lines, stderr } = await site.json(...conformance(baseUrl, token), ...more)
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

test('conformance finds no difference in this service, and sends only GET requests', async () => {
  const before = (await service.requests()).length
  const { code, findings, last } = await compare(service.baseUrl)
  expect(differencesOf(findings)).toEqual([])
  expect(code).toBe(0)
  expect(last).toMatchObject({ step: 'end', left: [] })
  const sent = (await service.requests()).slice(before)
  expect(sent.length).toBeGreaterThan(100)
  expect([...new Set(sent.map(({ method }) => method))]).toEqual(['GET'])
})

test('conformance with --writes and --reset-password checks all endpoints, and leaves no change', async () => {
  const before = await seen()
  const id = String(FIXTURE.samlSubscriptionId)
  const { code, findings } = await compare(service.baseUrl, '--writes', '--reset-password', id)
  expect(differencesOf(findings)).toEqual([])
  expect(code).toBe(0)
  const good = findings.filter(({ probe }) => probe === 'good')
  expect(good).toHaveLength(21)
  expect(good.filter(({ state }) => state !== 'ok')).toEqual([])
  const lists = findings.filter(({ probe }) => probe === 'three entries in one request')
  expect(lists.map(({ number, state, unstated }) => [number, state, unstated])).toEqual([
    [4, 'ok', undefined],
    [9, 'ok', undefined],
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

/** Deviations of different endpoints, which one comparison finds side by side. */
const DEVIATIONS: readonly (readonly [Break, RegExp])[] = [
  [
    (answer) => {
      if (isList(answer, '/users'))
        answer.headers.set('total', String(Number(answer.headers.get('total')) + 1))
    },
    /^#3 all pages together: expected 46 items on all pages together, got 45$/,
  ],
  [
    (answer) => void (isList(answer, '/directories/7') && answer.headers.delete('x-token-expires-in')),
    /^#2 good: expected the header x-token-expires-in, got none$/,
  ],
  [
    (answer) => {
      if (isList(answer, '/admin/groups')) answer.body = answer.body.replaceAll(/"id":(\d+)/g, '"id":"$1"')
    },
    /^#20 good: expected \[0\]\.id as described, got expected \w+, received string$/,
  ],
  [
    (answer) => {
      if (answer.status === 404 && answer.url.includes('/users/')) answer.status = 500
    },
    /^#5 unknown external id: expected no server error \(5xx\), got 500$/,
  ],
  [
    (answer) => {
      if (answer.status === 401 && answer.url.endsWith('/subscriptions')) answer.status = 200
    },
    /^#13 no token: expected a refusal \(4xx\), got 200$/,
  ],
  [
    (answer) => {
      if (isList(answer, '/events') && answer.status === 200)
        answer.body = JSON.stringify((JSON.parse(answer.body) as unknown[]).toReversed())
    },
    /^#19 good: expected the newest event first, got another order$/,
  ],
]

test('conformance names each of several deviations', async () => {
  await using deviating = await startDeviating((answer) => {
    for (const [break_] of DEVIATIONS) break_(answer)
  })
  const { code, findings } = await compare(deviating.baseUrl)
  expect(code).toBe(1)
  const differences = differencesOf(findings)
  const unnamed = DEVIATIONS.filter(([, expected]) => !differences.some((each) => expected.test(each)))
  expect(unnamed.map(([, expected]) => String(expected))).toEqual([])
})

test('conformance takes other refusal codes for refusals, with --writes too', async () => {
  await using deviating = await startDeviating((answer) => {
    if (answer.status === 404) answer.status = 400
    if (answer.status === 422) answer.status = 400
  })
  const { code, findings } = await compare(deviating.baseUrl, '--writes')
  expect(differencesOf(findings)).toEqual([])
  expect(code).toBe(0)
})

test('conformance with --writes resets no password, and removes its entries also after a 500', async () => {
  const before = await seen()
  await using deviating = await startDeviating((answer) => {
    if (answer.method === 'POST' && answer.status === 201) answer.status = 500
  })
  const { code, findings } = await compare(deviating.baseUrl, '--writes')
  expect(code).toBe(1)
  expect(differencesOf(findings)).toContain('#4 good: expected no server error (5xx), got 500')
  expect(findings.find(({ number }) => number === 18)).toMatchObject({ state: 'not-checked' })
  expect(await seen()).toEqual(before)
})

test('conformance prints a line for each endpoint with its differences, and never the token', async () => {
  await using deviating = await startDeviating((answer) => {
    if (answer.status === 404 && answer.url.includes('/users/')) {
      answer.status = 500
      answer.body = `no ${FIXTURE.token}`
    }
    if (isList(answer, '/admin/groups')) answer.headers.set('total', FIXTURE.token)
  })
  await using site = await openSite({ program: 'access-service' })
  const token = await site.write('token', FIXTURE.token)
  const { code, stdout, stderr } = await site.run(...conformance(deviating.baseUrl, token))
  expect(code).toBe(1)
  expect(stdout).toMatch(/^ 1 {2}GET {5}\/admin\/directories +ok +\d+$/m)
  expect(stdout).toMatch(/^ 4 {2}POST .* not checked {2}it writes, and writing was not allowed$/m)
  expect(stdout).toMatch(
    /^ 5 {2}GET .* differs +\d+ of \d+ differ\n {6}unknown organization: expected no server error/m,
  )
  expect(stdout).toMatch(
    /^The service differs from the API description in \d+ of \d+ cases of \d+ endpoints; 10 endpoints not checked\.\nRun the test again: /m,
  )
  expect(stdout + stderr).not.toContain(FIXTURE.token)
  expect(stdout).not.toContain(MARKER)
})

test('conformance reports a service that is down in one sentence', async () => {
  await using site = await openSite({ program: 'access-service' })
  const token = await site.write('token', FIXTURE.token)
  const { code, stdout, stderr } = await site.run(...conformance('http://127.0.0.1:9', token))
  expect(code).toBe(1)
  expect(stdout).not.toContain('FAIL')
  expect(stderr).toMatch(/^http:\/\/127\.0\.0\.1:9 does not answer: .*\.\n$/)
})

test('a token that no header can carry is wrong usage, and is not shown', async () => {
  await using site = await openSite({ program: 'access-service' })
  const token = await site.write('token', `${FIXTURE.token}\nand more\n`)
  expect(await site.run(...conformance(service.baseUrl, token))).toEqual({
    code: 64,
    stdout: '',
    stderr: `The token in ${token} holds characters that no header can carry; is it the right file?\n`,
  })
})
