import { type FSWatcher, watch } from 'node:fs'
import { dirname } from 'node:path'
import { sentence } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { changedPath, fingerprint, type Fingerprint, isGlob, patternsOf } from './files.ts'
import { compileOptions } from './compile.ts'
import type { CsvInput } from './input.ts'
import type { CsvSourceOptions } from './options.ts'

export interface WatchTimes {
  /** How long the files have to be the same before anybody is told, in milliseconds. */
  readonly quietMs?: number
  /** The least time between two calls. */
  readonly gapMs?: number
  /** How often the files are looked at where the system reports nothing, such as on a network drive. */
  readonly pollMs?: number
}

/**
 * Tells when the files of a source have changed, are all there and have come to rest. Only the folders are watched, so
 * that a file that is renamed into its place is seen, and the files themselves decide whether anything changed. When
 * `onChange` rejects, it is called again later. Disposing ends it.
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
  let told = await fingerprint(inputs)
  let seen = told
  let toldAt = -Infinity
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let isClosed = false

  async function look(): Promise<void> {
    const now = await fingerprint(inputs)
    const isResting = changedPath(seen, now) === undefined
    seen = now
    if (changedPath(told, now) === undefined) return
    const wait = toldAt + gapMs - performance.now()
    if (!isResting || wait > 0) return lookIn(Math.max(quietMs, wait))
    if (!isWhole(now)) return
    await onChange()
    told = now
    toldAt = performance.now()
  }

  /** One look at a time, and one that is planned. */
  function lookIn(ms: number): void {
    if (isClosed || timer !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      if (looking !== undefined) return lookIn(quietMs)
      looking = look()
        .catch((error: unknown) =>
          log.warn({ error: sentence(error) }, 'a change of the files started no run'),
        )
        .finally(() => {
          looking = undefined
        })
    }, ms)
  }

  const folders = watchFolders(inputs, () => lookIn(quietMs), log)
  const poll = setInterval(() => {
    folders.renew()
    lookIn(0)
  }, pollMs)
  return {
    async [Symbol.asyncDispose]() {
      isClosed = true
      clearInterval(poll)
      clearTimeout(timer)
      folders.close()
      await looking
    },
  }
}

/** A file that is missing is being replaced, or the export failed: there is nothing to read yet. */
function isWhole(files: Fingerprint): boolean {
  return [...files.values()].every((mark) => mark !== undefined)
}

/** Watches the folders of the files; a folder that was not there, or was replaced, is watched from the next `renew` on. */
function watchFolders(inputs: readonly CsvInput[], onEvent: () => void, log: Log) {
  const patterns = new Set(inputs.flatMap(patternsOf).map((path) => folderOf(path)))
  let watchers: FSWatcher[] = []
  const close = () => {
    for (const each of watchers) each.close()
    watchers = []
  }
  const renew = () => {
    close()
    for (const folder of patterns) {
      try {
        watchers.push(watch(folder, { persistent: false }, onEvent).on('error', onEvent))
      } catch (error) {
        log.debug(
          { folder, error: sentence(error) },
          'a folder cannot be watched, so it is looked at now and then',
        )
      }
    }
  }
  renew()
  return { renew, close }
}

/** The folder of the files; of a glob over several folders the one above them, and the looks now and then find the rest. */
function folderOf(path: string): string {
  let folder = dirname(path)
  while (isGlob(folder)) folder = dirname(folder)
  return folder
}
