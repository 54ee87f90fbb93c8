import { expect, test } from 'vitest'
import type { Change } from '../../../src/core/plan/change.ts'
import type { Outcome } from '../../../src/core/plan/outcome.ts'
import { tryChange } from '../../../src/target/try-change.ts'
import { clientOf, rejection } from '../api/client/fixtures.ts'
import type { Reaction } from '../api/client/scripted-server.ts'
import { startDirectoryServer } from './directory-server.ts'

const WEB_PAGE = { status: 200, text: '<html>', headers: { 'content-type': 'text/html; charset=utf-8' } }

const change: Change = { op: 'create-user', id: 'u1', want: { name: 'Ann' } }

test.each([
  ['a 422', [{ status: 422 }], { result: 'refused', status: 422 }],
  ['a 403', [{ status: 403 }], { result: 'forbidden', status: 403 }],
  [
    'a 403 that a proxy sent',
    [{ ...WEB_PAGE, status: 403 }],
    {
      result: 'forbidden',
      status: 403,
      detail: expect.stringMatching(/as a proxy .* Check directory.baseUrl and directory.proxy.$/),
    },
  ],
  ['a 401', [{ status: 401 }], { result: 'stop', code: 'token-refused' }],
  ['a redirect', [{ status: 301 }], { result: 'unavailable', status: 301, answeredBy: 'proxy' }],
  [
    'a 429',
    [{ status: 429, headers: { 'retry-after': '3' } }],
    { result: 'rate-limited', retryAfterMs: 3000 },
  ],
  [
    'a 429 that asks for no pause',
    [{ status: 429, headers: { 'retry-after': '0' } }],
    { result: 'rate-limited', retryAfterMs: 1000 },
  ],
  ['a 429 without a time', [{ status: 429 }], { result: 'rate-limited', retryAfterMs: 1000 }],
  [
    'a lost answer and then a 429',
    ['drop', { status: 429, headers: { 'retry-after': '3' } }],
    { result: 'unavailable', status: 429, answeredBy: 'service', retryAfterMs: 3000 },
  ],
  [
    'a lost answer and then a look that is refused',
    ['drop', { status: 422 }],
    { result: 'unavailable', status: 422, answeredBy: 'service' },
  ],
  [
    'a 504, and nobody there',
    [{ status: 504 }],
    { result: 'unavailable', status: 504, answeredBy: 'service', timedOut: true },
  ],
  [
    'a look that fails after a time-out',
    [{ status: 504 }, { status: 422 }],
    { result: 'unavailable', status: 422, answeredBy: 'service', timedOut: true },
  ],
  ['nothing in the way', [], { result: 'applied', status: 201, requests: 1 }],
] satisfies [string, Reaction[], object][])('%s is the outcome', async (_, reactions, outcome) => {
  await using server = await startDirectoryServer()
  server.trouble.push(...reactions.map((reaction) => ({ reaction })))
  await using client = clientOf(server.baseUrl)
  const tried: Outcome = await tryChange(
    client,
    { directoryId: 7 },
    change,
    { check: false },
    AbortSignal.timeout(5000),
  )
  expect(tried).toMatchObject(outcome)
})

test.each([
  ['every request', undefined, { status: 500 }, { status: 500, answeredBy: 'nobody' }],
  ['every request', undefined, 'drop', { status: undefined, answeredBy: 'nobody' }],
  ['the writes', 'POST', { status: 500 }, { status: 500, answeredBy: 'service' }],
  ['the writes', 'POST', 'drop', { status: undefined, answeredBy: 'service' }],
  ['the writes', 'POST', { status: 503 }, { status: 503, answeredBy: 'nobody' }],
  ['the writes', 'POST', WEB_PAGE, { status: 200, answeredBy: 'proxy' }],
  ['every request', undefined, WEB_PAGE, { status: 200, answeredBy: 'proxy' }],
] as const satisfies [string, 'POST' | undefined, Reaction, object][])(
  'a service that fails %s for ever (%s, %o) is unavailable, and it is known whether it answers',
  async (_, method, reaction, outcome) => {
    await using server = await startDirectoryServer()
    const trouble = method === undefined ? { reaction } : { method, reaction }
    server.trouble.push(...Array.from({ length: 20 }, () => trouble))
    await using client = clientOf(server.baseUrl)
    const signal = AbortSignal.timeout(5000)
    const tried = await tryChange(client, { directoryId: 7 }, change, { check: false }, signal)
    expect(tried).toMatchObject({ result: 'unavailable', ...outcome })
  },
)

test.each([200, 404])('a look that a web page answers with %i stops no run', async (status) => {
  await using server = await startDirectoryServer()
  server.trouble.push({ reaction: { ...WEB_PAGE, status } })
  await using client = clientOf(server.baseUrl)
  const signal = AbortSignal.timeout(5000)
  const tried = await tryChange(client, { directoryId: 7 }, change, { check: true }, signal)
  expect(tried).toMatchObject({ result: 'unavailable', status, answeredBy: 'proxy' })
  expect(server.users).toEqual([])
})

test('a directory that is gone stops the run', async () => {
  await using server = await startDirectoryServer()
  server.exists = false
  await using client = clientOf(server.baseUrl)
  const tried = await tryChange(
    client,
    { directoryId: 7 },
    change,
    { check: false },
    AbortSignal.timeout(5000),
  )
  expect(tried).toMatchObject({ result: 'stop', code: 'directory-unknown' })
})

test('a try that is called off has no outcome', async () => {
  await using server = await startDirectoryServer()
  server.trouble.push({ reaction: 'silence' })
  await using client = clientOf(server.baseUrl)
  const tried = tryChange(client, { directoryId: 7 }, change, { check: false }, AbortSignal.timeout(50))
  expect(await rejection(tried)).toMatchObject({ kind: 'aborted', maybeDone: true })
})
