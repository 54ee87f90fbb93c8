import { expect, test } from 'vitest'
import type { PagedOperation } from '../../../../src/api/client/methods.ts'
import { type Endpoint, endpoints } from '../../../../src/api/contract/endpoints.ts'
import { clientOf, rejection } from './fixtures.ts'
import { ITEMS, subscription } from './items.ts'
import { inOrder, type Reaction, startScriptedServer } from './scripted-server.ts'

const rows: readonly (readonly [string, Endpoint])[] = Object.entries(endpoints)
const paged = rows.flatMap(([name, { paged: isPaged }]) => (isPaged === undefined ? [] : [name]))

test('there is a method for each endpoint and an iterator for each list, and no other', async () => {
  await using client = clientOf('http://127.0.0.1:1')
  const methods = Object.entries(client).flatMap(([name, value]) =>
    typeof value === 'function' ? [name] : [],
  )
  expect(methods.toSorted()).toEqual(Object.keys(endpoints).toSorted())
  expect(Object.keys(client.each).toSorted()).toEqual(paged.toSorted())
})

test('methods need no this', async () => {
  await using server = await startScriptedServer(() => ({ status: 200, json: [] }))
  await using client = clientOf(server.baseUrl)
  const { listDirectories } = client
  expect((await listDirectories()).items).toEqual([])
})

test.each(Object.entries(ITEMS))('%s gives every item of three pages once', async (operation, item) => {
  // The third page begins with what the second one ended with.
  const pages = [[1, 2], [3, 4], [4, 5], []].map((ids) => ids.map(item))
  await using server = await startScriptedServer((request) => {
    const page = Number(/[?&]page=(\d+)/.exec(request.url)?.[1])
    return { status: 200, json: pages[page - 1] ?? [] }
  })
  await using client = clientOf(server.baseUrl)
  const each = client.each[operation as PagedOperation] as typeof client.each.listUsers
  const read = await Array.fromAsync(each({ directory_id: 7 }, { perPage: 2 }))
  expect(read).toEqual([1, 2, 3, 4, 5].map(item))
  expect(server.seen.map(({ url }) => url.replace(/.*\?/, ''))).toEqual(
    [1, 2, 3, 4].map((page) => `page=${page}&per_page=2`),
  )
})

test('an iterator keeps the filters on every page, and ends with its signal', async () => {
  await using server = await startScriptedServer((request) => ({
    status: 200,
    json: [ITEMS.listEvents(request.url.includes('page=1&') ? 1 : 2)],
    headers: { total: '3', 'per-page': '1' },
  }))
  await using client = clientOf(server.baseUrl)
  const controller = new AbortController()
  const events = client.each.listEvents(
    { filters: { type: 'a,b', contact_id: 12 } },
    { perPage: 1, signal: controller.signal },
  )
  await events.next()
  await events.next()
  controller.abort(new Error('enough'))
  expect(await rejection(events.next())).toMatchObject({ kind: 'aborted', operation: 'listEvents' })
  expect(server.seen.map(({ url }) => url.replace(/.*\?/, ''))).toEqual(
    [1, 2].map((page) => `filters%5Btype%5D=a%2Cb&filters%5Bcontact_id%5D=12&page=${page}&per_page=1`),
  )
})

test('all on one page is one request, however many there are', async () => {
  const items = Array.from({ length: 150 }, (_, index) => subscription(index))
  const headers = { total: '150', 'per-page': '100' }
  await using server = await startScriptedServer(() => ({ status: 200, json: items, headers }))
  await using client = clientOf(server.baseUrl)
  expect(await Array.fromAsync(client.each.listSubscriptions({ all: true }))).toHaveLength(150)
  expect(server.seen.map(({ url }) => url)).toEqual([
    expect.stringContaining('?all=true&page=1&per_page=100'),
  ])
})

test.each([
  ['createAssertion', undefined, ''],
  ['createAssertion', { RelayState: 'a b&ü' }, 'RelayState=a+b%26%C3%BC'],
  ['readCredentials', undefined, ''],
  ['resetPassword', undefined, ''],
] as const)('%s with the form %j sends %j', async (operation, form, body) => {
  await using server = await startScriptedServer(() => ({ status: 200, json: { any: 'thing' } }))
  await using client = clientOf(server.baseUrl)
  const send = client[operation] as typeof client.createAssertion
  await send({ subscription_id: 5 }, form)
  expect(server.seen).toMatchObject([{ method: 'POST', body }])
})

test.each([
  ['no body', { status: 204 }],
  ['text', { status: 200, text: 'ok' }],
  ['a list', { status: 200, json: [] }],
  ['an answer that breaks off', 'drop-in-body'],
] satisfies [string, Reaction][])('a write that answers %s has no value and is done', async (_, reaction) => {
  await using server = await startScriptedServer(() => reaction)
  await using client = clientOf(server.baseUrl)
  const params = { subscription_id: 5 }
  for (const write of [client.createAssertion, client.readCredentials, client.resetPassword]) {
    expect(await write(params)).toMatchObject({ found: false, value: undefined, requests: 1 })
  }
})

test('the value of a write is what was answered', async () => {
  await using server = await startScriptedServer(
    inOrder({ status: 200, json: { login: 'a', password: 'b' } }, { status: 201, json: subscription(5) }),
  )
  await using client = clientOf(server.baseUrl)
  const { value } = await client.readCredentials({ subscription_id: 5 })
  expect(value).toEqual({ login: 'a', password: 'b' })
  expect(await client.resetPassword({ subscription_id: 5 })).toMatchObject({ status: 201, value: { id: 5 } })
})

test('a write waits for a 429 when it is told to, and not otherwise', async () => {
  const limited: Reaction = { status: 429, headers: { 'retry-after': '0' } }
  await using server = await startScriptedServer(inOrder(limited, limited, limited, { status: 204 }))
  await using client = clientOf(server.baseUrl)
  const params = { directory_id: 7, external_id: 'a' }
  expect(await rejection(client.deleteUser(params))).toMatchObject({ kind: 'rate-limited' })
  expect(await client.deleteUser(params, { whenLimited: 'wait' })).toMatchObject({ requests: 3 })
})

test('a token may be a text', async () => {
  await using server = await startScriptedServer(() => ({ status: 401 }))
  await using client = clientOf(server.baseUrl, { token: 'plain' })
  expect(await rejection(client.listDirectories())).toMatchObject({ kind: 'unauthorized' })
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['token plain'])
})
