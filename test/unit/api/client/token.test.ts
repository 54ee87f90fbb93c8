import { expect, test } from 'vitest'
import { clientOf, rejection, user } from './fixtures.ts'
import { inOrder, type Reaction, startScriptedServer } from './scripted-server.ts'

const ALICE = { directory_id: 7, external_id: 'u1' }
const OK: Reaction = { status: 200, json: user(1) }

/** A loader that returns these tokens one after the other, and with which argument it was called. */
function recordedLoader(...tokens: readonly (string | Error)[]) {
  const calls: boolean[] = []
  async function token(reload: boolean): Promise<string> {
    const next = tokens[Math.min(calls.push(reload), tokens.length) - 1]
    if (next instanceof Error) throw next
    return next ?? ''
  }
  return { calls, token }
}

test('the loader is called before each request, also before a retry and after a wait for a 429', async () => {
  const limited: Reaction = { status: 429, headers: { 'retry-after': '0' } }
  await using server = await startScriptedServer(inOrder({ status: 500 }, limited, OK, OK))
  const { calls, token } = recordedLoader('a', 'b', 'c', 'd')
  await using client = clientOf(server.baseUrl, { token })
  await client.getUser(ALICE)
  await client.getUser(ALICE)
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
    'token a',
    'token b',
    'token c',
    'token d',
  ])
  expect(calls).toEqual([false, false, false, false])
})

test('after a 401 the loader is asked again, and only for the same token to load a new one', async () => {
  await using server = await startScriptedServer(inOrder({ status: 401 }, OK, OK))
  const { calls, token } = recordedLoader('old', 'old', 'new', 'old')
  await using client = clientOf(server.baseUrl, { token })
  await client.getUser(ALICE)
  expect(calls).toEqual([false, false, true])
  // The client keeps no token: what the loader returns now is sent.
  await client.getUser(ALICE)
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
    'token old',
    'token new',
    'token old',
  ])
})

test('after a 401 a token that changed meanwhile is sent without loading it again', async () => {
  await using server = await startScriptedServer(inOrder({ status: 401 }, OK))
  const { calls, token } = recordedLoader('old', 'new')
  await using client = clientOf(server.baseUrl, { token })
  await client.getUser(ALICE)
  expect(calls).toEqual([false, false])
})

test('a loader that throws ends the call with its error, without a retry', async () => {
  await using server = await startScriptedServer(() => ({ status: 401 }))
  const mine = new Error('no token file')
  for (const [tokens, calls] of [
    [[mine], [false]],
    [
      ['old', mine],
      [false, false],
    ],
    [
      ['old', 'old', mine],
      [false, false, true],
    ],
  ] as const) {
    const loader = recordedLoader(...tokens)
    await using client = clientOf(server.baseUrl, { token: loader.token })
    expect(await rejection(client.getUser(ALICE))).toBe(mine)
    expect(loader.calls).toEqual(calls)
  }
})

test('a load that fails after a 401 fails all the calls that wait for it, and the next 401 loads again', async () => {
  await using server = await startScriptedServer(({ headers }) =>
    headers.authorization === 'token new' ? OK : { status: 401 },
  )
  const first = Promise.withResolvers<string>()
  let loads = 0
  const token = (reload: boolean): Promise<string> => {
    if (!reload) return Promise.resolve('old')
    loads += 1
    return loads === 1 ? first.promise : Promise.resolve('new')
  }
  await using client = clientOf(server.baseUrl, { token })
  const calls = Promise.all([client.getUser(ALICE), client.getUser(ALICE)].map(rejection))
  await server.waitForRequests(2)
  const mine = new Error('the vault is sealed')
  setTimeout(() => first.reject(mine), 50)
  expect(await calls).toEqual([mine, mine])
  expect(loads).toBe(1)
  expect(await client.getUser(ALICE)).toMatchObject({ id: 1 })
  expect(loads).toBe(2)
})
