import { afterEach, expect, test } from 'vitest'
import { buildAdminApp } from '../../../src/admin/app.ts'
import type { AdminOptions } from '../../../src/admin/app.ts'

const asked: unknown[] = []
const control = {
  run: async (...args: unknown[]) => {
    asked.push(args)
    return { run: args[0] }
  },
} as unknown as AdminOptions['control']
const app = buildAdminApp({ control, checkHealth: async () => undefined, operations: true })

afterEach(() => {
  asked.length = 0
})

test('a command may ask for every change of a run', async () => {
  const answer = await app.inject({ url: '/runs/7?limit=10000000' })
  expect(answer.json()).toEqual({ run: 7 })
  expect(asked).toEqual([[7, { limit: 10_000_000 }]])
})

test('a request that is not understood is refused with a sentence', async () => {
  const answer = await app.inject({ url: '/runs/7?limit=some' })
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toMatchObject({ code: 'usage', message: expect.stringMatching(/^limit: [^{}\n]+$/) })
})
