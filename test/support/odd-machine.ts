/**
 * Loaded with `--import` into each thread of the program, it plays a machine whose wall clock is set, and whose event
 * loop is blocked, as the files `clock` and `block` in the folder ODD_MACHINE say. Both contain milliseconds.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const folder = process.env['ODD_MACHINE'] ?? ''
const TrueDate = Date
const trueNow = TrueDate.now

function readMs(name: string): number | undefined {
  try {
    return Number(readFileSync(join(folder, name), 'utf8'))
  } catch {
    return undefined
  }
}

const now = () => trueNow() + (readMs('clock') ?? 0)

globalThis.Date = new Proxy(TrueDate, {
  construct: (date, args, target) => Reflect.construct(date, args.length === 0 ? [now()] : args, target),
  get: (date, key) => (key === 'now' ? now : Reflect.get(date, key)),
})

function blockOnce(): void {
  const ms = readMs('block')
  if (ms === undefined) return
  // That the file is gone tells the test that the loop is blocked.
  rmSync(join(folder, 'block'))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

if (isMainThread) setInterval(blockOnce, 10).unref()
