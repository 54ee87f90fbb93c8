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
    asked.push(args)
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
const configuration = () => ({ syncs: [] })
const app = buildAdminApp({ control, watching, reload, configuration, log: silentLog() })

afterEach(() => {
  asked.length = 0
})

test('a command may ask for every change of a run, but not in one answer', async () => {
  expect((await app.inject({ url: '/runs/7?limit=1001' })).statusCode).toBe(400)
  expect((await app.inject({ url: '/runs/7/changes?after=1000' })).json()).toEqual([])
  expect((await app.inject({ url: '/runs/7/notices' })).json()).toEqual([])
  expect(asked).toEqual([
    ['changes', 7, { after: 1000 }],
    ['notices', 7, {}],
  ])
})

test('a request that is not understood is refused with a sentence', async () => {
  const answer = await app.inject({ url: '/runs/7?limit=some' })
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/^limit must be a number\.$/),
  })
})

test.each([
  { name: 'an option that is not known', payload: { sync: 'corp', mode: 'plan', dryRun: true } },
  { name: 'a limit that is misspelled', payload: { sync: 'corp', mode: 'sync', only: { user: ['a'] } } },
])('a run is not made for a request with $name', async ({ payload }) => {
  const answer = await app.inject({ method: 'POST', url: '/runs', payload })
  expect(answer.statusCode).toBe(400)
  expect(asked).toEqual([])
})

test('no question is answered for which a name is misspelled', async () => {
  for (const url of [
    '/quarantine?syc=corp',
    '/runs?syc=corp',
    '/runs/7?limits=1',
    '/explain?sync=a&who=b&kid=c',
  ]) {
    const answer = await app.inject({ url })
    expect([answer.statusCode, answer.json().message]).toEqual([
      400,
      expect.stringContaining('is not known here'),
    ])
  }
  expect(asked).toEqual([])
})

test('nothing is released for a request whose limit is misspelled', async () => {
  for (const asks of [{ syncs: 'corp' }, { only: { user: ['a'] } }]) {
    const payload = { by: 'ada', ...asks }
    const answer = await app.inject({ method: 'POST', url: '/quarantine/release', payload })
    expect(answer.statusCode).toBe(400)
  }
  expect(asked).toEqual([])
})

test.each(['approve', 'reject'])('%s decides about all, or only about what is named', async (what) => {
  const post = (payload: object) => app.inject({ method: 'POST', url: `/runs/7/${what}`, payload })
  await post({ by: 'ada' })
  await post({ by: 'ada', only: ['reborn'] })
  // A hold is not decided as a whole for a request whose names were lost.
  expect((await post({ by: 'ada', only: [] })).statusCode).toBe(400)
  expect(asked).toEqual([
    [what, { run: 7, by: 'ada' }],
    [what, { run: 7, by: 'ada', only: ['reborn'] }],
  ])
})

test.each([
  ['/syncs/corp/resume', {}, ['resume', { sync: 'corp', by: 'ada' }]],
  ['/quarantine/release', { sync: 'corp' }, [{ sync: 'corp', by: 'ada' }]],
])('%s is asked for with the name of the operator', async (url, asks, wanted) => {
  const post = (payload: object) => app.inject({ method: 'POST', url, payload })
  expect((await post(asks)).statusCode).toBe(400)
  expect(asked).toEqual([])
  expect((await post({ ...asks, by: 'ada' })).statusCode).toBe(200)
  expect(asked).toEqual([wanted])
})

test('a story is asked for by any text, and only of a kind that there is', async () => {
  const query = new URLSearchParams({ sync: 'corp', who: 'a&b=ü', kind: 'user' })
  expect((await app.inject({ url: `/explain?${query.toString()}` })).statusCode).toBe(200)
  expect((await app.inject({ url: '/explain?sync=corp&who=a&kind=robot' })).statusCode).toBe(400)
  expect(asked).toEqual([['explain', { sync: 'corp', who: 'a&b=ü', kind: 'user' }]])
})

test('a daemon that cannot do its work lives and is not ready', async () => {
  const why = 'the store does not answer: no answer within 3 s'
  const late = buildAdminApp({
    control,
    watching: { ...watching, whyNotReady: async () => why },
    reload,
    configuration,
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
