import { execFile } from 'node:child_process'
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { program } from './packages.ts'
import { freePort, startServer } from './server-process.ts'
import { tempDir } from './temp.ts'
import { unprivileged, type User } from './unprivileged.ts'

export type PostgresServer = {
  /** The URL of the database `postgres`; tests create their own databases. */
  readonly url: string
  readonly port: number
  /** Creates an empty database and resolves with its URL. */
  createDatabase(name?: string): Promise<string>
  stop(): Promise<void>
  start(): Promise<void>
  /** Stops the server and its connections with SIGSTOP. */
  freeze(): Promise<void>
  /** Continues what `freeze` stopped. */
  resume(): Promise<void>
  close(): Promise<void>
}

/** `pg_hba.conf`: only the user `locked`, whom a test creates, needs a password. */
const ACCESS = `local all all trust
host all locked 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
`

/**
 * Starts a PostgreSQL server on a free port of 127.0.0.1, for a test that stops the server. Other tests call
 * `createDatabase` of `databases.ts`.
 *
 * @param more settings, such as `autovacuum_naptime=1s`
 */
export async function startPostgres(more: readonly string[] = []): Promise<PostgresServer> {
  const temp = await tempDir()
  // PostgreSQL refuses to run as root.
  const user = unprivileged('postgres', 'nobody')
  const data = join(temp.path, 'data')
  await mkdir(data, { mode: 0o700 })
  await own(temp.path, user)
  await own(data, user)
  const initdb = ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C']
  await promisify(execFile)(program('initdb'), initdb, { ...user, cwd: temp.path })
  await writeFile(join(data, 'pg_hba.conf'), ACCESS)
  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const settings = [
    'listen_addresses=127.0.0.1',
    'fsync=off',
    'max_connections=500',
    'shared_buffers=32MB',
    'max_wal_size=128MB',
    ...more,
  ]
  const args = ['-D', data, '-p', `${port}`, '-k', data, ...settings.flatMap((setting) => ['-c', setting])]
  const launch = () =>
    startServer({
      command: program('postgres'),
      args,
      ready: () => runSql(url, 'select 1'),
      stopSignal: 'INT',
      dir: temp.path,
      ...user,
    })
  let server = await launch()
  let databases = 0
  return {
    url,
    port,
    async createDatabase(name = `test_${(databases += 1)}`) {
      await runSql(url, `create database ${name}`)
      return url.replace(/postgres$/, name)
    },
    stop: () => server.stop(),
    async start() {
      server = await launch()
    },
    freeze: () => signalAll(data, 'SIGSTOP'),
    resume: () => signalAll(data, 'SIGCONT'),
    async close() {
      await server.stop()
      await temp[Symbol.asyncDispose]()
    },
  }
}

/** Sends a signal to the server of this data directory and to the processes that it has made. */
async function signalAll(data: string, signal: NodeJS.Signals): Promise<void> {
  const server = Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'))
  const children = await readFile(`/proc/${server}/task/${server}/children`, 'utf8')
  for (const pid of [server, ...children.split(' ').filter(Boolean).map(Number)]) {
    try {
      process.kill(pid, signal)
    } catch {
      // A connection may have ended meanwhile.
    }
  }
}

async function own(path: string, { uid, gid }: User): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid)
}

/** Runs one SQL statement on a server that may be still starting. */
export async function runSql(url: string, query: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  // A starting server drops connections.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query(query)
  } finally {
    await client.end().catch(() => undefined)
  }
}
