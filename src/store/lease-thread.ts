/**
 * The thread that renews the leases of a process on a PostgreSQL server, on a connection of its own. A loop of the main
 * thread that is blocked, such as by the plan for a million users, delays nothing here.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { Client } from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import { LeaseClock, now } from './lease-clock.ts'

export interface ThreadData {
  readonly url: string
  readonly password: string | undefined
}

export interface Held {
  readonly sync: string
  readonly owner: string
  readonly epoch: number
}

export type ToThread =
  | {
      readonly do: 'renew'
      readonly id: number
      readonly held: Held
      /** Those of `LeaseTimes`. */
      readonly times: { readonly renewal: number; readonly blocked: number }
      readonly memory: SharedArrayBuffer
    }
  | { readonly do: 'forget'; readonly id: number }
  | { readonly do: 'log in'; readonly password: string }

export type FromThread = { readonly say: 'lost'; readonly id: number } | { readonly say: 'login refused' }

type Renewed = Extract<ToThread, { do: 'renew' }> & { readonly clock: LeaseClock }

const { url, password: firstPassword } = workerData as ThreadData
const main = parentPort as MessagePort
const timers = new Map<number, NodeJS.Timeout>()
let password = firstPassword
let connection: Promise<Client> | undefined

main.on('message', (message: ToThread) => {
  if (message.do === 'renew') {
    const { renewal } = message.times
    plan({ ...message, clock: new LeaseClock(message.memory) }, renewal)
    // Connected before the first renewal is due.
    connected(renewal).catch(disconnect)
  } else if (message.do === 'forget') {
    clearTimeout(timers.get(message.id))
    timers.delete(message.id)
  } else {
    password = message.password
  }
})

function plan(lease: Renewed, ms: number): void {
  timers.set(
    lease.id,
    setTimeout(() => void renewAndGoOn(lease), ms),
  )
}

async function renewAndGoOn(lease: Renewed): Promise<void> {
  const { id, clock, times } = lease
  const asked = now()
  const ours = clock.sinceTurn() > times.blocked ? undefined : await renew(lease)
  if (!timers.has(id)) return
  if (ours === false) {
    timers.delete(id)
    tell({ say: 'lost', id })
    return
  }
  if (ours === true) clock.renewed(asked)
  plan(lease, ours === true ? times.renewal : times.renewal / 4)
}

/** Whether the lease is still this process's; undefined when the store does not say. */
async function renew({ held, times }: Renewed): Promise<boolean | undefined> {
  try {
    const client = await connected(times.renewal)
    const { rowCount } = await client.query({
      text: `UPDATE dirsyncd.leases SET renewed_at = clock_timestamp()
        WHERE sync = $1 AND owner = $2 AND epoch = $3`,
      values: [held.sync, held.owner, held.epoch],
    })
    return rowCount === 1
  } catch (error) {
    disconnect(error)
    return undefined
  }
}

function connected(patience: number): Promise<Client> {
  connection ??= connect(patience)
  return connection
}

async function connect(patience: number): Promise<Client> {
  const client = new Client({
    ...parseIntoClientConfig(url),
    ...(password !== undefined && { password }),
    application_name: 'dirsyncd leases',
    keepAlive: true,
    connectionTimeoutMillis: patience,
    query_timeout: patience,
  })
  // A connection that broke is found by the next renewal.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** The next renewal connects again. */
function disconnect(error: unknown): void {
  if (isRefusedLogin(error)) tell({ say: 'login refused' })
  connection?.then((client) => client.end()).catch(() => undefined)
  connection = undefined
}

/** The driver itself refuses to log in without a password where the server asks for one. */
function isRefusedLogin(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && error.code === '28000') || /password/.test(error.message)
}

function tell(message: FromThread): void {
  main.postMessage(message)
}
