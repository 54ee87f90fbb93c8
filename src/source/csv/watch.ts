import { type FSWatcher, watch } from 'node:fs'
import { dirname } from 'node:path'
import { sentence } from '../../base/errors.ts'
import type { Log } from '../../base/log/log.ts'
import { changedPath, fingerprint, type Fingerprint, isGlob, patternsOf } from './files.ts'
import { compileOptions } from './compile.ts'
import type { CsvInput } from './input.ts'
import type { CsvSourceOptions } from './options.ts'

export interface WatchTimes {
  /** How long the files must stay unchanged before `onChange` is called, in milliseconds. */
  readonly quietMs?: number
  readonly gapMs?: number
  /** How often the files are checked, for systems that report no change, such as network drives. */
  readonly pollMs?: number
}

/**
 * Calls `onChange` when the files have changed, are all there and no longer change. It watches only the folders, to
 * notice renamed files too, and then compares the files themselves. When `onChange` rejects, it is called again later.
 */
export async function watchCsv(
  options: CsvSourceOptions,
  onChange: () => Promise<void>,
  log: Log,
  times: WatchTimes = {},
): Promise<AsyncDisposable> {
  const { users, groups, members, settleMs } = compileOptions(options)
  const inputs = [users, groups, members].filter((input) => input !== undefined)
  const { quietMs = Math.max(settleMs, 500), gapMs = 5000, pollMs = 10_000 } = times
  let reported = await fingerprint(inputs)
  let seen = reported
  let reportedAt = -Infinity
  let timer: NodeJS.Timeout | undefined
  let checking: Promise<void> | undefined
  let isClosed = false

  async function check(): Promise<void> {
    const now = await fingerprint(inputs)
    const isUnchanged = changedPath(seen, now) === undefined
    seen = now
    if (changedPath(reported, now) === undefined) return
    const wait = reportedAt + gapMs - performance.now()
    if (!isUnchanged || wait > 0) return checkIn(Math.max(quietMs, wait))
    if (!isWhole(now)) return
    await onChange()
    reported = now
    reportedAt = performance.now()
  }

  /** At most one check runs and one is scheduled. */
  function checkIn(ms: number): void {
    if (isClosed || timer !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      if (checking !== undefined) return checkIn(quietMs)
      checking = check()
        .catch((error: unknown) =>
          log.warn({ error: sentence(error) }, 'a change of the files started no run'),
        )
        .finally(() => {
          checking = undefined
        })
    }, ms)
  }

  const folders = watchFolders(inputs, () => checkIn(quietMs), log)
  const poll = setInterval(() => {
    folders.renew()
    checkIn(0)
  }, pollMs)
  return {
    async [Symbol.asyncDispose]() {
      isClosed = true
      clearInterval(poll)
      clearTimeout(timer)
      folders.close()
      await checking
    },
  }
}

/** A missing file is being replaced, or the export failed: there is nothing to read yet. */
function isWhole(files: Fingerprint): boolean {
  return [...files.values()].every((mark) => mark !== undefined)
}

/** A folder that was missing or was replaced is watched from the next `renew` on. */
function watchFolders(inputs: readonly CsvInput[], onEvent: () => void, log: Log) {
  const folders = new Set(inputs.flatMap(patternsOf).map((path) => folderOf(path)))
  let watchers: FSWatcher[] = []
  const close = () => {
    for (const each of watchers) each.close()
    watchers = []
  }
  const renew = () => {
    close()
    for (const folder of folders) {
      try {
        watchers.push(watch(folder, { persistent: false }, onEvent).on('error', onEvent))
      } catch (error) {
        log.debug({ folder, error: sentence(error) }, 'a folder cannot be watched, so it is polled')
      }
    }
  }
  renew()
  return { renew, close }
}

/** For a glob over several folders the one above them, so only polling finds all changes. */
function folderOf(path: string): string {
  let folder = dirname(path)
  while (isGlob(folder)) folder = dirname(folder)
  return folder
}
