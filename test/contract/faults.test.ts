import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { createRequestLog, type RequestLine } from '../../src/service/http/request-log.ts'
import { FIXTURE } from '../support/fixture.ts'
import { type RunningService, startForTest } from '../support/service.ts'
import { ask, problem } from './api.ts'
import { eventually } from '../support/eventually.ts'

const create = (running: RunningService, externalId: string) => {
  return ask(running, 'createUsers', { json: { users: [{ external_id: externalId }] } })
}

/** The user as the store has it, asked for past the faults. */
async function exists(running: RunningService, externalId: string): Promise<boolean> {
  const { rows } = await running.pool.query(
    'select 1 from access_management.external_users where external_id = $1',
    [externalId],
  )
  return rows.length > 0
}

/** Lets the service's next query but so many wait until it is released: 1 is the token's, 2 the work's. */
function holdConnect(pool: Pool, number: number): { reached: Promise<void>; release: () => void } {
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const original = pool.connect.bind(pool)
  let connects = 0
  const turn = async (): Promise<void> => {
    connects += 1
    if (connects !== number) return
    reached.resolve()
    await released.promise
  }
  // The pool itself connects with a callback, Kysely without one.
  const connect = async (callback?: Parameters<typeof original>[0]) => {
    await turn()
    return callback ? original(callback) : original()
  }
  Object.assign(pool, { connect })
  return { reached: reached.promise, release: released.resolve }
}

describe('faults', () => {
  test('500 answers a problem before the work', async () => {
    const running = await startForTest({ faults: '500=1' })
    expect(await create(running, 'a')).toMatchObject(problem(500))
    expect(await exists(running, 'a')).toBe(false)
    expect(running.requests()).toMatchObject([{ status: 500, done: false, fault: '500' }])
  })

  test('429 answers with Retry-After in whole seconds before the work', async () => {
    const running = await startForTest({ faults: '429=1:2500ms' })
    const answer = await create(running, 'a')
    expect(answer).toMatchObject(problem(429))
    expect(answer.headers.get('retry-after')).toBe('3')
    expect(await exists(running, 'a')).toBe(false)
  })

  test('latency delays the answer', async () => {
    const running = await startForTest({ faults: 'latency=1:300ms' })
    const begin = performance.now()
    expect((await create(running, 'a')).status).toBe(201)
    expect(performance.now() - begin).toBeGreaterThanOrEqual(299)
    expect(running.requests()).toMatchObject([{ status: 201, done: true, fault: 'latency' }])
  })

  test('drop-before cuts the connection and does nothing', async () => {
    const running = await startForTest({ faults: 'drop-before=1' })
    await expect(create(running, 'a')).rejects.toThrow('fetch failed')
    expect(await exists(running, 'a')).toBe(false)
    await eventually(() => {
      expect(running.requests()).toMatchObject([{ status: null, done: false, fault: 'drop-before' }])
    })
  })

  test('drop-after does the work and cuts the connection', async () => {
    const running = await startForTest({ faults: 'drop-after=1' })
    await expect(create(running, 'a')).rejects.toThrow('fetch failed')
    expect(await exists(running, 'a')).toBe(true)
    await expect(create(running, 'a')).rejects.toThrow('fetch failed')
    await eventually(() => {
      expect(running.requests()).toMatchObject([
        { method: 'POST', status: null, done: true, fault: 'drop-after' },
        { method: 'POST', status: null, done: false, fault: 'drop-after' },
      ])
    })
  })

  test('the health route has no faults, no limit and no line', async () => {
    const running = await startForTest({ faults: 'drop-before=1,limit=1/1h' })
    for (let index = 0; index < 3; index += 1) {
      expect((await fetch(`${running.baseUrl}/healthz`)).status).toBe(200)
    }
    expect(running.requests()).toEqual([])
  })

  test('a limit answers 429 to what is above it', async () => {
    const running = await startForTest({ faults: 'limit=5/1h' })
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(running, 'listUsers')))
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(5)
    const refused = answers.filter((answer) => answer.status === 429)
    expect(refused).toHaveLength(3)
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(3590)
    expect(running.requests().filter((line) => line.fault === 'limit')).toHaveLength(3)
  })
})

