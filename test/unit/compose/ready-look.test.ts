import { expect, test } from 'vitest'
import { ReadyLook } from '../../../src/compose/ready-look.ts'
import { type Obstacle, whyStoresAreAway } from '../../../src/compose/readiness.ts'
import type { Site } from '../../../src/compose/site.ts'
import { createLog } from '../../../src/base/log/log.ts'

const SLOW = { patience: 600_000, fresh: 600_000, abandon: 600_000 }

function keptLog() {
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { destination: { write: (line) => lines.push(JSON.parse(line)) } })
  return { log, lines }
}

test('however many ask at once and within a second, one look answers', async () => {
  let looks = 0
  const look = async (): Promise<Obstacle> => {
    looks += 1
    return { why: 'the store does not answer' }
  }
  const ready = new ReadyLook(look, keptLog().log, SLOW)
  const answers = await Promise.all(Array.from({ length: 100 }, () => ready.why()))
  answers.push(await ready.why())
  expect(new Set(answers)).toEqual(new Set(['the store does not answer']))
  expect(looks).toBe(1)
})

test('an answer that is not fresh any more is asked for again', async () => {
  let looks = 0
  const look = async (): Promise<undefined> => void (looks += 1)
  const ready = new ReadyLook(look, keptLog().log, { ...SLOW, fresh: 1 })
  await expect.poll(async () => (await ready.why(), looks)).toBeGreaterThan(2)
})

test('a look that hangs is an answer, and no other one begins beside it', async () => {
  let looks = 0
  const look = () => {
    looks += 1
    return new Promise<undefined>(() => {})
  }
  const { log, lines } = keptLog()
  const ready = new ReadyLook(look, log, { ...SLOW, patience: 5 })
  const answers = [await ready.why(), ...(await Promise.all([ready.why(), ready.why()]))]
  expect(new Set(answers)).toEqual(new Set(['the store or the queue does not answer']))
  expect(looks).toBe(1)
  expect(lines).toMatchObject([{ level: 'warn', msg: 'not ready' }])
})

test('a look that never ends is given up', async () => {
  let looks = 0
  const look = () => {
    looks += 1
    return looks === 1 ? new Promise<undefined>(() => {}) : Promise.resolve(undefined)
  }
  const ready = new ReadyLook(look, keptLog().log, { ...SLOW, patience: 5, abandon: 20 })
  expect(await ready.why()).toBe('the store or the queue does not answer')
  await expect.poll(() => ready.why()).toBeUndefined()
})

test('a look that fails is an answer, and only the log has what the driver said', async () => {
  const driver = 'connect ECONNREFUSED postgres://dirsyncd@db.example.org:5432'
  let result: Promise<Obstacle | undefined> = Promise.reject(new Error(driver))
  const { log, lines } = keptLog()
  const ready = new ReadyLook(() => result, log, { ...SLOW, fresh: 0 })
  expect(await ready.why()).toBe('the store cannot be asked')
  expect(lines).toMatchObject([{ level: 'warn', error: driver, msg: 'not ready' }])
  result = Promise.resolve({ why: 'the store does not answer', error: driver })
  await expect.poll(() => ready.why()).toBe('the store does not answer')
  result = Promise.resolve(undefined)
  await expect.poll(() => ready.why()).toBeUndefined()
  await ready.why()
  // Each change once.
  expect(lines.map(({ msg }) => msg)).toEqual(['not ready', 'not ready', 'ready again'])
})

function siteOf(query: () => Promise<unknown>, ping: () => Promise<unknown>): Site {
  return { store: { pool: { query } }, backend: { ping } } as unknown as Site
}

async function answer(): Promise<void> {}

test('what drivers say of hosts and users is not in the sentence for everybody', async () => {
  const refused = new Error('connect ECONNREFUSED db.example.org: password of user "dirsyncd"')
  const fail = () => Promise.reject(refused)
  const error = refused.message
  expect(await whyStoresAreAway(siteOf(fail, answer))).toEqual({ why: 'the store does not answer', error })
  expect(await whyStoresAreAway(siteOf(answer, fail))).toEqual({ why: 'the queue does not answer', error })
  expect(await whyStoresAreAway(siteOf(answer, answer))).toBeUndefined()
})
