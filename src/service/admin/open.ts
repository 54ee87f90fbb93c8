import { chmod, mkdir, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { openAddress, socketPath } from '../../base/socket/socket.ts'
import type { ServiceConfig } from '../config/config.ts'
import { connectSocket, type SocketClient } from '../../base/socket/socket-client.ts'
import { DirsyncdError, sentence } from '../../base/errors.ts'
import type { Log } from '../../base/log/log.ts'
import { newToken } from '../access-token.ts'
import { buildServiceAdminApp } from './app.ts'
import type { AdminDeps } from './deps.ts'
import { type KeyRotation, rotateKeys } from './keys.ts'
import type { AdminInput, AdminOutput } from './operations.ts'
import { createPerform, type Perform } from './perform.ts'
import type { FixtureResult } from '../fixture/load.ts'
import { readFixture } from '../fixture/read.ts'
import { type ReloadableVault, openReloadableVault } from '../keys/key-file.ts'
import { createEstimator, type Estimator } from '../password.ts'
import { requireKeys } from '../keys/rotate-key.ts'
import { openDatabase } from '../store/database.ts'
import type { WriteContext } from '../store/resource-tables.ts'
import { hashToken } from '../store/tokens.ts'
import { makeServiceTables, openServicePool } from '../store/open.ts'

export interface ServiceAdmin extends AsyncDisposable {
  readonly perform: Perform
  /** Only the caller sees the token; the service gets its hash. */
  createToken(
    input: Omit<AdminInput<'addToken'>, 'hash'>,
  ): Promise<AdminOutput<'addToken'> & { readonly token: string }>
  /** Reads the file, and the token files that it names, as the user of the command. */
  importFile(path: string): Promise<FixtureResult>
}

/**
 * Connects to the running service where the store is embedded; opens a PostgreSQL store directly. Without a running
 * service, opens the embedded store for one command.
 */
export async function openServiceAdmin(service: ServiceConfig, log: Log): Promise<ServiceAdmin> {
  if (service.store.kind === 'postgres') return openOwn(service, log)
  const deadline = performance.now() + START_MS
  for (;;) {
    const running = await connect(service)
    if (running !== undefined) return toAdmin(performThrough(running), running)
    try {
      return await openOwn(service, log)
    } catch (error) {
      // A starting service owns the store before it listens for commands.
      const owned = error instanceof DirsyncdError && error.code === 'store-owned'
      if (!owned || performance.now() > deadline) throw error
    }
    await sleep(200)
  }
}

async function openOwn(service: ServiceConfig, log: Log): Promise<ServiceAdmin> {
  await using stack = new AsyncDisposableStack()
  const pool = await openServicePool(stack, service, 'an access-service command', log)
  await makeServiceTables(pool, service)
  const perform = createPerform(
    depsOf(
      service,
      pool,
      () => openKeys(service, pool),
      () => rotateFor(service, pool),
    ),
  )
  return toAdmin(perform, stack.move())
}

/** A running service does the rotation, so that it encrypts with the new key from then on. */
async function rotateFor(service: ServiceConfig, pool: Pool): Promise<KeyRotation> {
  await using running = await connect(service)
  // Awaited here, because it may fail while the connection is being closed.
  if (running !== undefined) return await performThrough(running)('rotateKeys', {})
  return rotateKeys(pool, openReloadableVault(service.keyFile))
}

const START_MS = 10_000
/** Re-encrypting a large store takes long. */
const ROTATION_MS = 3_600_000

function connect(service: ServiceConfig): Promise<SocketClient | undefined> {
  return connectSocket(socketPath(service.dataDir, 'service.sock'), {
    who: 'service',
    afterLoss: 'Check whether it was done before you repeat it.',
    patience: ROTATION_MS,
  })
}

function performThrough(running: SocketClient): Perform {
  return (operation, input) => running.call('POST', `/${operation}`, input)
}

function toAdmin(perform: Perform, owned: AsyncDisposable): ServiceAdmin {
  return {
    perform,
    async createToken(input) {
      const token = newToken()
      return { ...(await perform('addToken', { ...input, hash: hashToken(token) })), token }
    },
    importFile: async (path) => perform('importFixture', { path, content: await readFixture(path) }),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  }
}

type Keys = Pick<WriteContext, 'vault' | 'estimate'>

/** With other keys than the store's, a command would write unreadable values. */
async function openKeys(service: ServiceConfig, pool: Pool): Promise<Keys> {
  const vault = openReloadableVault(service.keyFile)
  await requireKeys(pool, vault)
  return { vault, estimate: createEstimator() }
}

function depsOf(
  service: ServiceConfig,
  pool: Pool,
  keys: () => Promise<Keys>,
  rotate: () => Promise<KeyRotation>,
): AdminDeps {
  const writeContext = async () => ({ ...(await keys()), now: clock() })
  const publicUrl = service.publicUrl ?? ''
  return { pool, db: openDatabase(pool), now: clock, publicUrl, writeContext, rotateKeys: rotate }
}

function clock(): Date {
  return new Date()
}

/**
 * Accepts commands on a socket in the data directory that only this user can open, until the stack is disposed. With a
 * PostgreSQL store, a service that may not write to the directory runs without the socket.
 */
export async function listenForServiceAdmin(
  stack: AsyncDisposableStack,
  service: ServiceConfig,
  parts: {
    readonly pool: Pool
    readonly vault: ReloadableVault
    readonly estimate: Estimator
    readonly log: Log
  },
): Promise<void> {
  const { pool, vault, estimate, log } = parts
  const socket = socketPath(service.dataDir, 'service.sock')
  const app = buildServiceAdminApp(
    depsOf(
      service,
      pool,
      () => Promise.resolve({ vault, estimate }),
      () => rotateKeys(pool, vault),
    ),
    log,
  )
  const closing = stack.use(new AsyncDisposableStack())
  try {
    await mkdir(service.dataDir, { recursive: true, mode: 0o700 })
    const address = closing.use(await openAddress(socket))
    closing.defer(() => app.close())
    if (service.store.kind === 'postgres' && (await isTaken(service))) {
      log.info({ socket }, 'another service takes the commands of this data directory')
      return
    }
    await rm(socket, { force: true })
    await app.listen({ path: address.path })
    await chmod(socket, 0o600)
  } catch (error) {
    if (service.store.kind === 'embedded') throw noSocket(socket, error)
    log.warn({ socket, error: sentence(error) }, 'the service runs without its socket for commands')
  }
}

async function isTaken(service: ServiceConfig): Promise<boolean> {
  const other = await connect(service)
  await other?.[Symbol.asyncDispose]()
  return other !== undefined
}

function noSocket(socket: string, cause: unknown): DirsyncdError {
  return new DirsyncdError(
    'service-unavailable',
    `The service cannot listen for commands on ${socket}: ${sentence(cause)}.`,
    { cause },
  )
}
