import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Endpoint, endpoints, type Operation, PREFIX } from '../../src/api/contract/endpoints.ts'
import { FIXTURE } from '../support/fixture.ts'
import { type RunningService, startService } from '../support/service.ts'
import { ask, problem } from '../contract/api.ts'

let running: RunningService
beforeAll(async () => {
  running = await startService()
})
afterAll(() => running.close())

const CREDENTIALS = { authorization: `token ${FIXTURE.token}`, 'x-device-id': 'd' }
const LINES = `Authorization: token ${FIXTURE.token}\r\nX-Device-Id: d\r\nConnection: close\r\n`
const DIRECTORIES = '/api/v2/organizations/1/admin/directories'

/** What comes back for bytes that no client library would send. */
async function sendRaw(text: string): Promise<{ status: number; head: string; body: string }> {
  const socket = connect(Number(new URL(running.baseUrl).port), '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (part: string) => (answer += part))
  socket.write(text)
  await once(socket, 'close')
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body }
}

describe('the header Host', () => {
  test.each([
    ['is there twice', 'Host: a\r\nHost: a\r\n'],
    ['has a blank', 'Host: a b\r\n'],
    ['has a path', 'Host: a/b\r\n'],
    ['has a user', 'Host: me@a\r\n'],
    ['has a port that is no number', 'Host: a:b\r\n'],
    ['has two addresses', 'Host: a, b\r\n'],
    ['has half an IPv6 address', 'Host: [::1\r\n'],
    ['is missing', ''],
  ])('that %s is refused', async (_what, host) => {
    const { status, body } = await sendRaw(`GET ${DIRECTORIES} HTTP/1.1\r\n${host}${LINES}\r\n`)
    expect([status, JSON.parse(body)]).toMatchObject([400, { detail: expect.stringMatching(/header host/i) }])
  })

  test.each(['a', 'a.example:8090', '127.0.0.1', '[::1]:80', '', 'a_b', 'xn--bcher-kva.example'])(
    'that is "%s" is taken',
    async (host) => {
      const { status } = await sendRaw(`GET ${DIRECTORIES} HTTP/1.1\r\nHost: ${host}\r\n${LINES}\r\n`)
      expect(status).toBe(200)
    },
  )
})

test.each(['Authorization: token other', 'Content-Type: text/plain', 'content-type: application/json'])(
  'a header that is there twice is refused, whatever the second one says: %s',
  async (second) => {
    const { status, body } = await sendRaw(
      `POST ${DIRECTORIES}/7/users HTTP/1.1\r\nHost: x\r\n${LINES}Content-Type: application/json\r\n${second}\r\n` +
        'Content-Length: 2\r\n\r\n{}',
    )
    expect([status, JSON.parse(body)]).toMatchObject([
      400,
      { detail: expect.stringContaining('more than once') },
    ])
  },
)

test('a body with another transfer coding than chunked is refused', async () => {
  const { status, body } = await sendRaw(
    `POST ${DIRECTORIES}/7/users HTTP/1.1\r\nHost: x\r\n${LINES}Content-Type: application/json\r\n` +
      'Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  )
  expect([status, JSON.parse(body)]).toMatchObject([
    400,
    { detail: expect.stringContaining('Transfer-Encoding') },
  ])
})

test('what is not HTTP is answered with a status line that is', async () => {
  const { head } = await sendRaw('nonsense\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
})

test('a request may name its target with the whole address, and links do not repeat it', async () => {
  const path = `${DIRECTORIES}/${FIXTURE.directoryId}/users?per_page=1`
  const { status, head } = await sendRaw(
    `GET http://a.example${path} HTTP/1.1\r\nHost: a.example\r\n${LINES}\r\n`,
  )
  expect(status).toBe(200)
  expect(head).not.toContain('a.examplehttp')
})

describe('a method', () => {
  test.each<[string, string, string]>([
    ['PUT', DIRECTORIES, 'GET, HEAD'],
    ['DELETE', DIRECTORIES, 'GET, HEAD'],
    ['OPTIONS', DIRECTORIES, 'GET, HEAD'],
    ['PROPFIND', DIRECTORIES, 'GET, HEAD'],
    ['PUT', `${DIRECTORIES}/7/users`, 'GET, HEAD, POST'],
    ['POST', `${DIRECTORIES}/7/users/a%2Fb`, 'GET, HEAD, PATCH, DELETE'],
    ['GET', '/api/v2/organizations/1/subscriptions/1/credentials', 'POST'],
    ['HEAD', '/api/v2/organizations/1/subscriptions/1/credentials', 'POST'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['POST', '/openapi.json', 'GET, HEAD'],
    ['POST', '/docs', 'GET, HEAD'],
  ])('%s of %s is refused with 405, and the others are named', async (method, path, allowed) => {
    const { status, head } = await sendRaw(
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx`,
    )
    expect(status).toBe(405)
    expect(/^allow: (.*)$/im.exec(head)?.[1]).toBe(allowed)
    expect(head).toContain('application/problem+json')
  })

  test.each(['PUT', 'GET', 'PROPFIND'])('%s of an unknown path is 404', async (method) => {
    const { status } = await sendRaw(
      `${method} /api/v2/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    )
    expect(status).toBe(404)
  })

  const reading = (Object.keys(endpoints) as Operation[]).filter((name) => endpoints[name].method === 'GET')
  test.each(reading)('HEAD of %s has the headers of GET and no body', async (operation) => {
    const { path }: Endpoint = endpoints[operation]
    const url = `${running.baseUrl}${PREFIX}${path}`
      .replace('{organization_id}', '1')
      .replace('{directory_id}', '7')
      .replace('{subscription_id}', String(FIXTURE.samlSubscriptionId))
      .replace('{group_id}', String(FIXTURE.groupId))
      .replace('{external_id}', 'nobody')
    const get = await fetch(url, { headers: CREDENTIALS })
    const head = await fetch(url, { method: 'HEAD', headers: CREDENTIALS })
    expect([head.status, await head.text()]).toEqual([get.status, ''])
    for (const name of ['content-type', 'total', 'link', 'cache-control']) {
      expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)])
    }
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(401)
  })

  test.each(['/healthz', '/openapi.json', '/docs'])('HEAD of %s works', async (path) => {
    const answer = await fetch(`${running.baseUrl}${path}`, { method: 'HEAD' })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })
})

function usersUrl(): string {
  return `${running.baseUrl}${DIRECTORIES}/7/users`
}

describe('a body with a content coding', () => {
  const users = JSON.stringify({ users: [{ external_id: 'coded' }] })
  const json = { ...CREDENTIALS, 'content-type': 'application/json' }

  test('is refused, and the answer says what the service takes', async () => {
    const headers = { ...json, 'content-encoding': 'gzip' }
    const answer = await fetch(usersUrl(), { method: 'POST', headers, body: gzipSync(users) })
    expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'identity'])
  })

  test('is taken where it has none', async () => {
    const headers = { ...json, 'content-encoding': 'Identity' }
    expect((await fetch(usersUrl(), { method: 'POST', headers, body: users })).status).toBe(201)
  })

  test('is only looked at after the token', async () => {
    const headers = { 'content-encoding': 'gzip' }
    expect(await ask(running, 'createUsers', { token: null, headers, json: {} })).toMatchObject(problem(401))
  })

  test('does not matter where there is none', async () => {
    const headers = { 'content-encoding': 'gzip' }
    expect((await ask(running, 'listDirectories', { headers })).status).toBe(200)
  })
})
