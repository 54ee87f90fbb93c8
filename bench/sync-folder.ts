import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { embeddedConfig } from '../test/support/sync-config.ts'
import { csvOf, type Entries } from './people.ts'

/**
 * Writes the configuration of a sync `corp`, with an embedded store and queue unless `more` has others. Resolves with its
 * path.
 */
export async function writeSync(folder: string, sync: object, more: object = {}): Promise<string> {
  const config = join(folder, 'dirsyncd.yaml')
  const all = embeddedConfig([{ name: 'corp', ...sync }], { log: { level: 'warn' }, ...more })
  await writeFile(config, stringify(all))
  return config
}

/** The same for users from a CSV file, which it writes too. */
export async function writeCsvSync(
  folder: string,
  entries: Entries,
  sync: object,
  more: object = {},
): Promise<string> {
  await writeFile(join(folder, 'users.csv'), csvOf(entries))
  const map = { external_id: 'id', email: 'mail', name: 'name', employee_id: 'number' }
  return writeSync(folder, { source: { type: 'csv', users: { path: './users.csv', map } }, ...sync }, more)
}
