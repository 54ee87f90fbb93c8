import { getEventListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { ApiError, ApiErrorKind } from '../../../../src/api/client/api-error.ts'
import { clientOf, DIRECTORY, group, rejection, SECRET, user } from './fixtures.ts'
import { inOrder, type Reaction, startScriptedServer } from './scripted-server.ts'
import { eventually } from '../../../support/eventually.ts'

const ALICE = { directory_id: 7, external_id: 'u1' }

test('a request carries the token, the device id and the path of the contract behind the base path', async () => {
  await using server = await startScriptedServer(() => ({ status: 200, json: user(1) }))
  await using client = clientOf(`${server.baseUrl}/behind/proxy/`, { organizationId: 12 })
  await client.getUser({ directory_id: 7, external_id: 'a/b ü?' })
  const [seen] = server.seen
  expect(seen?.url).toBe('/behind/proxy/api/v2/organizations/12/admin/directories/7/users/a%2Fb%20%C3%BC%3F')
  expect(seen?.headers).toMatchObject({ authorization: `token ${SECRET}`, 'x-device-id': 'test-device' })
})

test.each(['', '.', '..', 'a\uD800'])('the id %j is refused before anything is sent', async (id) => {
  await using server = await startScriptedServer(() => ({ status: 200 }))
  await using client = clientOf(server.baseUrl)
  const error = await rejection(client.deleteUser({ directory_id: 7, external_id: id }))
  expect(error).toMatchObject({ kind: 'refused', status: undefined })
  expect(server.seen).toEqual([])
})

const NO_IDS: readonly (readonly [id: unknown, shown: string])[] = [
  [Number.NaN, 'NaN'],
  [0, '0'],
  [-1, '-1'],
  [1.5, '1.5'],
  [Number.POSITIVE_INFINITY, 'Infinity'],
  [2 ** 53, '9007199254740992'],
  ['7', '"7"'],
  [null, 'null'],
  [7n, 'a bigint'],
  [[7], 'an object'],
]

test.each(NO_IDS)('the id %s is refused by its name before anything is sent', async (id, shown) => {
  await using server = await startScriptedServer(() => ({ status: 200 }))
  await using client = clientOf(server.baseUrl)
  // Untyped callers and computed numbers pass what the types do not allow.
  const bad = id as number
  const calls = {
    directory_id: client.getUser({ directory_id: bad, external_id: 'a' }),
    subscription_id: client.readCredentials({ subscription_id: bad }),
    group_id: client.getOrganizationGroup({ group_id: bad }),
    'filters[contact_id]': client.listEvents({ filters: { contact_id: bad } }),
    page: client.listUsers({ directory_id: 7 }, { page: bad }),
    per_page: client.listDirectories({}, { perPage: bad }),
  }
  for (const [name, call] of Object.entries(calls)) {
    expect(await rejection(call)).toMatchObject({
      kind: 'refused',
      maybeDone: false,
      message: expect.stringContaining(
        `it was not sent because ${name} is ${shown}, not a whole number from 1 to 9007199254740991.`,
      ),
    })
  }
  expect(() => clientOf(server.baseUrl, { organizationId: bad })).toThrow(
    new TypeError(`organizationId is ${shown}, not a whole number from 1 to 9007199254740991`),
  )
  expect(server.seen).toEqual([])
})

test('a parameter that is missing, and a number in a form that is none, are refused by name', async () => {
  await using server = await startScriptedServer(() => ({ status: 200 }))
  await using client = clientOf(server.baseUrl)
  const missing = (await rejection(client.getUser({ external_id: 'a' } as typeof ALICE))) as ApiError
  expect(missing).toMatchObject({
    kind: 'refused',
    destination: {
      path: '/api/v2/organizations/{organization_id}/admin/directories/{directory_id}/users/{external_id}',
    },
  })
  expect(missing.message).toContain('it was not sent because directory_id is missing.')
  const position = client.updateSubscription({ subscription_id: 1 }, { position: Number.NaN })
  expect(((await rejection(position)) as ApiError).message).toContain('position is NaN, not a whole number.')
  const number = client.getUser({ directory_id: 7, external_id: 8 as unknown as string })
  expect(((await rejection(number)) as ApiError).message).toContain('external_id is 8, not a text.')
  expect(server.seen).toEqual([])
})

test('a list asks for a page by its number and hands the headers back', async () => {
  await using server = await startScriptedServer(() => ({
    status: 200,
    json: [user(1)],
    headers: { total: '41', 'per-page': '20', link: '<http://evil.example/>; rel="next"' },
  }))
  await using client = clientOf(server.baseUrl)
  const page = await client.listUsers({ directory_id: 7 }, { page: 3, perPage: 20 })
  expect(server.seen[0]?.url).toMatch(/users\?page=3&per_page=20$/)
  expect(page).toMatchObject({ total: 41, perPage: 20, items: [{ external_id: 'u1' }] })
  expect(page.destination).toEqual({
    operation: 'listUsers',
    method: 'GET',
    path: '/api/v2/organizations/1/admin/directories/7/users',
    scope: 'ORG_READ',
    baseUrl: server.baseUrl,
  })
})

test.each([
  ['no body', { status: 204 }],
  ['an object', { status: 200, json: user(1) }],
  ['an array', { status: 201, json: [user(1)] }],
  ['text', { status: 202, text: 'ok' }],
] satisfies [string, Reaction][])('a write is a success with %s as its answer', async (_, reaction) => {
  await using server = await startScriptedServer(() => reaction)
  await using client = clientOf(server.baseUrl)
  const written = await client.createUsers({ directory_id: 7 }, [{ name: 'A', external_id: 'u1' }])
  expect(written).toMatchObject({ found: false, status: reaction.status, requests: 1 })
  expect(written.value).toEqual(reaction.status === 201 ? [user(1)] : undefined)
  expect(server.seen[0]).toMatchObject({
    method: 'POST',
    body: 'users%5B%5D%5Bexternal_id%5D=u1&users%5B%5D%5Bname%5D=A',
  })
})

test('a write whose body breaks off behind a 2xx is a success', async () => {
  await using server = await startScriptedServer(() => 'drop-in-body')
  await using client = clientOf(server.baseUrl)
  expect(await client.updateUser(ALICE, { name: 'A' })).toMatchObject({
    found: false,
    status: 200,
    requests: 1,
  })
})

test('a read whose body breaks off is read again', async () => {
  await using server = await startScriptedServer(inOrder('drop-in-body', { status: 200, json: user(1) }))
  await using client = clientOf(server.baseUrl)
  expect(await client.getUser(ALICE)).toMatchObject({ id: 1 })
})

test.each([
  ['a 500', { status: 500 }],
  ['a 503 that names a time', { status: 503, headers: { 'retry-after': '0' } }],
  ['a 408', { status: 408 }],
  ['a 425', { status: 425 }],
  ['a 429', { status: 429, headers: { 'retry-after': '0' } }],
  ['a 429 that names no time', { status: 429 }],
  ['a 429 that names a date', { status: 429, headers: { 'retry-after': new Date(0).toUTCString() } }],
  ['a 403 that names a time', { status: 403, headers: { 'retry-after': '0' } }],
  ['a 403 about a rate', { status: 403, json: { message: 'API rate limit exceeded' } }],
  ['a dropped connection', 'drop'],
] satisfies [string, Reaction][])('a read is made again after %s', async (_, reaction) => {
  await using server = await startScriptedServer(inOrder(reaction, { status: 200, json: user(1) }))
  await using client = clientOf(server.baseUrl)
  const onRequest = vi.fn<() => void>()
  expect(await client.getUser(ALICE, { onRequest })).toMatchObject({ id: 1 })
  expect(onRequest).toHaveBeenCalledTimes(2)
})

test.each([
  [400, 'refused'],
  [403, 'forbidden'],
  [404, 'not-found'],
  [409, 'conflict'],
  [413, 'refused'],
  [422, 'refused'],
  [301, 'unexpected-answer'],
] satisfies [number, ApiErrorKind][])('%i is an error of kind %s at once', async (status, kind) => {
  await using server = await startScriptedServer(() => ({ status, json: { detail: 'because' } }))
  await using client = clientOf(server.baseUrl)
  const error = await rejection(client.updateUser(ALICE, { name: 'A' }))
  expect(error).toMatchObject({ kind, status, maybeDone: false, operation: 'updateUser' })
  expect(server.seen).toHaveLength(1)
})

test.each([
  ['that names a time', { status: 403, headers: { 'retry-after': '7' } }, 7000],
  ['about a quota', { status: 403, json: { detail: 'The daily quota is used up.' } }, undefined],
] satisfies [string, Reaction, number | undefined][])(
  'a 403 %s is a limit, as a 429 is',
  async (_, reaction, retryAfterMs) => {
    await using server = await startScriptedServer(() => reaction)
    await using client = clientOf(server.baseUrl)
    const error = await rejection(client.updateUser(ALICE, { name: 'A' }))
    expect(error).toMatchObject({ kind: 'rate-limited', maybeDone: false, retryAfterMs })
    expect(server.seen).toHaveLength(1)
  },
)

test('a request that fails for good is made 1 + 3 times', async () => {
  await using server = await startScriptedServer(() => ({ status: 502 }))
  await using client = clientOf(server.baseUrl)
  expect(await rejection(client.getUser(ALICE))).toMatchObject({ kind: 'server-error', status: 502 })
  expect(server.seen).toHaveLength(4)
})

test('a redirect is not followed and the sentence says so', async () => {
  await using elsewhere = await startScriptedServer(() => ({ status: 200, json: DIRECTORY }))
  const location = `${elsewhere.baseUrl}/there?secret=1`
  await using server = await startScriptedServer(() => ({ status: 302, headers: { location } }))
  await using client = clientOf(server.baseUrl)
  const error = await rejection(client.getDirectory({ directory_id: 7 }))
  expect((error as Error).message).toMatch(/answered 302 Found, a redirect to .*not followed/)
  expect((error as Error).message).not.toContain('secret')
  expect(elsewhere.seen).toEqual([])
})

test('a write does not wait for a 429: the error says how long', async () => {
  await using server = await startScriptedServer(() => ({ status: 429, headers: { 'retry-after': '7' } }))
  await using client = clientOf(server.baseUrl)
  const error = await rejection(client.deleteUser(ALICE, { confirm: async () => undefined }))
  expect(error).toMatchObject({ kind: 'rate-limited', retryAfterMs: 7000, maybeDone: false })
  expect(server.seen).toHaveLength(1)
})

test('a read does not wait for a 429 where the caller wants to know, or where the time is too long', async () => {
  await using server = await startScriptedServer(() => ({ status: 429, headers: { 'retry-after': '3600' } }))
  await using client = clientOf(server.baseUrl)
  expect(await rejection(client.getUser(ALICE))).toMatchObject({
    kind: 'rate-limited',
    retryAfterMs: 3_600_000,
  })
  expect(await rejection(client.getUser(ALICE, { whenLimited: 'throw' }))).toMatchObject({
    kind: 'rate-limited',
  })
  expect(server.seen).toHaveLength(2)
})

/** A pause that is over at once, and what the client did with it. */
function recordedPause() {
  const calls: (number | 'over')[] = []
  const pause = {
    begin: async (ms: number) => void calls.push(ms),
    over: async () => void calls.push('over'),
  }
  return { calls, pause }
}

test('with a shared pause a read waits for it before each request, however long and often the service asks', async () => {
  const asked = ['86400', '0', '-1', 'soon', '9'.repeat(20)]
  const refusals = asked.map((after) => ({ status: 429, headers: { 'retry-after': after } }))
  await using server = await startScriptedServer(
    inOrder(...refusals, { status: 429 }, { status: 200, json: user(1) }),
  )
  const { calls, pause } = recordedPause()
  const retries = { rateLimitWaits: 1, maxRetryAfterMs: 1000, defaultRetryAfterMs: 77 }
  await using client = clientOf(server.baseUrl, { pause, retries })
  expect(await client.getUser(ALICE)).toMatchObject({ id: 1 })
  const begun = [86_400_000, 0, 77, 77, 77, 77]
  expect(calls).toEqual([...begun.flatMap((ms) => ['over', ms]), 'over'])
})

test('a call that throws after a 429 leaves a shared pause to its caller', async () => {
  await using server = await startScriptedServer(() => ({ status: 429, headers: { 'retry-after': '7' } }))
  const { calls, pause } = recordedPause()
  await using client = clientOf(server.baseUrl, { pause })
  const limited = { kind: 'rate-limited', retryAfterMs: 7000 }
  expect(await rejection(client.deleteUser(ALICE))).toMatchObject(limited)
  expect(await rejection(client.getUser(ALICE, { whenLimited: 'throw' }))).toMatchObject(limited)
  expect(calls).toEqual([])
})

test('a read that waits for a shared pause ends at once when it is called off', async () => {
  await using server = await startScriptedServer(() => ({ status: 200, json: user(1) }))
  const pause = { begin: async () => undefined, over: () => new Promise<void>(() => undefined) }
  await using client = clientOf(server.baseUrl, { pause })
  expect(await rejection(client.getUser(ALICE, { signal: AbortSignal.timeout(10) }))).toMatchObject({
    kind: 'aborted',
  })
  expect(server.seen).toEqual([])
})

test('a read does not wait for 429 for ever', async () => {
  await using server = await startScriptedServer(() => ({ status: 429, headers: { 'retry-after': '0' } }))
  await using client = clientOf(server.baseUrl, { retries: { rateLimitWaits: 4 } })
  expect(await rejection(client.getUser(ALICE))).toMatchObject({ kind: 'rate-limited' })
  expect(server.seen).toHaveLength(5)
})

test.each([
  ['a 500', { status: 500 }],
  ['a 408', { status: 408 }],
  ['a dropped connection', 'drop'],
] satisfies [string, Reaction][])(
  'a write that may be done after %s is not sent again without a look',
  async (_, reaction) => {
    await using server = await startScriptedServer(() => reaction)
    await using client = clientOf(server.baseUrl)
    const error = await rejection(client.createGroups({ directory_id: 7 }, [{ external_id: 'g', name: 'G' }]))
    expect(error).toMatchObject({ maybeDone: true })
    expect(server.seen).toHaveLength(1)
  },
)

test('a 425 was not looked at: the write is sent again without a look', async () => {
  await using server = await startScriptedServer(inOrder({ status: 425 }, { status: 204 }))
  await using client = clientOf(server.baseUrl)
  const confirm = vi.fn<() => Promise<undefined>>(async () => undefined)
  expect(await client.deleteUser(ALICE, { confirm })).toMatchObject({ status: 204, requests: 2 })
  expect(confirm).not.toHaveBeenCalled()
})

test('a lost answer is looked up, and what is found is the result', async () => {
  await using server = await startScriptedServer(inOrder('drop', { status: 200, json: user(1) }))
  await using client = clientOf(server.baseUrl)
  const written = await client.createUsers({ directory_id: 7 }, [{ external_id: 'u1' }], {
    confirm: (signal) => client.getUser(ALICE, signal ? { signal } : {}),
  })
  expect(written).toEqual({ found: true, value: user(1), status: undefined, requests: 1 })
  expect(server.seen.map((request) => request.method)).toEqual(['POST', 'GET'])
})

const PAGE_OF_A_PROXY = {
  status: 200,
  text: '<title>Log in</title>',
  headers: { 'content-type': 'text/html' },
}

test('a web page is no answer to a write: it is looked up before it is sent again', async () => {
  await using server = await startScriptedServer(inOrder(PAGE_OF_A_PROXY, { status: 201 }))
  await using client = clientOf(server.baseUrl)
  const confirm = vi.fn<() => Promise<undefined>>(async () => undefined)
  const written = await client.createUsers({ directory_id: 7 }, [{ external_id: 'u1' }], { confirm })
  expect(written).toMatchObject({ found: false, status: 201, requests: 2 })
  expect(confirm).toHaveBeenCalledTimes(1)
})

test('a web page for everything leaves a write as possibly done', async () => {
  await using server = await startScriptedServer(() => PAGE_OF_A_PROXY)
  await using client = clientOf(server.baseUrl)
  const write = client.updateUser(ALICE, { name: 'A' }, { confirm: () => client.getUser(ALICE) })
  expect(await rejection(write)).toMatchObject({ kind: 'unexpected-answer', maybeDone: true })
  expect(server.seen.map(({ method }) => method)).toEqual(['PATCH', 'GET'])
})

test('a lost answer that left nothing behind is sent again', async () => {
  await using server = await startScriptedServer(inOrder('drop', { status: 500 }, { status: 201 }))
  await using client = clientOf(server.baseUrl)
  const confirm = vi.fn<() => Promise<undefined>>(async () => undefined)
  const written = await client.createUsers({ directory_id: 7 }, [{ external_id: 'u1' }], { confirm })
  expect(written).toMatchObject({ found: false, status: 201, requests: 3 })
  expect(confirm).toHaveBeenCalledTimes(2)
})

test('a look that fails ends the write as possibly done, with the reason of the look', async () => {
  await using server = await startScriptedServer((request) =>
    request.method === 'POST' ? 'drop' : { status: 403 },
  )
  await using client = clientOf(server.baseUrl)
  const write = client.createUsers({ directory_id: 7 }, [{ external_id: 'u1' }], {
    confirm: async () => client.getUser(ALICE),
  })
  expect(await rejection(write)).toMatchObject({ kind: 'forbidden', operation: 'getUser', maybeDone: true })
})

test('a definite refusal after a look is not "possibly done"', async () => {
  await using server = await startScriptedServer(inOrder('drop', { status: 422 }))
  await using client = clientOf(server.baseUrl)
  const write = client.updateUser(ALICE, { email: 'x' }, { confirm: async () => undefined })
  expect(await rejection(write)).toMatchObject({ kind: 'refused', maybeDone: false })
})

test('a refused token is loaded again once, for many requests at once', async () => {
  let current = 'old'
  const token = vi.fn<(reload: boolean) => Promise<string>>(async (reload) => {
    if (reload) current = 'new'
    return current
  })
  await using server = await startScriptedServer((request) =>
    request.headers.authorization === 'token new' ? { status: 200, json: user(1) } : { status: 401 },
  )
  await using client = clientOf(server.baseUrl, { token })
  await Promise.all(Array.from({ length: 5 }, () => client.getUser(ALICE)))
  expect(token.mock.calls.filter(([reload]) => reload)).toHaveLength(1)
})

test('while a refused token is loaded again nobody else loads it', async () => {
  const loaded = Promise.withResolvers<string>()
  const token = vi.fn<(reload: boolean) => Promise<string>>((reload) =>
    reload ? loaded.promise : Promise.resolve('old'),
  )
  await using server = await startScriptedServer((request) =>
    request.headers.authorization === 'token new' ? { status: 200, json: user(1) } : { status: 401 },
  )
  await using client = clientOf(server.baseUrl, { token })
  const reads = Promise.all(Array.from({ length: 5 }, () => client.getUser(ALICE)))
  // All five were refused, and have asked for the token that they know.
  await eventually(() => expect(token).toHaveBeenCalledTimes(10 + 1))
  loaded.resolve('new')
  await reads
  expect(token.mock.calls.filter(([reload]) => reload)).toHaveLength(1)
})

test('a token that stays refused is an error after one more try', async () => {
  let n = 0
  await using server = await startScriptedServer(() => ({ status: 401 }))
  await using client = clientOf(server.baseUrl, { token: async () => `token${(n += 1)}` })
  expect(await rejection(client.getUser(ALICE))).toMatchObject({ kind: 'unauthorized', status: 401 })
  expect(server.seen).toHaveLength(2)
})

test('a token that no header can carry is refused without naming it', async () => {
  await using client = clientOf('http://127.0.0.1:1', { token: async () => 'two\nlines' })
  const error = await rejection(client.getUser(ALICE))
  expect(error).toMatchObject({ kind: 'unauthorized' })
  expect((error as Error).message).not.toContain('lines')
})

test('what the token loader and the limiter throw comes through as it is', async () => {
  const mine = new Error('no token file')
  await using one = clientOf('http://127.0.0.1:1', { token: () => Promise.reject(mine) })
  expect(await rejection(one.getUser(ALICE))).toBe(mine)
  await using other = clientOf('http://127.0.0.1:1', { limit: () => Promise.reject(mine) })
  expect(await rejection(other.getUser(ALICE))).toBe(mine)
})

test('the budget is asked before every request, repetitions included', async () => {
  await using server = await startScriptedServer(
    inOrder({ status: 500 }, { status: 429 }, 'drop', { status: 200, json: user(1) }),
  )
  const limit = vi.fn<() => Promise<void>>(async () => {})
  await using client = clientOf(server.baseUrl, { limit })
  await client.getUser(ALICE)
  expect(limit).toHaveBeenCalledTimes(4)
})

test('each request that ends is told with its status, and each that is sent again', async () => {
  await using server = await startScriptedServer(
    inOrder({ status: 503 }, { status: 429 }, 'drop', { status: 200, json: user(1) }),
  )
  const answers: (readonly unknown[])[] = []
  const onRetry = vi.fn<(operation: string) => void>()
  await using client = clientOf(server.baseUrl, {
    onAnswer: ({ operation, status, seconds }) => {
      answers.push([operation, status])
      expect(seconds).toBeGreaterThan(0)
    },
    onRetry,
  })
  await client.getUser(ALICE)
  expect(answers).toEqual([
    ['getUser', 503],
    ['getUser', 429],
    ['getUser', undefined],
    ['getUser', 200],
  ])
  expect(onRetry.mock.calls).toEqual([['getUser'], ['getUser']])
})

test('a token about to expire is reported once, and never stops anything', async () => {
  const left = ['100000', '80000', '70000', 'soon']
  await using server = await startScriptedServer((_, index) => ({
    status: 200,
    json: user(1),
    headers: { 'x-token-expires-in': left[index] ?? '' },
  }))
  const onTokenExpiry = vi.fn<(seconds: number) => void>()
  await using client = clientOf(server.baseUrl, { onTokenExpiry })
  expect(client.tokenExpiresIn).toBeUndefined()
  for (const _ of left) await client.getUser(ALICE)
  expect(client.tokenExpiresIn).toBe(70_000)
  expect(onTokenExpiry.mock.calls).toEqual([[80_000]])
})

test('whoever takes note of the life of the token decides alone when to warn', async () => {
  await using server = await startScriptedServer(() => ({
    status: 200,
    json: user(1),
    headers: { 'x-token-expires-in': '60' },
  }))
  const onTokenExpiry = vi.fn<(seconds: number) => void>()
  const onTokenLife = vi.fn<(seconds: number) => void>()
  await using client = clientOf(server.baseUrl, { token: 'fresh', onTokenExpiry, onTokenLife })
  await client.getUser(ALICE)
  await client.getUser(ALICE)
  expect(onTokenLife.mock.calls).toEqual([[60], [60]])
  expect(onTokenExpiry).not.toHaveBeenCalled()
  expect(client.tokenExpiresIn).toBe(60)
})

test.each([
  ['an empty body', { status: 200, text: '' }, 'the answer is empty'],
  [
    'no JSON',
    { status: 200, text: '<html>', headers: { 'content-type': 'text/html' } },
    'not JSON (text/html)',
  ],
  ['another shape', { status: 200, json: { id: 1 } }, 'the answer is not what'],
  [
    'a field of another type',
    { status: 200, json: [user(1), user(2, { email: 3 })] },
    'field [1].email is not what',
  ],
] satisfies [string, Reaction, string][])(
  'a read that answers %s is unexpected',
  async (_, reaction, words) => {
    await using server = await startScriptedServer(() => reaction)
    await using client = clientOf(server.baseUrl)
    const error = await rejection(client.listUsers({ directory_id: 7 }))
    expect(error).toMatchObject({ kind: 'unexpected-answer', operation: 'listUsers' })
    expect((error as Error).message).toContain(words)
    expect((error as Error).message).toContain(
      'GET /api/v2/organizations/1/admin/directories/7/users at http://127',
    )
    expect(server.seen).toHaveLength(1)
  },
)

test('the detail of a problem body is one bounded line, without the token', async () => {
  const detail = `wrong\n\u0007 ${SECRET} ${'x'.repeat(500)}`
  await using server = await startScriptedServer(() => ({ status: 422, json: { title: 'T', detail } }))
  await using client = clientOf(server.baseUrl)
  const error = (await rejection(client.updateUser(ALICE, { name: 'A' }))) as ApiError
  expect(error.detail).toMatch(/^wrong \[hidden\] x+…$/)
  expect(error.detail).toHaveLength(300)
  expect(JSON.stringify(error) + error.stack).not.toContain(SECRET)
})

test.each([
  { json: { error: { message: 'maintenance until 18:00' } }, said: 'maintenance until 18:00' },
  { json: { error: { code: 503, detail: 'no database' }, status: 503 }, said: 'no database' },
  {
    json: { error: 'Bad Request', message: ['name is empty', 'email is empty'] },
    said: 'name is empty; email is empty',
  },
  { json: { error: 'invalid_token', error_description: 'it is too old' }, said: 'it is too old' },
  { json: { message: 'overloaded' }, said: 'overloaded' },
  { json: { detail: 'because' }, said: 'because' },
  { json: { errors: [{ message: 'no disk' }, { title: 'no memory' }] }, said: 'no disk; no memory' },
  { json: { errors: { email: ['is taken'] } }, said: 'email is taken' },
  { json: [{ message: 'one' }], said: 'one' },
  { json: { error: { message: 'a\u001b[31m\u202eb \ud800' } }, said: 'a [31m b \ufffd' },
  { json: { error: { error: { error: { message: 'deep' } } } }, said: undefined },
  { json: { error: {} }, said: undefined },
])('the words of a service in $json are in the sentence', async ({ json, said }) => {
  await using server = await startScriptedServer(() => ({ status: 422, json }))
  await using client = clientOf(server.baseUrl)
  const error = (await rejection(client.updateUser(ALICE, { name: 'A' }))) as ApiError
  expect(error.detail).toBe(said)
  const end = said === undefined ? '' : `: ${said}`
  expect(error.message.endsWith(`the service answered 422 Unprocessable Entity${end}.`)).toBe(true)
})

test('nobody listens: connection refused, and a write was surely not done', async () => {
  const closed = await startScriptedServer(() => 'silence')
  await closed[Symbol.asyncDispose]()
  await using client = clientOf(closed.baseUrl)
  const error = (await rejection(client.deleteUser(ALICE))) as ApiError
  expect(error).toMatchObject({ kind: 'unreachable', maybeDone: false })
  expect(error.message).toBe(
    `DELETE /api/v2/organizations/1/admin/directories/7/users/u1 at ${closed.baseUrl} failed: connection refused.`,
  )
})

test('an unknown host is named in words', async () => {
  await using client = clientOf('http://no-such-host.invalid', { retries: { attempts: 0 } })
  const error = await rejection(client.getDirectory({ directory_id: 7 }))
  expect(error).toMatchObject({ kind: 'unreachable' })
  expect((error as Error).message).toMatch(/the host name (is unknown|could not be looked up)/)
})

test('a server that does not speak TLS is named in words and not asked again', async () => {
  await using server = await startScriptedServer(() => ({ status: 200 }))
  await using client = clientOf(server.baseUrl.replace('http:', 'https:'))
  const error = await rejection(client.getDirectory({ directory_id: 7 }))
  expect((error as Error).message).toContain('does not speak TLS')
  expect(server.connections()).toBe(1)
})

test('an answer beyond all measure is not read to its end', async () => {
  const text = JSON.stringify(DIRECTORY).padStart(65 * 1024 * 1024)
  await using server = await startScriptedServer(() => ({ status: 200, text }))
  await using client = clientOf(server.baseUrl, { retries: { attempts: 0 } })
  expect(await rejection(client.getDirectory({ directory_id: 7 }))).toMatchObject({ kind: 'unreachable' })
})

test('silence is bounded', async () => {
  await using server = await startScriptedServer(() => 'silence')
  await using client = clientOf(server.baseUrl, { timeouts: { totalMs: 50 }, retries: { attempts: 1 } })
  const error = await rejection(client.updateUser(ALICE, { name: 'A' }))
  expect(error).toMatchObject({ kind: 'unreachable', maybeDone: true })
  expect((error as Error).message).toContain('no answer within 0.05 s')
})

test('an answer that came while the loop was blocked for longer than a request may take is read', async () => {
  const totalMs = 20_000
  await using server = await startScriptedServer(() => {
    globalThis.setImmediate(() => vi.advanceTimersByTime(totalMs))
    return { status: 200, json: user(1) }
  })
  await using client = clientOf(server.baseUrl, { timeouts: { totalMs }, retries: { attempts: 0 } })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    expect(await client.getUser(ALICE)).toMatchObject({ external_id: user(1).external_id })
  } finally {
    vi.useRealTimers()
  }
})