describe('the request log', () => {
  test('has a line of JSON for each request, as soon as it is answered, and never a token', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'dirsyncd-log-'))
    onTestFinished(() => rmSync(dir, { recursive: true }))
    const path = join(dir, 'requests.jsonl')
    const requestLog = createRequestLog(path, silentLog())
    onTestFinished(() => requestLog.close())
    const running = await startForTest({ requestLog })
    const before = Date.now()
    await create(running, 'a')
    await ask(running, 'listUsers', { query: '?page=1', deviceId: 'device-2' })
    await ask(running, 'deleteUser', { externalId: 'a/b' })
    await ask(running, 'listUsers', { token: null, deviceId: null })
    const read = () => readFileSync(path, 'utf8')
    await eventually(() => expect(read().split('\n')).toHaveLength(5))
    const lines = read()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RequestLine)
    const users = '/api/v2/organizations/1/admin/directories/7/users'
    expect(lines).toMatchObject([
      { method: 'POST', url: users, status: 201, done: true, deviceId: 'device' },
      { method: 'GET', url: `${users}?page=1`, status: 200, done: true, deviceId: 'device-2' },
      { method: 'DELETE', url: `${users}/a%2Fb`, status: 404, done: false, deviceId: 'device' },
      { method: 'GET', url: users, status: 401, done: false, deviceId: null },
    ])
    expect(lines.every((line, index) => line.at >= (lines[index - 1]?.at ?? before - 1))).toBe(true)
    expect(read()).not.toContain(FIXTURE.token)
  })

  test('says what was done for a client that did not wait for the answer', async () => {
    const running = await startForTest({})
    // The first request notes the contact's activity as well, with a query of its own.
    await ask(running, 'listDirectories')
    const { reached, release } = holdConnect(running.pool, 2)
    const gone = new AbortController()
    const received = once(running.app.server, 'request') as Promise<[IncomingMessage]>
    const request = fetch(`${running.baseUrl}/api/v2/organizations/1/admin/directories/7/users`, {
      method: 'POST',
      headers: { authorization: `token ${FIXTURE.token}`, 'x-device-id': 'device' },
      body: new URLSearchParams({ 'users[][external_id]': 'left' }),
      signal: gone.signal,
    })
    const [{ socket }] = await received
    await reached
    const closed = once(socket, 'close')
    gone.abort()
    await expect(request).rejects.toThrow('aborted')
    await closed
    expect(running.requests()).toHaveLength(1)
    release()
    await eventually(() => expect(running.requests()).toMatchObject([{}, { status: null, done: true }]))
    expect(await exists(running, 'left')).toBe(true)
  })

  test('says that nothing was done for a client that had gone before the work', async () => {
    const running = await startForTest({})
    await create(running, 'stays')
    const { reached, release } = holdConnect(running.pool, 1)
    const gone = new AbortController()
    const request = fetch(`${running.baseUrl}/api/v2/organizations/1/admin/directories/7/users/stays`, {
      method: 'DELETE',
      headers: { authorization: `token ${FIXTURE.token}`, 'x-device-id': 'device' },
      signal: gone.signal,
    })
    await reached
    gone.abort()
    await expect(request).rejects.toThrow('aborted')
    await eventually(() => expect(running.requests()).toHaveLength(2))
    release()
    await ask(running, 'listUsers')
    expect(await exists(running, 'stays')).toBe(true)
    await eventually(() => expect(running.requests()).toHaveLength(3))
    expect(running.requests()[1]).toMatchObject({ method: 'DELETE', status: null, done: false })
  })

  test('closing the service lets a request in flight end', async () => {
    const running = await startForTest({ faults: 'latency=1:300ms' })
    const request = create(running, 'a')
    await once(running.app.server, 'request')
    const closing = running.app.close()
    expect((await request).status).toBe(201)
    await closing
    expect(running.requests()).toMatchObject([{ status: 201, done: true }])
    await expect(create(running, 'b')).rejects.toThrow('fetch failed')
  })
})
