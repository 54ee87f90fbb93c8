import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Pool } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { createRequestLog } from '../../src/service/http/request-log.ts'
import { openEmbeddedPool } from '../../src/base/database/embedded.ts'
import { type ApiRequest, ask } from '../contract/api.ts'
import { putEmptyStore } from '../support/empty-store.ts'
import { FIXTURE } from '../support/fixture.ts'
import { program } from '../support/packages.ts'
import { startPostgres } from '../support/postgres.ts'
import { type RunningService, startService, testVault } from '../support/service.ts'
import { tempDir } from '../support/temp.ts'

/** What a thief could take of a store. */
interface Store {
  readonly pool: Pool
  /** All rows as text. */
  dump(): Promise<string>
  /** Ends the pool and the server; resolves with the folder that holds every file of the database. */
  stop(): Promise<string>
}

const TOKENS = Object.entries(FIXTURE).flatMap(([name, value]) => {
  return /token$/i.test(name) && typeof value === 'string' ? [value] : []
})

/** In the store in the clear, so that a search which finds nothing at all is noticed. */
const PLAIN = ['ada@example.org', 'Front door']

export function testStolenDatabase(open: (stack: AsyncDisposableStack) => Promise<Store>): void {
  test('a stolen copy of the database reveals no password, vault value, token or private key, and neither do the logs', async () => {
    await using stack = new AsyncDisposableStack()
    const store = await open(stack)
    const logs = await startLogs(stack)
    const service = await startService({ pool: store.pool, log: logs.log, requestLog: logs.requestLog })
    stack.defer(() => service.close())

    const secrets = [...FIXTURE.secrets, ...TOKENS, 'Door code', 'two turns', ...(await useSecrets(service))]
    await useInVain(service)
    expect(new Set(secrets).size).toBeGreaterThan(20)
    await service.close()

    const dump = await store.dump()
    expect(PLAIN.filter((text) => !dump.includes(text))).toEqual([])
    expect(secrets.flatMap(spellings).filter((text) => dump.includes(text))).toEqual([])

    const folder = await store.stop()
    expect(await findInFiles(folder, PLAIN)).toEqual(new Set(PLAIN))
    expect(await findInFiles(folder, secrets)).toEqual(new Set())

    const lines = await logs.read()
    expect(lines).toContain('/credentials')
    expect(lines).toContain('request failed')
    expect(secrets.flatMap(spellings).filter((text) => lines.includes(text))).toEqual([])
  })
}

/** Makes everything that handles secrets do so; resolves with the secrets that came of it. */
async function useSecrets(service: RunningService): Promise<string[]> {
  const made: string[] = []
  const others = { token: FIXTURE.benToken, subscriptionId: FIXTURE.bensSubscriptionId }
  const theirs = {
    token: FIXTURE.otherToken,
    organizationId: FIXTURE.otherOrganizationId,
    subscriptionId: FIXTURE.otherSubscriptionId,
  }
  for (const request of [{}, { subscriptionId: FIXTURE.vaultItemId }, others, theirs])
    await read(service, request)
  for (const request of [{}, others]) {
    expect(await ask(service, 'resetPassword', request)).toMatchObject({ status: 200 })
    made.push((await read(service, request))['password']!)
  }
  expect(await ask(service, 'createAssertion')).toMatchObject({ status: 200 })
  for (const token of TOKENS) await ask(service, 'listSubscriptions', { token })
  return [...made, ...(await privateKeyLines(service.pool))]
}

async function read(service: RunningService, request: ApiRequest): Promise<Record<string, string>> {
  const answer = await ask(service, 'readCredentials', request)
  expect(answer.status).toBe(200)
  return answer.body as Record<string, string>
}

/** What is refused or fails must be as silent as what is done. */
async function useInVain(service: RunningService): Promise<void> {
  const locked = { subscriptionId: FIXTURE.lockedSubscriptionId }
  for (const request of [
    locked,
    { subscriptionId: FIXTURE.bensSubscriptionId },
    { token: FIXTURE.readOnlyToken },
  ]) {
    expect((await ask(service, 'readCredentials', request)).status).toBeOneOf([403, 404])
    expect((await ask(service, 'resetPassword', request)).status).toBeOneOf([403, 404])
  }
  await service.pool.query(
    'alter table access_management.events add constraint none check (id < 0) not valid',
  )
  expect((await ask(service, 'readCredentials')).status).toBe(500)
  expect((await ask(service, 'resetPassword')).status).toBe(500)
  await service.pool.query('alter table access_management.events drop constraint none')
}

/** The lines of the key that assertions are signed with. */
async function privateKeyLines(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: number; private_key: string; key_id: string }>(
    'select id, private_key, key_id from access_management.signing_keys where organization_id = $1',
    [FIXTURE.organizationId],
  )
  const { id, private_key: sealed, key_id: keyId } = rows[0]!
  const pem = testVault().open(sealed, keyId, `identity-provider:${id}`)
  return pem.split('\n').filter((line) => line.length > 40)
}

/** How a text looks in hexadecimal digits and, at any place of a longer text, in base64. */
function spellings(text: string): string[] {
  const bytes = Buffer.from(text)
  const encoded = [0, 1, 2].map((shift) => {
    const start = (3 - shift) % 3
    const whole = bytes.subarray(start, start + Math.floor((bytes.length - start) / 3) * 3)
    return whole.toString('base64')
  })
  return [text, bytes.toString('hex'), ...encoded]
}

async function findInFiles(folder: string, texts: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const bytes = await readFile(join(entry.parentPath, entry.name))
    for (const text of texts) if (bytes.includes(text)) found.add(text)
  }
  return found
}

/** Both logs of the service, saying all they can say. */
async function startLogs(stack: AsyncDisposableStack) {
  const dir = stack.use(await tempDir())
  const path = join(dir.path, 'requests.jsonl')
  const lines: string[] = []
  return {
    log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
    requestLog: stack.adopt(createRequestLog(path, silentLog()), (log) => log.close()),
    read: async () => `${lines.join('')}${await readFile(path, 'utf8')}`,
  }
}

export async function openEmbedded(stack: AsyncDisposableStack): Promise<Store> {
  const dir = stack.use(await tempDir())
  await putEmptyStore(dir.path)
  const pool = await openEmbeddedPool(join(dir.path, 'store'))
  const end = once(() => pool.end())
  stack.defer(end)
  return {
    pool,
    dump: () => dumpRows(pool),
    stop: async () => {
      await end()
      return dir.path
    },
  }
}

export async function openPostgres(stack: AsyncDisposableStack): Promise<Store> {
  const server = await startPostgres()
  stack.defer(() => server.close())
  const connectionString = await server.createDatabase()
  const pool = new Pool({ connectionString })
  pool.on('error', () => {})
  const end = once(() => pool.end())
  stack.defer(end)
  const { rows } = await pool.query<{ data_directory: string }>('show data_directory')
  return {
    pool,
    dump: async () => {
      const args = ['--inserts', connectionString]
      const { stdout } = await promisify(execFile)(program('pg_dump'), args, { maxBuffer: 2 ** 28 })
      return stdout
    },
    stop: async () => {
      await end()
      await server.stop()
      return rows[0]!.data_directory
    },
  }
}

/** All tables of all schemas, as PostgreSQL would write their rows. */
async function dumpRows(pool: Pool): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const texts: string[] = []
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${name} as t`)
    texts.push(name, ...rows.map(({ row }) => row))
  }
  return texts.join('\n')
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => (done ??= work())
}
