import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { program } from './packages.ts'
import type { User } from './unprivileged.ts'

const run = promisify(execFile)

/** Replaces the data of a stopped 389-ds. Only the server's log says whether the import succeeded. */
export async function importLdif(directory: string, ldif: string, user: User): Promise<void> {
  const path = join(directory, 'ldif', 'data.ldif')
  await writeFile(path, ldif)
  await runServer('ldif2db', directory, ['-i', path], user)
  const log = await readFile(join(directory, 'log', 'errors'), 'utf8')
  if (!/Processed \d+ entries .*\n/.test(log) || /[Ss]kipping entry/.test(log))
    throw new Error(`389-ds did not import all of the LDIF: ${log.slice(-4000)}`)
}

/** All entries of a stopped 389-ds, with their ids. */
export async function exportLdif(directory: string, user: User): Promise<string> {
  const path = join(directory, 'ldif', 'export.ldif')
  await runServer('db2ldif', directory, ['-a', path, '-U'], user)
  return readFile(path, 'utf8')
}

async function runServer(
  task: string,
  directory: string,
  args: readonly string[],
  user: User,
): Promise<void> {
  await run(program('ns-slapd'), [task, '-D', directory, '-n', 'userRoot', ...args], user)
}
