import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { createLog } from '../../../../src/base/log/log.ts'
import { clientOf, rejection, SECRET } from './fixtures.ts'
import { inOrder, startScriptedServer } from './scripted-server.ts'

const PASSWORD = 'planted-password-0815'
const PARAMS = { subscription_id: 101 }

/** Everything that a careless program could print of an error. */
function shownOf(error: unknown): string {
  const { log, lines } = recorder()
  log.error({ err: error }, 'failed')
  return [
    String(error),
    inspect(error, { depth: 10, showHidden: true }),
    JSON.stringify(error),
    ...lines,
  ].join('\n')
}

function recorder() {
  const lines: string[] = []
  return {
    lines,
    log: createLog('debug', { destination: { write: (line: string) => void lines.push(line) } }),
  }
}

test('nothing that was answered or sent as a secret reaches the log', async () => {
  const { log, lines } = recorder()
  await using server = await startScriptedServer(
    inOrder(
      { status: 200, json: { login: 'ada', password: PASSWORD }, headers: { 'x-token-expires-in': '60' } },
      { status: 200, json: { saml_response: PASSWORD } },
      { status: 200, json: { password: PASSWORD } },
      { status: 429, headers: { 'retry-after': '0' } },
      { status: 500, json: { detail: PASSWORD } },
      { status: 200, json: [] },
    ),
  )
  await using client = clientOf(server.baseUrl, { log })
  expect((await client.readCredentials(PARAMS)).value).toMatchObject({ password: PASSWORD })
  await client.createAssertion(PARAMS, { RelayState: PASSWORD })
  await client.resetPassword(PARAMS)
  await client.listDirectories()
  // What is said is what went on: the token expires soon, a wait, a repetition.
  expect(lines).toHaveLength(3)
  expect(lines.join('')).not.toMatch(new RegExp(`${PASSWORD}|${SECRET}`))
})

test('the client itself shows no token', async () => {
  for (const token of [SECRET, async () => SECRET]) {
    await using server = await startScriptedServer(() => ({ status: 404 }))
    await using client = clientOf(server.baseUrl, { token })
    await rejection(client.readCredentials(PARAMS))
    expect(inspect(client, { depth: 10, showHidden: true }) + JSON.stringify(client)).not.toContain(SECRET)
  }
})

/** Answers with these very bytes, whatever is asked. */
async function serveBytes(bytes: string) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(bytes))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}

test.each([
  ['is no HTTP', `{"password":"${PASSWORD}"}`],
  ['has a broken header', `HTTP/1.1 200 OK\r\nbad header ${PASSWORD}\r\n\r\n`],
  ['has two lengths', `HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n"${PASSWORD}"`],
  ['has a broken chunk', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz${PASSWORD}\r\n`],
])('an answer that %s is not repeated by the error', async (_, bytes) => {
  await using server = await serveBytes(bytes)
  await using client = clientOf(server.baseUrl, { retries: { attempts: 0 } })
  const read = await rejection(client.getSubscription(PARAMS))
  expect(read).toMatchObject({ kind: 'unreachable' })
  expect(shownOf(read)).not.toContain(PASSWORD)
  const write = await client.readCredentials(PARAMS).catch((error: unknown) => error)
  expect(shownOf(write)).not.toContain(PASSWORD)
})

test('an answer of another shape is named by its field, not by its value', async () => {
  const json = { id: PASSWORD, name: [PASSWORD] }
  await using server = await startScriptedServer(() => ({ status: 200, json }))
  await using client = clientOf(server.baseUrl)
  const error = await rejection(client.getDirectory({ directory_id: 7 }))
  expect(error).toMatchObject({ kind: 'unexpected-answer' })
  expect(shownOf(error)).not.toContain(PASSWORD)
})
