import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { request } from 'undici'
import { stringify } from 'yaml'
import { newKeyLine } from '../src/service/keys/vault.ts'
import { startProgram } from '../test/support/program.ts'
import { freePort } from '../test/support/server-process.ts'
import { FIXTURE } from '../test/support/fixture.ts'
import { tempDir } from '../test/support/temp.ts'
import type { InstantServiceTask, RequestCounts } from './contenders/instant-service.ts'
import type { Entries } from './people.ts'
import { startContender } from './processes.ts'

/** A service in its own process, whose directory can be reset to its initial content. */
export interface BenchService extends AsyncDisposable {
  readonly baseUrl: string
  readonly kind: 'instant' | 'real'
  reset(): Promise<unknown>
}

/** A service that counts its requests. */
export interface InstantService extends BenchService {
  /** The requests since the last reset. */
  requests(): Promise<RequestCounts>
}

/** The options are those of `InstantServiceTask`. */
export async function startInstantService(
  entries: Entries,
  { writeMs = 0, perSecond }: { readonly writeMs?: number; readonly perSecond?: number } = {},
): Promise<InstantService> {
  const port = await freePort()
  const task: InstantServiceTask = { port, writeMs, perSecond, ...entries }
  const contender = await startContender('instant-service', task)
  const baseUrl = `http://127.0.0.1:${port}`
  return {
    kind: 'instant',
    baseUrl,
    reset: () => contender.run(),
    async requests() {
      const answer = await request(`${baseUrl}/bench/requests`)
      return (await answer.body.json()) as RequestCounts
    },
    [Symbol.asyncDispose]: () => contender[Symbol.asyncDispose](),
  }
}

/** Starts access-service on an empty PostgreSQL database, or embedded. `reset` deletes every user from PostgreSQL. */
export async function startRealService(
  entries: Entries,
  database: string,
  options: { readonly uniqueExternalIds?: boolean } = {},
): Promise<BenchService> {
  await using stack = new AsyncDisposableStack()
  const dir = stack.use(await tempDir())
  const port = await freePort()
  // JSON is valid YAML and parses faster than block style.
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
  const program = stack.use(startProgram(['start', '--config', config], { program: 'access-service' }))
  await program.waitForOutput(/listens on/)
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

/** Also vacuums, because the dead rows of one repetition slow down the next one. */
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
