import { join } from 'node:path'
import { Pool, type PoolConfig } from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import { DirsyncdError, sentence } from '../errors.ts'
import type { Log } from '../log/log.ts'
import type { SecretReader } from '../secrets/secret.ts'
import { hasEmbeddedStore, lastAside } from './aside.ts'
import { openEmbeddedPool } from './embedded.ts'
import { createOutage, type Outage, isAway, takesNoWrites, whyAway } from './outage.ts'
import { acquireDataDir } from './owner.ts'
import { filesOfOthers } from './ownership.ts'
import type { StoreConfig } from './store-config.ts'

export type EmbeddedOptions = {
  kind: 'embedded'
  /** Created if need be, with `owner.lock`, `owner.json` and the database in `store/`. */
  dataDir: string
  /** This process, such as `dirsyncd start`; other processes name it in their error. */
  command?: string
  /** The caller has acquired `dataDir` itself, and keeps it when the store is closed. */
  isOwned?: boolean
}

export type PostgresOptions = {
  kind: 'postgres'
  /** `postgres://user@host:port/database?sslmode=…`, as libpq reads it. */
  url: string
  /** Read at every new connection, so that a changed password is used. */
  password?: () => Promise<string>
  /** As for an embedded store; the server shows the program. */
  command?: string
}

export type DatabaseOptions = (EmbeddedOptions | PostgresOptions) & {
  log?: Log
  /** The server ends an idle transaction and its connection after so many milliseconds. */
  idleMs?: number
}

/** `command` names the owner of an embedded store in the errors of other processes. */
export function databaseOptions(
  store: StoreConfig,
  { dataDir, command, log }: { readonly dataDir: string; readonly command: string; readonly log: Log },
): DatabaseOptions {
  if (store.kind === 'embedded') return { kind: 'embedded', dataDir, command, log }
  return { kind: 'postgres', url: store.url, command, log, ...passwordOf(store.password) }
}

export function passwordOf(secret: SecretReader | undefined): { password?: () => Promise<string> } {
  return secret === undefined ? {} : { password: () => secret.read() }
}

/**
 * Does not look at the tables; the stack closes the database.
 *
 * @throws DirsyncdError `store-owned` when another process has the data directory, `store-unavailable` when the server
 *   or the directory cannot be used
 */
export function openPool(
  stack: AsyncDisposableStack,
  options: DatabaseOptions,
  outage = createStoreOutage(options.log),
): Promise<Pool> {
  return options.kind === 'embedded'
    ? openEmbedded(stack, options, outage)
    : openPostgres(stack, options, outage)
}

/** As the beginning of a sentence. */
export function describeDatabase(options: DatabaseOptions): string {
  if (options.kind === 'embedded') return `The embedded store in ${options.dataDir}`
  const { host, port, database } = placeOf(poolConfig(options))
  return `The store at ${host}:${port}, database ${database},`
}

export function createStoreOutage(log: Log | undefined): Outage {
  const outage = createOutage(log, { away: 'the store does not answer', back: 'the store answers again' })
  // The outage of the queue reports Redis.
  return { ...outage, explains: (error) => takesNoWrites(error) || outage.explains(error) }
}

/** Without listeners a broken connection would end the process. Its user gets the error of the query anyway. */
function surviveErrors(pool: Pool, log: Log | undefined, outage: Outage): Pool {
  // Every queue and worker listens for the pool's errors.
  pool.setMaxListeners(0)
  pool.on('error', (error) => {
    if (!outage.explains(error)) log?.warn({ error: error.message }, 'an idle connection to the store broke')
  })
  pool.on('connect', (client) => {
    // The pool does not listen to a connection that is checked out and breaks between two queries.
    client.on('error', () => undefined)
    outage.over()
  })
  return pool
}

