import { getEventListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ApiError } from '../../../../src/api/client/api-error.ts'
import type { ClientOptions } from '../../../../src/api/client/options.ts'
import { clientOf, rejection, user } from './fixtures.ts'
import { type Reaction, startScriptedServer } from './scripted-server.ts'

const ALICE = { directory_id: 7, external_id: 'u1' }

test('a call after close says that the client is closed, and asks for no token', async () => {
  await using server = await startScriptedServer(() => ({ status: 200, json: user(1) }))
  const token = vi.fn<() => Promise<string>>(async () => 't')
  const client = clientOf(server.baseUrl, { token })
  await client.close()
  await client.close()
  const calls = [
    client.getUser(ALICE),
    client.deleteUser(ALICE, { confirm: async () => 'done' }),
    client.each.listUsers({ directory_id: 7 }).next(),
  ]
  for (const call of calls) {
    const error = (await rejection(call)) as ApiError
    expect(error).toMatchObject({ kind: 'closed', transient: false, maybeDone: false })
    expect(error.cause).toBeUndefined()
    expect(error.message).toMatch(/^(GET|DELETE) \/api\/v2\/.* failed: the client is closed\.$/)
  }
  expect(server.seen).toEqual([])
  expect(token).not.toHaveBeenCalled()
})

test('close ends the requests under way, and a write among them may be done', async () => {
  await using server = await startScriptedServer(() => 'silence')
  const client = clientOf(server.baseUrl)
  const read = rejection(client.getUser(ALICE))
  const write = rejection(client.updateUser(ALICE, { name: 'A' }))
  await server.waitForRequests(2)
  await client.close()
  expect(await read).toMatchObject({ kind: 'closed', maybeDone: false })
  expect(await write).toMatchObject({ kind: 'closed', maybeDone: true })
})

test('a write that waits for a connection when the client is closed is not done', async () => {
  const answer = Promise.withResolvers<Reaction>()
  await using server = await startScriptedServer(() => answer.promise)
  const client = clientOf(server.baseUrl, { connections: 1 })
  const read = rejection(client.getUser(ALICE))
  await server.waitForRequests(1)
  const write = rejection(client.deleteUser(ALICE))
  await setImmediate()
  await client.close()
  expect(await write).toMatchObject({ kind: 'closed', maybeDone: false })
  expect(await read).toMatchObject({ kind: 'closed' })
  answer.resolve({ status: 204 })
  expect(server.seen).toHaveLength(1)
})

const HOUR = 3_600_000
const SLOW = { minDelayMs: HOUR, maxDelayMs: HOUR }

/** A point that a call reaches and at which it then waits for ever. */
function waitingPoint() {
  const { promise: reached, resolve } = Promise.withResolvers<void>()
  const waitForever = (): Promise<never> => {
    resolve()
    return new Promise(() => undefined)
  }
  const log = { debug: () => resolve(), warn: () => undefined }
  return { reached, waitForever, log }
}

type Point = ReturnType<typeof waitingPoint>

test.each<[string, Reaction, (point: Point) => Partial<ClientOptions>]>([
  ['a retry', { status: 500 }, ({ log }) => ({ log })],
  ['the end of a 429', { status: 429, headers: { 'retry-after': '60' } }, ({ log }) => ({ log })],
  [
    'a shared pause',
    { status: 200 },
    ({ waitForever }) => ({ pause: { begin: async () => undefined, over: waitForever } }),
  ],
  ['the limiter', { status: 200 }, ({ waitForever }) => ({ limit: waitForever })],
  ['the token', { status: 200 }, ({ waitForever }) => ({ token: waitForever })],
])('a call that waits for %s ends when the client is closed', async (_, reaction, optionsOf) => {
  await using server = await startScriptedServer(() => reaction)
  const point = waitingPoint()
  const client = clientOf(server.baseUrl, { ...optionsOf(point), retries: SLOW })
  const read = rejection(client.getUser(ALICE))
  await point.reached
  await client.close()
  expect(await read).toMatchObject({ kind: 'closed', maybeDone: false })
})

test('a write whose answer was lost may be done when the client is closed before the retry', async () => {
  await using server = await startScriptedServer(() => 'drop')
  const { reached, log } = waitingPoint()
  const client = clientOf(server.baseUrl, { log, retries: SLOW })
  const write = rejection(client.deleteUser(ALICE, { confirm: async () => undefined }))
  await reached
  await client.close()
  expect(await write).toMatchObject({ kind: 'closed', maybeDone: true })
})

test('a client that stays open keeps nothing of a call that ended', async () => {
  await using server = await startScriptedServer(() => ({ status: 200, json: user(1) }))
  await using client = clientOf(server.baseUrl)
  const added = vi.spyOn(AbortSignal.prototype, 'addEventListener')
  onTestFinished(() => void vi.restoreAllMocks())
  await client.getUser(ALICE, { signal: new AbortController().signal })
  const signals = new Set(added.mock.contexts as AbortSignal[])
  expect(signals.size).toBeGreaterThanOrEqual(2)
  expect([...signals].flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([])
})
