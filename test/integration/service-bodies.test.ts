import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { request } from 'undici'
import { describe, expect, test } from 'vitest'
import type { Operation } from '../../src/api/contract/endpoints.ts'
import { createLog } from '../../src/base/log/log.ts'
import { type ApiRequest, ask, problem } from '../contract/api.ts'
import { FIXTURE } from '../support/fixture.ts'
import { startForTest } from '../support/service.ts'
import { eventually } from '../support/eventually.ts'

const KIB = 1024

/** A body of as many bytes. */
function bodyOf(type: 'form' | 'json', bytes: number): Pick<ApiRequest, 'form' | 'json'> {
  const name = 'x'.repeat(1000)
  if (type === 'json') return { json: { name: 'x', unknown: 'x'.repeat(bytes - 25) } }
  const form = `a=${name}&`.repeat(Math.floor(bytes / 1003))
  return { form: form + 'x'.repeat(bytes - form.length) }
}

describe('a body', () => {
  test.each<[Operation, 'form' | 'json', number]>([
    ['createUsers', 'form', 1024 * KIB],
    ['createUsers', 'json', 1024 * KIB],
    ['updateUser', 'form', 64 * KIB],
    ['updateUser', 'json', 64 * KIB],
    ['createGroups', 'form', 16_384 * KIB],
    ['createGroups', 'json', 1024 * KIB],
    ['updateGroup', 'form', 16_384 * KIB],
    ['updateGroup', 'json', 1024 * KIB],
    ['deleteGroup', 'form', 64 * KIB],
    ['updateSubscription', 'json', 64 * KIB],
    ['createAssertion', 'form', 64 * KIB],
    ['readCredentials', 'json', 64 * KIB],
    ['resetPassword', 'form', 64 * KIB],
  ])('of %s may have as much as it needs: %s, %i bytes', async (operation, type, limit) => {
    const running = await startForTest({})
    const { status } = await ask(running, operation, bodyOf(type, limit))
    expect(status).not.toBe(413)
    expect(await ask(running, operation, bodyOf(type, limit + 1))).toMatchObject(problem(413))
  })

  test('without a length is refused where it becomes too large', async () => {
    const running = await startForTest({})
    const sent = request(`${running.baseUrl}/api/v2/organizations/1/admin/directories/7/groups`, {
      method: 'POST',
      headers: {
        authorization: `token ${FIXTURE.token}`,
        'x-device-id': 'd',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: Readable.from(Array.from({ length: 300 }, () => `a=${'x'.repeat(60_000)}&`)),
    })
    expect((await sent).statusCode).toBe(413)
    expect((await ask(running, 'listGroups')).status).toBe(200)
  })

  test('with a fault at its beginning is read to its end, or the client would lose the answer', async () => {
    const running = await startForTest({})
    const socket = connect(Number(new URL(running.baseUrl).port), '127.0.0.1')
    let answer = ''
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
    socket.write(
      `POST /api/v2/organizations/1/admin/directories/7/groups HTTP/1.1\r\nHost: x\r\nX-Device-Id: d\r\n` +
        `Authorization: token ${FIXTURE.token}\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
        `Content-Length: 200000\r\n\r\na[=1&${'b'.repeat(100_000)}`,
    )
    const [{ socket: received }] = (await once(running.app.server, 'request')) as [IncomingMessage]
    await expect.poll(() => received.bytesRead).toBeGreaterThan(100_000)
    // An answer would have come before that of a later request.
    expect((await ask(running, 'listGroups')).status).toBe(200)
    expect(answer).toBe('')
    socket.write('b'.repeat(200_000 - 100_005))
    await eventually(() => expect(answer).toContain('not well-formed'))
    socket.destroy()
  })

  test('that ends too early is nobody else’s fault, and nothing is done', async () => {
    const lines: string[] = []
    const log = createLog('debug', { destination: { write: (line) => void lines.push(line) } })
    const running = await startForTest({ log })
    const socket = connect(Number(new URL(running.baseUrl).port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(
      `POST /api/v2/organizations/1/admin/directories/7/users HTTP/1.1\r\nHost: x\r\nX-Device-Id: d\r\n` +
        `Authorization: token ${FIXTURE.token}\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
        `Content-Length: 100\r\n\r\nusers[][external_id]=early&`,
    )
    const [{ socket: received }] = (await once(running.app.server, 'request')) as [IncomingMessage]
    await expect.poll(() => received.bytesRead).toBe(socket.bytesWritten)
    socket.destroy()
    await eventually(() => expect(running.requests()).toMatchObject([{ status: null, done: false }]))
    expect(lines).toEqual([])
    expect(await ask(running, 'getUser', { externalId: 'early' })).toMatchObject(problem(404))
  })

  test.each([
    ['lists', '['.repeat(900_000)],
    ['lists that are closed', '['.repeat(400_000) + ']'.repeat(400_000)],
    ['objects', '{"a":'.repeat(21)],
    ['lists below a string with brackets', `{"a":"]]\\"]]","b":${'['.repeat(20)}`],
  ])('of JSON with deep %s is refused before it is parsed', async (_what, json) => {
    const running = await startForTest({})
    const headers = { 'content-type': 'application/json' }
    const answer = await ask(running, 'createUsers', { form: json, headers })
    expect(answer).toMatchObject(problem(400))
    expect(answer.body).toMatchObject({ detail: 'The body is nested deeper than 20 levels.' })
  })

  test('of JSON may hold brackets in a string', async () => {
    const running = await startForTest({})
    const user = { external_id: '['.repeat(50), name: '"{{{{{{{{{{{{{{{{{{{{{{{{{{{' }
    expect((await ask(running, 'createUsers', { json: { users: [user] } })).body).toMatchObject([user])
  })

  test.each(['application/json', 'application/x-www-form-urlencoded'])(
    'of %s that is not UTF-8 is refused',
    async (type) => {
      const running = await startForTest({})
      const url = `${running.baseUrl}/api/v2/organizations/1/admin/directories/7/users`
      const body = type.endsWith('json') ? '{"users":[{"name":"\xff"}]}' : 'users[][name]=\xff'
      const headers = { authorization: `token ${FIXTURE.token}`, 'x-device-id': 'd', 'content-type': type }
      const answer = await fetch(url, { method: 'POST', headers, body: Buffer.from(body, 'latin1') })
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ detail: expect.stringContaining('UTF-8') })
    },
  )

  describe.each([
    ['application/json', { json: { users: [{ external_id: 'x' }] } }],
    ['application/x-www-form-urlencoded', { form: 'users[][external_id]=x' }],
  ])('of %s', (type, body) => {
    test('is refused in another charset than UTF-8', async () => {
      const running = await startForTest({})
      for (const charset of ['utf-16', '"UTF-16LE"', 'iso-8859-1', 'nonsense']) {
        const headers = { 'content-type': `${type}; charset=${charset}` }
        const answer = await ask(running, 'createUsers', { ...body, headers })
        expect(answer).toMatchObject(problem(415))
        expect(answer.body).toMatchObject({
          detail: 'The body must be UTF-8, and Content-Type may name no other charset.',
        })
        // Without a body there is nothing in that charset.
        expect((await ask(running, 'listUsers', { headers })).status).toBe(200)
      }
    })

    test('is taken with UTF-8, or with another parameter, behind its type', async () => {
      const running = await startForTest({ uniqueExternalIds: false })
      for (const more of ['; Charset="UTF-8"', ';charset=us-ascii', '; charset=utf8', '; x=utf-16']) {
        const headers = { 'content-type': `${type}${more}` }
        expect((await ask(running, 'createUsers', { ...body, headers })).status).toBe(201)
      }
    })
  })

  test.each<[string, ApiRequest, number]>([
    ['empty members', { form: `name=G&${'external_member_ids[]=&'.repeat(200_000)}` }, 422],
    ['members that are ".."', { form: `name=G&${'external_member_ids[]=..&'.repeat(200_000)}` }, 422],
    ['objects as members', { form: `name=G&${'external_member_ids[][a]=1&'.repeat(200_000)}` }, 400],
    ['numbers as members', { json: { name: 'G', external_member_ids: Array(200_000).fill(1) } }, 400],
  ])('with 200,000 %s gets an answer that names a hundred', async (_what, body, status) => {
    const running = await startForTest({})
    const answer = await ask(running, 'updateGroup', body)
    expect(answer.status).toBe(status)
    const { errors, detail } = answer.body as { errors: { field: string }[]; detail: string }
    expect(errors).toHaveLength(100)
    expect(errors[99]?.field).toBe('external_member_ids[99]')
    expect(detail).toMatch(/, and many more\.$/)
  })

  test('a fault far down a list has its own place', async () => {
    const running = await startForTest({})
    const ids = Array.from({ length: 5000 }, (_, index) => (index === 4321 ? '' : `m${index}`))
    const groups = [
      { external_id: 'a', name: 'A' },
      { external_id: 'b', name: 'B', external_member_ids: ids },
    ]
    expect(await ask(running, 'createGroups', { json: { groups } })).toMatchObject(
      problem(422, ['groups[1].external_member_ids[4321]']),
    )
  })
})