test('a call that is called off ends at once and leaves no listener', async () => {
  await using server = await startScriptedServer(() => 'silence')
  await using client = clientOf(server.baseUrl)
  const controller = new AbortController()
  const write = client.updateUser(
    ALICE,
    { name: 'A' },
    { signal: controller.signal, confirm: async () => undefined },
  )
  await server.waitForRequests(1)
  controller.abort(new Error('shutdown'))
  expect(await rejection(write)).toMatchObject({ kind: 'aborted', maybeDone: true })
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
})

test.each([
  ['while it waits for the budget', { limit: (): Promise<void> => new Promise(() => {}) }],
  ['while it waits for the token', { token: (): Promise<string> => new Promise(() => {}) }],
])('a call is called off %s', async (_, options) => {
  await using client = clientOf('http://127.0.0.1:1', options)
  const signal = AbortSignal.timeout(20)
  expect(await rejection(client.updateUser(ALICE, { name: 'A' }, { signal }))).toMatchObject({
    kind: 'aborted',
    maybeDone: false,
  })
})

test('a call is called off while it waits for a 429 and between attempts', async () => {
  await using server = await startScriptedServer((request) =>
    request.method === 'GET' ? { status: 429, headers: { 'retry-after': '60' } } : { status: 500 },
  )
  await using client = clientOf(server.baseUrl, { retries: { minDelayMs: 60_000, maxDelayMs: 60_000 } })
  const read = client.getUser(ALICE, { signal: AbortSignal.timeout(30) })
  expect(await rejection(read)).toMatchObject({ kind: 'aborted' })
  const write = client.deleteUser(ALICE, { signal: AbortSignal.timeout(30), confirm: async () => undefined })
  expect(await rejection(write)).toMatchObject({ kind: 'aborted', maybeDone: true })
})

