import { EventEmitter, once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLog } from '../../../../src/base/log/log.ts'
import { watchCsv, type WatchTimes } from '../../../../src/source/csv/watch.ts'
import { usersOf, write } from '../../../support/csv-source.ts'
import { PATIENCE } from '../../../support/patience.ts'
import { type TempDir, tempDir } from '../../../support/temp.ts'

let dir: TempDir
let stack: AsyncDisposableStack

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  dir = stack.use(await tempDir())
  await write(dir.path, { 'users.csv': 'id\n1\n' })
})

afterEach(() => stack.disposeAsync())

/** So slow that nothing but the system's own report is seen in time. */
const NEVER_POLL = 60_000

/** Counts the calls; `next` waits for one that is to come. */
async function startWatch(times: WatchTimes = {}, path = join(dir.path, 'users.csv'), failures = 0) {
  const calls = new EventEmitter()
  let count = 0
  const onChange = async () => {
    count += 1
    calls.emit('call')
    if (count <= failures) throw new Error('the store is away')
  }
  const settings = { quietMs: 50, gapMs: 0, pollMs: NEVER_POLL, ...times }
  stack.use(await watchCsv(usersOf(dir.path, { path, sha256: true }), onChange, silentLog(), settings))
  return {
    count: () => count,
    next: () => once(calls, 'call', { signal: AbortSignal.timeout(PATIENCE.timeout) }),
  }
}

const digest = (text: string) => ({ 'users.csv.sha256': text })

beforeEach(() => write(dir.path, digest('one')))

test('a file that is written again is told, once', async () => {
  const watch = await startWatch()
  const next = watch.next()
  // Within one turn of the loop, because a busy machine is quiet for longer between two.
  for (const n of [1, 2, 3, 4]) writeFileSync(join(dir.path, 'users.csv'), `id\n${'1\n'.repeat(n + 1)}`)
  await next
  await sleep(200)
  expect(watch.count()).toBe(1)
})

test('a file that is renamed into its place is told, again and again', async () => {
  const watch = await startWatch()
  for (const text of ['id\n2\n', 'id\n3\n', 'id\n4\n']) {
    const next = watch.next()
    await write(dir.path, { 'users.csv.tmp': text })
    await rename(join(dir.path, 'users.csv.tmp'), join(dir.path, 'users.csv'))
    await next
  }
})

test('a new digest is a change, and so is a new file of a glob', async () => {
  const watch = await startWatch({}, join(dir.path, '*.csv'))
  let next = watch.next()
  await write(dir.path, digest('two'))
  await next
  next = watch.next()
  await write(dir.path, { 'more.csv': 'id\n9\n', 'more.csv.sha256': 'x' })
  await next
})

test('other files of the folder, and a file that is away, are no change', async () => {
  const watch = await startWatch()
  await write(dir.path, { 'other.csv': 'x' })
  await rm(join(dir.path, 'users.csv'))
  await sleep(300)
  expect(watch.count()).toBe(0)
})

test('between two calls lies the gap, and the last change is never lost', async () => {
  const watch = await startWatch({ gapMs: 400 })
  let next = watch.next()
  await write(dir.path, { 'users.csv': 'id\n2\n' })
  await next
  const told = performance.now()
  next = watch.next()
  await write(dir.path, { 'users.csv': 'id\n33\n' })
  await next
  expect(performance.now() - told).toBeGreaterThan(350)
})

test('where the system reports nothing, the files are looked at now and then', async () => {
  const folder = join(dir.path, 'late')
  const watch = await startWatch({ pollMs: 60 }, join(folder, 'users.csv'))
  const next = watch.next()
  await mkdir(folder)
  await write(folder, { 'users.csv': 'id\n2\n', ...digest('one') })
  await next
})

test('a change that could not be told is told again', async () => {
  const watch = await startWatch({ pollMs: 60 }, undefined, 1)
  let next = watch.next()
  await write(dir.path, { 'users.csv': 'id\n2\n' })
  await next
  next = watch.next()
  await next
  expect(watch.count()).toBe(2)
})