async function openEmbedded(
  stack: AsyncDisposableStack,
  options: EmbeddedOptions & { log?: Log },
  outage: Outage,
): Promise<Pool> {
  const { dataDir, command, isOwned = false } = options
  if (!isOwned) stack.use(await acquireDataDir(dataDir, command === undefined ? {} : { command }))
  refuseSecond(dataDir)
  const others = await filesOfOthers(dataDir)
  if (others !== undefined)
    throw new DirsyncdError('store-unavailable', `The embedded store in ${dataDir} does not open: ${others}`)
  try {
    return surviveErrors(stack.use(await openEmbeddedPool(join(dataDir, 'store'))), options.log, outage)
  } catch (error) {
    throw new DirsyncdError(
      'store-unavailable',
      `The embedded store in ${dataDir} does not open: ${whyNotOpen(error)}. ` +
        'Free space or repair the directory; moving store/ away starts with an empty history.',
      { cause: error },
    )
  }
}

/** A configuration from before a move would begin anew beside the moved store, without its holds. */
export function refuseSecond(dataDir: string): void {
  const aside = lastAside(dataDir)
  if (aside === undefined || hasEmbeddedStore(dataDir)) return
  throw new DirsyncdError(
    'store-unavailable',
    `The embedded store of ${dataDir} was moved to PostgreSQL, and its files are in ${aside}: name that database in ` +
      '`store`, or, to go back to what they hold, rename them to `store`; to begin with an empty store, move them elsewhere.',
  )
}

/** WASI error numbers. */
const FILE_SYSTEM: Readonly<Record<number, string>> = {
  2: 'a file may not be read or written',
  29: 'the disk does not read or write',
  51: 'the disk is full',
  63: 'a file may not be read or written',
  69: 'the disk is read-only',
}

/** Without the advice of the database's WebAssembly to its developers. */
export function whyNotOpen(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'errno' in error && !(error instanceof Error))
    return FILE_SYSTEM[Number(error.errno)] ?? `its files cannot be used (error ${String(error.errno)})`
  return sentence(error).replace(/\.?( Build with -sASSERTIONS.*)?$/, '')
}

/**
 * A server would finish a long statement, with all its locks, although its client is gone, and the next process would
 * wait for it. Servers before version 14 cannot do better.
 */
const END_WITH_CLIENT = `SELECT set_config(name, '2s', false) FROM pg_settings
  WHERE name = 'client_connection_check_interval'`

async function openPostgres(
  stack: AsyncDisposableStack,
  options: PostgresOptions & { log?: Log; idleMs?: number },
  outage: Outage,
): Promise<Pool> {
  const config = poolConfig(options)
  const pool = stack.adopt(surviveErrors(new Pool(config), options.log, outage), (opened) => opened.end())
  try {
    await pool.query('select 1')
  } catch (error) {
    throw unavailable(config, error)
  }
  return pool
}

function poolConfig({
  url,
  password,
  idleMs,
  command = 'dirsyncd',
}: PostgresOptions & { idleMs?: number }): PoolConfig {
  const [program] = command.split(' ')
  const idle = idleMs === undefined ? '' : ` -c idle_in_transaction_session_timeout=${idleMs}`
  return {
    ...parseIntoClientConfig(url),
    ...(password === undefined ? {} : { password }),
    // Once a table is known to be large, the server would compile statements of two milliseconds for 300 each time.
    options: `-c search_path=bullmq,public -c jit=off${idle}`,
    application_name: program,
    // The queue adds one for each worker, which keeps a connection to listen on.
    max: 10,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    // The pool awaits it, whatever its types say.
    onConnect: (client): unknown => client.query(END_WITH_CLIENT),
  }
}

function unavailable(config: PoolConfig, error: unknown): DirsyncdError {
  const { host, port, database, user } = placeOf(config)
  const where = `PostgreSQL at ${host}:${port}, database ${database}, user ${user}`
  return new DirsyncdError('store-unavailable', `The store cannot be used (${where}): ${reason(error)}`, {
    cause: error,
  })
}

function placeOf({ host = 'localhost', port = 5432, database = '', user = '' }: PoolConfig) {
  return { host, port, database, user }
}

function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing listens there. Start the server or correct the address.'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the host name is not known. Correct the address.'
    case '28P01':
    case '28000':
      return 'the server refused the login. Correct the user or the password.'
    case '42501':
      return `${sentence(error).replace(/\.$/, '')}. Grant this user CONNECT on the database.`
    case '3D000':
      return 'that database does not exist. Create it or correct the address.'
    default:
      return `${(isAway(error) ? whyAway(error) : sentence(error)).replace(/\.$/, '')}.`
  }
}