test('a write that is called off while it waits for a connection is never sent', async () => {
  const answer = Promise.withResolvers<Reaction>()
  await using server = await startScriptedServer((request) =>
    request.method === 'GET' ? answer.promise : { status: 204 },
  )
  await using client = clientOf(server.baseUrl, { connections: 1 })
  const read = client.getUser(ALICE)
  await server.waitForRequests(1)
  const controller = new AbortController()
  const write = rejection(client.deleteUser(ALICE, { signal: controller.signal }))
  // The write reaches the queue of the only connection behind a few promises.
  await setImmediate()
  controller.abort(new Error('shutdown'))
  expect(await write).toMatchObject({ kind: 'aborted', maybeDone: false })
  answer.resolve({ status: 200, json: user(1) })
  await read
  await client.getDirectory({ directory_id: 7 }).catch(() => undefined)
  expect(server.seen.map(({ method }) => method)).not.toContain('DELETE')
})

test('a write that was done is a success even when its call is called off as the answer comes', async () => {
  await using server = await startScriptedServer(() => ({
    status: 204,
    headers: { 'x-token-expires-in': '1' },
  }))
  const controller = new AbortController()
  await using client = clientOf(server.baseUrl, {
    onTokenExpiry: () => controller.abort(new Error('shutdown')),
  })
  const write = client.deleteUser(ALICE, { signal: controller.signal })
  await expect(write).resolves.toMatchObject({ found: false, status: 204 })
  expect(controller.signal.aborted).toBe(true)
})

