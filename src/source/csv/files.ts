import { glob, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DirsyncdError } from '../../base/errors.ts'
import { incomplete } from '../incomplete.ts'
import { interruption } from '../interruption.ts'
import type { CsvInput } from './input.ts'

/** Messages name the path where two files of one input have the same base name. */
export interface CsvPath {
  readonly path: string
  readonly name: string
}

type Located = Pick<CsvInput, 'path' | 'key' | 'sha256' | 'rows'>

/** A list keeps its order, the files of a glob are sorted by name. Throws for a glob without files. */
export async function findFiles(input: Located): Promise<CsvPath[]> {
  const paths = new Set<string>()
  for (const pattern of patternsOf(input)) {
    const found = await expand(pattern, input)
    if (found.length === 0) {
      const message = `${input.key}.path: no file matches ${pattern}; is the export there, and may this user see it?`
      throw new DirsyncdError('source-unreachable', message)
    }
    for (const path of found) paths.add(path)
  }
  const names = Map.groupBy(paths, (path) => basename(path))
  return [...paths].map((path) => {
    const name = basename(path)
    return { path, name: names.get(name)?.length === 1 ? name : path }
  })
}

export function patternsOf({ path }: Pick<CsvInput, 'path'>): readonly string[] {
  return typeof path === 'string' ? [path] : path
}

export function isGlob(path: string): boolean {
  return /[*?[\]{}]/.test(path)
}

/** If a file has the pattern as its name, the pattern is not a glob. */
async function expand(pattern: string, input: Located): Promise<string[]> {
  if (!isGlob(pattern) || (await exists(pattern))) return [pattern]
  const found = (await Array.fromAsync(glob(pattern))).toSorted()
  const beside = new Set(found.flatMap((path) => sideFiles(path, input)))
  return found.filter((path) => !beside.has(path))
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

/** The files that prove that this one is complete. */
function sideFiles(path: string, { sha256 = false, rows = false }: Located): string[] {
  return [...(sha256 ? [`${path}.sha256`] : []), ...(rows ? [`${path}.rows`] : [])]
}

/** The state of each file, by path; a missing file has `undefined`. */
export type Fingerprint = ReadonlyMap<string, string | undefined>

/** Never throws. */
export async function fingerprint(inputs: readonly Located[]): Promise<Fingerprint> {
  const marks = new Map<string, string | undefined>()
  for (const input of inputs) {
    for (const pattern of patternsOf(input)) {
      const found = await expand(pattern, input).catch(() => [])
      if (found.length === 0) marks.set(pattern, undefined)
      for (const path of found.flatMap((each) => [each, ...sideFiles(each, input)])) {
        marks.set(path, await stat(path, { bigint: true }).then(markOf, () => undefined))
      }
    }
  }
  return marks
}

/** Equal for the same file in the same state only. */
export function markOf(stats: {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}): string {
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ')
}

/** The first path that differs, is new or is gone; `undefined` when there is none. */
export function changedPath(before: Fingerprint, after: Fingerprint): string | undefined {
  for (const [path, mark] of before) if (!after.has(path) || after.get(path) !== mark) return path
  for (const path of after.keys()) if (!before.has(path)) return path
  return undefined
}

/**
 * Calls `read` while the files do not change, so that all are of one export. Throws `source-incomplete` when one
 * changes in the `settleMs` before the call or until `read` has ended.
 */
export async function readSettled<T>(
  inputs: readonly Located[],
  settleMs: number,
  signal: AbortSignal,
  read: () => Promise<T>,
): Promise<T> {
  const before = await fingerprint(inputs)
  if (settleMs > 0) {
    await sleep(settleMs, undefined, { signal }).catch(() => {
      throw interruption(signal, 'interrupted while waiting for the files to settle')
    })
    refuseChange(
      before,
      await fingerprint(inputs),
      `is still being written (it changed within ${settleMs} ms)`,
    )
  }
  const result = await read()
  refuseChange(before, await fingerprint(inputs), 'changed while the files were read')
  return result
}

function refuseChange(before: Fingerprint, after: Fingerprint, what: string): void {
  const path = changedPath(before, after)
  if (path === undefined) return
  const gone = after.get(path) === undefined
  throw incomplete(
    `${path} ${gone ? 'went away while the files were read' : what}; the next run reads it again`,
  )
}
