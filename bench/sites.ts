import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { stringify } from 'yaml'
import { newKeyLine } from '../src/service/keys/vault.ts'
import { startProgram } from '../test/support/program.ts'
import { freePort } from '../test/support/server-process.ts'
import { FIXTURE } from '../test/support/fixture.ts'
import { tempDir } from '../test/support/temp.ts'
import type { Entries } from './people.ts'
import { startOpponent } from './processes.ts'

/** A service in a process of its own, with a directory that can be put back to how it began. */
export interface BenchService extends AsyncDisposable {
  readonly baseUrl: string
  /** In a few words. */
  readonly kind: 'instant' | 'real'
  reset(): Promise<unknown>
}

export async function startInstantService(entries: Entries): Promise<BenchService> {
  const port = await freePort()
  const opponent = await startOpponent('instant-service', { port, ...entries })
  return {
    kind: 'instant',
    baseUrl: `http://127.0.0.1:${port}`,
    reset: () => opponent.run(),
    [Symbol.asyncDispose]: () => opponent[Symbol.asyncDispose](),
  }
}

/** `dirsyncd service` on an empty database of a PostgreSQL server. A reset takes out every user. */
export async function startRealService(
  entries: Entries,
  database: string,
  options: { readonly uniqueExternalIds?: boolean } = {},
): Promise<BenchService> {
  await using stack = new AsyncDisposableStack()
  const dir = stack.use(await tempDir())
  const port = await freePort()
  // YAML takes JSON, and reads it quicker than block style.
  await writeFile(join(dir.path, 'fixture.yaml'), JSON.stringify(fixtureOf(entries)))
  await writeFile(join(dir.path, 'keys'), newKeyLine('bench'))
  const config = join(dir.path, 'service.yaml')
  const service = {
    listen: `127.0.0.1:${port}`,
    store: database,
    dataDir: './data',
    keyFile: './keys',
    fixture: './fixture.yaml',
    ...options,
    rateLimit: null,
  }
  await writeFile(config, stringify({ dataDir: './data', log: { level: 'warn' }, service }))
  const program = stack.use(startProgram(['service', '--config', config], { asInProduction: true }))
  await program.printed(/listens on/)
  const owned = stack.move()
  return {
    kind: 'real',
    baseUrl: `http://127.0.0.1:${port}`,
    reset: () => emptyDirectory(database),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function fixtureOf({ users, groups }: Entries): object {
  const { organizationId, directoryId, token } = FIXTURE
  const tokens = [{ token, scopes: ['ORG', 'ORG_READ'], expires: '30d' }]
  return {
    organizations: [
      {
        id: organizationId,
        name: 'Example',
        allowedDomains: ['example.org'],
        contacts: [{ id: 11, name: 'Ada Admin', email: 'ada@example.org', tokens }],
        directories: [{ id: directoryId, name: 'Corporate', users, groups }],
      },
    ],
  }
}

/** Vacuumed, or the dead rows of one repetition would slow down the next. */
async function emptyDirectory(database: string): Promise<void> {
  const client = new Client({ connectionString: database })
  await client.connect()
  try {
    await client.query('truncate access_management.external_users, access_management.entry_blocks')
    await client.query('truncate access_management.events')
    await client.query('update access_management.directories set user_count = 0')
    await client.query('vacuum analyze access_management.directories')
  } finally {
    await client.end()
  }
}
