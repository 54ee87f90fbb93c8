import { expect, test } from 'vitest'
import { listCases } from '../../../../src/api/conformance/cases/lists.ts'
import { openConformance } from '../../../../src/api/conformance/conformance.ts'
import { tryCase } from '../../../../src/api/conformance/try-case.ts'
import { Session } from '../../../../src/api/conformance/session.ts'
import { endpoints } from '../../../../src/api/contract/endpoints.ts'
import { DIRECTORY, json, never, serviceAt, startService } from './fake-service.ts'

test.each([
  [401, 'token-refused', /refuses the token \(401\)/],
  [404, 'directory-unknown', /has no directory 7 in organization 1/],
])('where the service answers %i nothing can be learned', async (status, code, message) => {
  await using service = await startService((_request, response) => json(response, status, {}))
  const opening = openConformance(serviceAt(service.baseUrl), never)
  await expect(opening).rejects.toMatchObject({ code, message: expect.stringMatching(message) as unknown })
})

test('a service that is away is one sentence', async () => {
  const opening = openConformance(serviceAt('http://127.0.0.1:9'), never)
  await expect(opening).rejects.toMatchObject({
    code: 'directory-unreachable',
    message: 'http://127.0.0.1:9 does not answer: connection refused.',
  })
})

test('a request that meets a limit is sent again', async () => {
  let limited = 0
  await using service = await startService((_request, response) => {
    limited += 1
    if (limited === 1) json(response, 429, {}, { 'retry-after': '0' })
    else json(response, 200, DIRECTORY)
  })
  const conformance = await openConformance(serviceAt(service.baseUrl), never)
  const { value } = await conformance.check('getDirectory').next()
  expect(value).toMatchObject({ probe: 'good', state: 'ok' })
  await conformance.close()
})

test('every request waits for the budget', async () => {
  let waited = 0
  await using service = await startService((_request, response) => json(response, 200, DIRECTORY))
  const limit = async () => void (waited += 1)
  const conformance = await openConformance(serviceAt(service.baseUrl, { limit }), never)
  await conformance.check('getDirectory').next()
  expect(waited).toBe(service.asked.length)
  await conformance.close()
})

test('what an interrupted check has made is removed', async () => {
  const interrupt = new AbortController()
  await using service = await startService((request, response) => {
    if (request.method === 'POST') interrupt.abort(new Error('interrupted'))
    json(response, request.method === 'POST' ? 201 : 200, DIRECTORY)
  })
  const conformance = await openConformance(serviceAt(service.baseUrl, { writes: true }), interrupt.signal)
  await expect(Array.fromAsync(conformance.check('createUsers'))).rejects.toThrow('interrupted')
  expect(await conformance.close()).toEqual([])
  expect(service.asked.at(-1)).toMatch(/^DELETE \/7\/users\/dirsyncd-check-/)
})

test('what cannot be removed is told', async () => {
  await using service = await startService((request, response) => {
    const statuses: Record<string, number> = { POST: 201, DELETE: 403 }
    json(response, statuses[request.method ?? ''] ?? 200, DIRECTORY)
  })
  const conformance = await openConformance(serviceAt(service.baseUrl, { writes: true }), never)
  await conformance.check('createUsers').next()
  const left = await conformance.close()
  expect(left).not.toEqual([])
  for (const each of left) {
    expect(each).toMatch(/^dirsyncd-check-\S+ could not be removed: the service answered 403$/)
  }
})

test('a token that an answer repeats is not passed on', async () => {
  let opened = false
  await using service = await startService((request, response) => {
    json(
      response,
      200,
      DIRECTORY,
      opened ? { 'x-token-expires-in': String(request.headers.authorization) } : {},
    )
  })
  const conformance = await openConformance(serviceAt(service.baseUrl), never)
  opened = true
  const { value } = await conformance.check('getDirectory').next()
  expect(JSON.stringify(value)).toContain('[token]')
  expect(JSON.stringify(value)).not.toContain('secret-token')
  await conformance.close()
})

test('a list that the token may not see leaves the rest of its endpoints unchecked', async () => {
  await using service = await startService((request, response) => {
    if (request.url?.includes('/subscriptions') === true) json(response, 403, {})
    else json(response, 200, DIRECTORY)
  })
  const conformance = await openConformance(serviceAt(service.baseUrl), never)
  const results = await Array.fromAsync(conformance.check('getSubscription'))
  const reason = 'the service answered 403 to #13: the token seems to lack the scope USER_READ'
  expect(results[0]).toMatchObject({ probe: 'good', state: 'not-checked', reason })
  expect(results.find(({ probe }) => probe === 'unknown subscription')).toMatchObject({ reason })
  await conformance.close()
})

test.each(['listSubscriptions', 'listEvents'] as const)(
  '%s without a list is a difference',
  async (operation) => {
    await using service = await startService((_request, response) => json(response, 200, DIRECTORY))
    const conformance = await openConformance(serviceAt(service.baseUrl), never)
    const { value } = await conformance.check(operation).next()
    const difference = { expected: 'a body as described', actual: 'expected array, received object' }
    expect(value).toMatchObject({ probe: 'good', state: 'differs', differences: [difference] })
    await conformance.close()
  },
)

interface Named {
  readonly external_id: string
  readonly name: string
}

function namedIn(form: string): readonly Named[] {
  const fields = [...new URLSearchParams(form)]
  const ids = fields.filter(([key]) => key === 'users[][external_id]')
  const names = fields.filter(([key]) => key === 'users[][name]')
  return ids.map(([, id], index) => ({ external_id: id, name: names[index]?.[1] ?? '' }))
}

test.each([
  ['creates each', (list: readonly Named[]) => list, undefined],
  ['refuses lists', () => undefined, '400'],
  [
    'creates only the first',
    ([first]: readonly Named[]) => [first!],
    '201, and afterwards 404 for one of them and 404 for one of them',
  ],
  [
    'gives each the name of the first',
    ([first, ...others]: readonly Named[]) => [
      first!,
      ...others.map((each) => ({ ...each, name: first!.name })),
    ],
    '201, and afterwards the name "Check of the API, user 1" and the name "Check of the API, user 1"',
  ],
] satisfies [string, (list: readonly Named[]) => readonly Named[] | undefined, string | undefined][])(
  'a service that %s, given three entries in one request',
  async (_, create, actual) => {
    const users = new Map<string, Named>()
    await using service = await startService((request, response) => {
      const id = decodeURIComponent(/\/users\/(.+)$/.exec(request.url ?? '')?.[1] ?? '')
      if (request.method === 'POST') {
        let body = ''
        request.setEncoding('utf8').on('data', (part: string) => (body += part))
        request.on('end', () => {
          const list = namedIn(body)
          const created = list.length > 1 ? create(list) : list
          for (const user of created ?? []) users.set(user.external_id, user)
          json(response, created === undefined ? 400 : 201, [])
        })
      } else if (request.method === 'DELETE') json(response, users.delete(id) ? 200 : 404, {})
      else if (id === '') json(response, 200, DIRECTORY)
      else json(response, users.has(id) ? 200 : 404, users.get(id) ?? {})
    })
    await using session = new Session(serviceAt(service.baseUrl, { writes: true }), never)
    const row = { operation: 'createUsers', endpoint: endpoints.createUsers } as const
    const [each] = listCases(row)
    const result = await tryCase(session, row, each!)
    expect(result).toMatchObject({ state: 'ok', differences: [] })
    expect(result.unstated?.actual).toBe(actual)
    expect(await session.clean()).toEqual([])
    expect(users.size).toBe(0)
  },
)
