import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { PGlite } from '@electric-sql/pglite'
import { Pool, type PoolClient } from 'pg'
import { systemCode } from '../errors.ts'
import { Session, SessionStream } from './embedded-session.ts'

/**
 * The system caches the files as well. PGlite's default takes, and fills at each start, four times as much, and makes
 * no run faster.
 */
const PAGES = ['-c', 'shared_buffers=32MB']

/** PGlite inside this process. `end()` (or dispose) closes the database as well. */
export type EmbeddedPool = Pool & AsyncDisposable

/**
 * Opens, or on first use creates, a database in the directory `dir`. The caller must be the directory's only process:
 * two that open one directory destroy each other's tables (see owner.ts).
 *
 * Uses pg's own pool and client over an in-process stream, so parameters, types, errors and results are those of a
 * server. PGlite has one session, so all clients share its settings (`search_path` is `bullmq, public`), and a query or
 * a transaction waits until the one before has ended.
 *
 * Acknowledged writes survive every end of the process, SIGKILL included, but not a power cut: PGlite runs with fsync
 * off.
 */
export async function openEmbeddedPool(dir: string): Promise<EmbeddedPool> {
  compileOnce()
  await createOnce(dir)
  await closeToOthers(dir)
  const startParams = [...PGlite.defaultStartParams, ...PAGES]
  const database = await PGlite.create({ dataDir: dir, relaxedDurability: false, startParams })
  const session = new Session(database)
  const pool = new ClosingPool(session, () => database.close())
  try {
    await pool.query('set search_path = bullmq, public')
  } catch (error) {
    await pool.end()
    throw error
  }
  return pool
}

/**
 * V8 would compile the database's WebAssembly again with its optimizing compiler, which costs seconds of a core and
 * half a gigabyte for a moment, and makes the small statements of a store no faster; see docs/decisions.md.
 */
function compileOnce(): void {
  // On the command line the first flag implies the others; here it does not.
  for (const flag of ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) {
    setFlagsFromString(flag)
  }
}

/** Creation takes seconds; a process that dies in it must not leave half a database under the final name. */
async function createOnce(dir: string): Promise<void> {
  if (await exists(join(dir, 'PG_VERSION'))) return
  const unfinished = `${dir}.new`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  const database = await PGlite.create({ dataDir: unfinished })
  await database.close()
  await rename(unfinished, dir)
}

/**
 * PGlite makes its files readable and writable by every user, whatever the umask, so the directory has to protect them.
 * Only the owner of an older directory may change its mode.
 */
async function closeToOthers(dir: string): Promise<void> {
  await chmod(dir, 0o700).catch((error: unknown) => {
    if (systemCode(error) !== 'EPERM') throw error
  })
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

class ClosingPool extends Pool {
  readonly #close: () => Promise<void>

  constructor(session: Session, close: () => Promise<void>) {
    // A client costs an object and no connection: every worker of the queue keeps one to listen on.
    super({
      max: 1000,
      idleTimeoutMillis: 0,
      keepAlive: true,
      user: 'postgres',
      stream: () => new SessionStream(session),
    })
    this.#close = close
    this.query = withoutNames(super.query.bind(this))
    this.on('release', (_error: Error, client: PoolClient) => rollBackLeftover(client))
  }

  override async end(): Promise<void> {
    await super.end()
    await this.#close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end()
  }
}

/** The clients share one session, in which a second client could not prepare a statement of the same name. */
function withoutNames(query: Pool['query']): Pool['query'] {
  const send = query as (...parts: unknown[]) => unknown
  const unnamed = (statement: unknown, ...rest: unknown[]) =>
    typeof statement === 'object'
      ? send({ ...statement, name: undefined }, ...rest)
      : send(statement, ...rest)
  return unnamed as Pool['query']
}

/** A client released within a transaction would block all others for ever. */
function rollBackLeftover(client: PoolClient): void {
  const { connection } = client as unknown as { connection: { stream: SessionStream } }
  void connection.stream.rollBack().catch(() => undefined)
}
