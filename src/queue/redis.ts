import { Redis } from 'ioredis'
import { DirsyncdError, sentence } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import { createOutage, type Outage } from '../base/database/outage.ts'
import { withinTime } from '../base/within-time.ts'
import { TIMES } from './times.ts'

type RedisLink = {
  readonly redis: Redis
  readonly outage: Outage
  /** BullMQ sends Redis a last command before it closes, and would wait for ever while Redis is away. */
  closeDespiteOutage(close: () => Promise<void>): Promise<void>
}

/** Reconnects by itself. Throws `queue-unavailable` when the first connection fails. */
export async function openRedis(
  { url, password }: { url: string; password?: () => Promise<string> },
  log: Log | undefined,
  openMs = TIMES.jobs.open,
): Promise<RedisLink> {
  let state: 'opening' | 'open' | 'ending' = 'opening'
  let firstError: Error | undefined
  const redis = new Redis(url, {
    ...(password === undefined ? {} : { password: await password() }),
    lazyConnect: true,
    connectTimeout: 5000,
    // A blocked worker waits as long as the queue is away.
    maxRetriesPerRequest: null,
    retryStrategy: (times) => (state === 'open' ? Math.min(times * 100, 2000) : null),
  })
  const outage = createOutage(log, { away: 'Redis does not answer', back: 'Redis answers again' })
  // Every queue and worker listens on the one connection.
  redis.setMaxListeners(0)
  redis.on('error', (error) => {
    firstError ??= error
    if (state !== 'open' || outage.explains(error)) return
    log?.warn({ error: error.message }, 'the connection to Redis broke')
  })
  redis.on('ready', () => outage.over())
  try {
    // The time-out of ioredis ends with the connection, and a server that hangs accepts it.
    await withinTime(redis.connect(), openMs)
    await warnOfEviction(redis, log)
  } catch (error) {
    redis.disconnect()
    throw unavailable(url, firstError ?? error)
  }
  state = 'open'
  const copies = rememberCopies(redis)

  /** Every connection, also those that workers block on, tries at most once more and then ends. */
  function giveUp(): void {
    state = 'ending'
    // A client that is disconnected while it waits to reconnect never emits `end`, and BullMQ waits for that: a last
    // attempt ends it.
    for (const each of [redis, ...copies])
      if (each.status === 'reconnecting') each.connect().catch(() => undefined)
  }

  async function closeDespiteOutage(close: () => Promise<void>): Promise<void> {
    const watch = setInterval(() => {
      if (redis.status !== 'ready') giveUp()
    }, LOOK_MS)
    await close().finally(() => clearInterval(watch))
  }

  return { redis, outage, closeDespiteOutage }
}

const LOOK_MS = 2000

/** BullMQ copies the connection for each worker to block on. */
function rememberCopies(redis: Redis): ReadonlySet<Redis> {
  const copies = new Set<Redis>()
  const duplicate = redis.duplicate.bind(redis)
  redis.duplicate = (options) => {
    const copy = duplicate(options)
    copies.add(copy)
    return copy
  }
  return copies
}

/** A Redis that evicts keys when its memory is full loses jobs. */
async function warnOfEviction(redis: Redis, log: Log | undefined): Promise<void> {
  const memory = await redis.info('memory')
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1]
  if (policy === undefined || policy === 'noeviction') return
  log?.warn({ policy }, 'Redis may drop jobs when its memory is full: set maxmemory-policy to noeviction')
}

function unavailable(url: string, error: unknown): DirsyncdError {
  const { hostname, port } = new URL(url)
  const where = `Redis at ${hostname}:${port || 6379}`
  return new DirsyncdError('queue-unavailable', `The queue cannot be used (${where}): ${reason(error)}`, {
    cause: error,
  })
}

function reason(error: unknown): string {
  const text = sentence(error)
  if (text.includes('ECONNREFUSED')) return 'nothing listens there. Start the server or correct the address.'
  if (/ENOTFOUND|EAI_AGAIN/.test(text)) return 'the host name is not known. Correct the address.'
  if (/WRONGPASS|NOAUTH|invalid password|without any password/.test(text)) {
    return 'the server refused the login. Correct the user or the password.'
  }
  return `${text}.`
}