test('a signal that is aborted already sends nothing', async () => {
  await using server = await startScriptedServer(() => ({ status: 204 }))
  await using client = clientOf(server.baseUrl)
  expect(await rejection(client.deleteUser(ALICE, { signal: AbortSignal.abort() }))).toMatchObject({
    kind: 'aborted',
    maybeDone: false,
  })
  expect(server.seen).toEqual([])
})

test('the worst case is 20 requests: every look answers at its last attempt', async () => {
  let posts = 0
  let gets = 0
  await using server = await startScriptedServer((request) => {
    if (request.method === 'POST') return (posts += 1) % 2 === 1 && posts === 1 ? { status: 401 } : 'drop'
    gets += 1
    if (gets % 5 === 1) return { status: 401 }
    return gets % 5 === 0 ? { status: 404 } : { status: 500 }
  })
  let n = 0
  await using client = clientOf(server.baseUrl, { token: async () => `t${(n += 1)}` })
  const confirm = async (): Promise<undefined> => {
    await rejection(client.getUser(ALICE))
  }
  await rejection(client.createUsers({ directory_id: 7 }, [{ external_id: 'u1' }], { confirm }))
  expect(server.seen).toHaveLength(4 + 1 + 3 * (4 + 1))
})

test.each([
  ['ftp://x', 'absolute http or https'],
  ['nonsense', 'absolute http or https'],
  ['https://u:p@x', 'credentials'],
  ['https://x?q=1', 'query'],
])('the base URL %s is refused', (baseUrl, words) => {
  expect(() => clientOf(baseUrl)).toThrow(words)
})

test.each([undefined, null, '', 7])('the token %s is refused before anything is sent', (token) => {
  expect(() => clientOf('https://x.example', { token: token as never })).toThrow(
    new TypeError('the token must be a text that is not empty, or a function that returns one'),
  )
})

test.each([undefined, null, '', 7, 'two words'])(
  'the device id %s is refused before anything is sent',
  (deviceId) => {
    expect(() => clientOf('https://x.example', { deviceId: deviceId as never })).toThrow(
      new TypeError('the device id must be 1 to 255 visible ASCII characters'),
    )
  },
)

test('members are sent as a list, an empty one as one empty item', async () => {
  await using server = await startScriptedServer(() => ({ status: 200, json: group('g') }))
  await using client = clientOf(server.baseUrl)
  const params = { directory_id: 7, external_id: 'g' }
  await client.updateGroup(params, { external_member_ids: ['a', 'b'], name: 'G' })
  await client.updateGroup(params, { external_member_ids: [], name: 'G' })
  expect(server.seen.map((request) => decodeURIComponent(request.body))).toEqual([
    'name=G&external_member_ids[]=a&external_member_ids[]=b',
    'name=G&external_member_ids[]=',
  ])
})
