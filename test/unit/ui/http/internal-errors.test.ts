import { expect, test } from 'vitest'
import { z } from 'zod'
import { type AdminOptions, buildAdminApp } from '../../../../src/ui/http/app.ts'
import { createLog } from '../../../../src/base/log/log.ts'
import { runOf } from '../cli/runs-for-tests.ts'
import { BEARER, buildPagesForTests } from './pages-for-tests.ts'

/** Keeps what is logged, as objects. */
function keptLog() {
  const lines: Record<string, any>[] = []
  const log = createLog('info', { destination: { write: (line) => lines.push(JSON.parse(line)) } })
  return { log, lines }
}

const SENTENCE = 'dirsyncd failed at this request; its log says where.'

function zodError(): unknown {
  try {
    return z.object({ row: z.number() }).parse({ row: 'what a row has' })
  } catch (error) {
    return error
  }
}

const ERRORS = [
  [
    'a fault of the program',
    () => new TypeError("Cannot read properties of undefined (reading 'x')"),
    'TypeError',
  ],
  ['what the store has and the program does not understand', zodError, 'ZodError'],
  ['an answer of another server', () => Object.assign(new Error('not there'), { statusCode: 404 }), 'Error'],
] as const

test.each(ERRORS)('%s is in the log, and its reader gets one sentence', async (_what, make, type) => {
  const { log, lines } = keptLog()
  const fail = () => Promise.reject(make())
  const control = { runs: fail } as unknown as AdminOptions['control']
  const watching = { whyNotReady: async () => undefined, metrics: fail }
  const socket = buildAdminApp({
    control,
    watching,
    reload: fail,
    log,
  })
  const { app: pages } = buildPagesForTests({ watching, log })
  const answers = [
    await socket.inject({
      method: 'POST',
      url: '/call',
      payload: { operation: 'runs', input: [{ limit: 1 }] },
    }),
    await pages.inject({ url: '/metrics', headers: BEARER }),
    await pages.inject({ url: '/metrics', headers: { ...BEARER, accept: 'text/html' } }),
  ]
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([500, 500, 500])
  for (const answer of answers.slice(0, 2))
    expect(answer.json()).toEqual({ code: 'internal', message: SENTENCE })
  expect(answers[2]!.body).toContain(SENTENCE)
  expect(lines.map(({ level, msg, route }) => [level, msg, route])).toEqual([
    ['error', 'a request failed', '/call'],
    ['error', 'a request failed', '/metrics'],
    ['error', 'a request failed', '/metrics'],
  ])
  for (const { err } of lines) expect(err).toMatchObject({ type, stack: expect.stringMatching(/\n +at /) })
})

test('what cuts a download is in the log', async () => {
  const { log, lines } = keptLog()
  const { app } = buildPagesForTests({
    runs: [runOf({ run: 7 })],
    notices: [{ number: 1, kind: 'user', id: 'a', code: 'no-name', params: { from: '' } }],
    cut: new TypeError('a row of the store is odd'),
    log,
  })
  await using _ = { [Symbol.asyncDispose]: () => app.close() }
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const cut = await fetch(`${origin}/runs/7/notices.csv`, { headers: BEARER })
  await expect(cut.text()).rejects.toThrow('terminated')
  expect(lines).toMatchObject([
    { level: 'error', route: '/runs/:run/notices.csv', err: { type: 'TypeError' } },
  ])
})

test.each([
  ['{', 400],
  ['"x', 400],
])('a body that is no JSON (%j) is a fault of whoever sends it', async (payload, status) => {
  const { log, lines } = keptLog()
  const { app } = buildPagesForTests({ log })
  const headers = { ...BEARER, 'content-type': 'application/json' }
  const answer = await app.inject({ method: 'POST', url: '/syncs/corp/run', headers, payload })
  expect([answer.statusCode, answer.json().code]).toEqual([status, 'usage'])
  expect(lines).toEqual([])
})
