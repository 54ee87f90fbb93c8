import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { DirsyncdError } from '../../src/base/errors.ts'
import type { SourceSnapshot } from '../../src/core/entries/snapshot.ts'
import { createCsvSource } from '../../src/source/csv/csv-source.ts'
import type { CsvSourceOptions } from '../../src/source/csv/options.ts'
import type { Source } from '../../src/source/source.ts'

export const NEVER = new AbortController().signal

const MAP = { external_id: 'id', email: 'mail', name: 'name' }

/** Options of a source that reads only `users.csv` in the folder. */
export function usersOf(folder: string, more: Partial<CsvSourceOptions['users']> = {}): CsvSourceOptions {
  return { users: { path: join(folder, 'users.csv'), delimiter: ',', encoding: 'utf8', map: MAP, ...more } }
}

export function sourceOf(options: CsvSourceOptions): Source {
  return createCsvSource(options, silentLog())
}

export function read(options: CsvSourceOptions): Promise<SourceSnapshot> {
  return sourceOf(options).read(NEVER)
}

/** The code and the message of the error with which a read rejects. */
export async function refusal(reading: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await reading.catch((reason: unknown) => reason)
  if (error instanceof DirsyncdError) return { code: error.code, message: error.message }
  return expect.fail(`the read did not reject with a DirsyncdError: ${inspect(error)}`)
}

export async function write(folder: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
}

export function namesOf({ users }: SourceSnapshot): (string | undefined)[] {
  return [...users.values()].map(({ name }) => name)
}
