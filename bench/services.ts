import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { request } from 'undici'
import { stringify } from 'yaml'
import { newKeyLine } from '../src/service/keys/vault.ts'
import { startProgram } from '../test/support/program.ts'
import { freePort } from '../test/support/server-process.ts'
import { FIXTURE } from '../test/support/fixture.ts'
import { runSql } from '../test/support/postgres.ts'
import { tempDir } from '../test/support/temp.ts'
import type { InstantServiceTask, RequestCounts } from './contenders/instant-service.ts'
import type { Entries } from './people.ts'
import { startContender } from './processes.ts'

/** URL, paths and headers of the directory's HTTP API, so that a floor needs no code of ours. */
export interface DirectoryApi {
  readonly baseUrl: string
  readonly usersPath: string
  readonly groupsPath: string
  /** The headers of every request. */
  readonly headers: Readonly<Record<string, string>>
}

/** The directory of the tests' fixture. */
function directoryApi(baseUrl: string): DirectoryApi {
  const { organizationId, directoryId, token } = FIXTURE
  const directory = `/api/v2/organizations/${organizationId}/admin/directories/${directoryId}`
  return {
    baseUrl,
    usersPath: `${directory}/users`,
    groupsPath: `${directory}/groups`,
    headers: { authorization: `token ${token}`, 'x-device-id': 'bench' },
  }
}

/** A service in its own process, whose directory can be reset to its initial content. */
export interface BenchService extends AsyncDisposable {
  readonly baseUrl: string
  readonly api: DirectoryApi
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
    api: directoryApi(baseUrl),
    reset: () => contender.run(),
    async requests() {
      const answer = await request(`${baseUrl}/bench/requests`)
      return (await answer.body.json()) as RequestCounts
    },
    [Symbol.asyncDispose]: () => contender[Symbol.asyncDispose](),
  }
}

/** Starts access-service on an empty PostgreSQL database, or embedded. `reset` deletes every user from PostgreSQL. */
export async function startRealService(entries: Entries, database: string): Promise<BenchService> {
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
    rateLimit: null,
  }
  await writeFile(config, stringify({ dataDir: './data', log: { level: 'warn' }, service }))
  const program = stack.use(startProgram(['start', '--config', config], { program: 'access-service' }))
  await program.waitForOutput(/listens on/)
  const owned = stack.move()
  const baseUrl = `http://127.0.0.1:${port}`
  return {
    kind: 'real',
    baseUrl,
    api: directoryApi(baseUrl),
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
  for (const statement of [
    'truncate access_management.external_users, access_management.entry_blocks, access_management.events',
    'update access_management.directories set user_count = 0',
    'vacuum analyze access_management.directories',
  ])
    await runSql(database, statement)
}
