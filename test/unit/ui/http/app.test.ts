import { afterEach, expect, test } from 'vitest'
import { buildAdminApp } from '../../../../src/ui/http/app.ts'
import type { AdminOptions } from '../../../../src/ui/http/app.ts'
import { silentLog } from '../../../../src/base/log/log.ts'

const asked: unknown[] = []
const control = {
  run: async (...args: unknown[]) => {
    asked.push(args)
    return { run: args[0] }
  },
  changes: async (...args: unknown[]) => {
    asked.push(['changes', ...args])
    return []
  },
  notices: async (...args: unknown[]) => {
    asked.push(['notices', ...args])
    return []
  },
  approve: async (...args: unknown[]) => asked.push(['approve', ...args]),
  reject: async (...args: unknown[]) => asked.push(['reject', ...args]),
  resume: async (...args: unknown[]) => {
    asked.push(['resume', ...args])
    return null
  },
  release: async (...args: unknown[]) => {
    asked.push(['release', ...args])
    return []
  },
  explain: async (...args: unknown[]) => {
    asked.push(['explain', ...args])
    return { result: 'nobody' }
  },
} as unknown as AdminOptions['control']
const reload = async () => {
  asked.push('reload')
  return { file: '/x', added: ['corp'], changed: [], removed: [], applied: [], needRestart: [] }
}
const watching = {
  whyNotReady: async () => undefined,
  metrics: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', text: 'up 1\n' }),
}
const app = buildAdminApp({ control, watching, reload, log: silentLog() })

afterEach(() => {
  asked.length = 0
})

function call(operation: string, ...input: readonly unknown[]) {
  return app.inject({ method: 'POST', url: '/call', payload: { operation, input } })
}

test('a command may ask for every change of a run, but not in one answer', async () => {
  expect((await call('run', 7, { limit: 1001 })).statusCode).toBe(400)
  expect((await call('changes', 7, { after: 1000 })).json()).toEqual({ answer: [] })
  expect((await call('notices', 7, {})).json()).toEqual({ answer: [] })
  expect(asked).toEqual([
    ['changes', 7, { after: 1000 }],
    ['notices', 7, {}],
  ])
})

test('a request that is not understood is refused with a sentence', async () => {
  const answer = await call('run', 7, { limit: 'some' })
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/^limit must be a number\.$/),
  })
})

test.each<[string, string, readonly unknown[]]>([
  ['an operation that is not known', 'delete', [{ by: 'ada' }]],
  ['an operation of every object', 'toString', []],
  ['an option that is not known', 'requestRun', [{ sync: 'corp', mode: 'plan', dryRun: true }]],
  ['a misspelled scope', 'requestRun', [{ sync: 'corp', mode: 'sync', scope: { user: ['a'] } }]],
  ['a misspelled sync to release', 'release', [{ by: 'ada', syncs: 'corp' }]],
  ['a misspelled scope of a release', 'release', [{ by: 'ada', scope: { user: ['a'] } }]],
  ['a kind that does not exist', 'explain', [{ sync: 'corp', who: 'a', kind: 'robot' }]],
  // All questions are not decided for a request whose ids or parts were lost.
  ['an approval of no part', 'approve', [{ run: 7, by: 'ada', only: [] }]],
  ['a rejection of no part', 'reject', [{ run: 7, by: 'ada', only: [] }]],
  ['an approval of no ids', 'approve', [{ run: 7, by: 'ada', ids: [] }]],
  ['a misspelled part', 'approve', [{ run: 7, by: 'ada', only: ['delete'] }]],
  ['no operator who resumes', 'resume', [{ sync: 'corp' }]],
  ['no operator who releases', 'release', [{ sync: 'corp' }]],
])('nothing is done for a request with %s', async (_, operation, input) => {
  expect((await call(operation, ...input)).statusCode).toBe(400)
  expect(asked).toEqual([])
})

test('no question is answered for which a name is misspelled', async () => {
  for (const [operation, ...input] of [
    ['quarantine', { syc: 'corp' }],
    ['runs', { syc: 'corp', limit: 1 }],
    ['run', 7, { limits: 1, limit: 1 }],
    ['explain', { sync: 'a', who: 'b', kid: 'c' }],
  ] as const) {
    const answer = await call(operation, ...input)
    expect([answer.statusCode, answer.json().message]).toEqual([
      400,
      expect.stringContaining('is not known here'),
    ])
  }
  expect(asked).toEqual([])
})

test.each<[string, unknown]>([
  ['approve', { run: 7, by: 'ada' }],
  ['approve', { run: 7, by: 'ada', reason: 'they left', ids: ['a', ' b'], only: ['deletes'] }],
  ['approve', { run: 7, by: 'ada', isAll: true }],
  ['reject', { run: 7, by: 'ada', code: 'container-emptied' }],
  ['resume', { sync: 'corp', by: 'ada' }],
  ['release', { by: 'ada', sync: 'corp' }],
  ['explain', { sync: 'corp', who: 'a&b=ü', kind: 'user' }],
])('%s is done as it was asked for', async (operation, input) => {
  expect((await call(operation, input)).statusCode).toBe(200)
  expect(asked).toEqual([[operation, input]])
})

test('a daemon that cannot do its work lives and is not ready', async () => {
  const why = 'the store does not answer: no answer within 3 s'
  const late = buildAdminApp({
    control,
    watching: { ...watching, whyNotReady: async () => why },
    reload,
    log: silentLog(),
  })
  expect((await late.inject({ url: '/healthz' })).json()).toEqual({ status: 'ok' })
  const answer = await late.inject({ url: '/readyz' })
  expect([answer.statusCode, answer.json()]).toEqual([503, { status: 'not ready', why }])
  expect((await app.inject({ url: '/readyz' })).json()).toEqual({ status: 'ready' })
})

test('the configuration is read again', async () => {
  expect((await app.inject({ method: 'POST', url: '/reload' })).json()).toMatchObject({ added: ['corp'] })
})
