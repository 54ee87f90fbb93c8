import { Redis } from 'ioredis'
import { redisServer } from './packages.ts'
import { freePort, startServer } from './server-process.ts'
import { tempDir } from './temp.ts'

export type RedisServer = {
  readonly url: string
  readonly port: number
  stop(): Promise<void>
  start(): Promise<void>
  /** Empties it, as an operator's mistake would. */
  flush(): Promise<void>
  close(): Promise<void>
}

export type RedisServerOptions = {
  /** Keeps the data over stop and start. */
  appendOnly?: boolean
  /** More of `redis-server`'s own options, such as `['--requirepass', 'x']`. */
  args?: string[]
}

/** Starts a Redis of its own on a free port. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const dir = await tempDir()
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', dir.path, '--save', '']
  args.push('--appendonly', options.appendOnly ? 'yes' : 'no', ...(options.args ?? []))
  const begin = () =>
    startServer({ command: redisServer(), args, ready: () => ask(url), stopSignal: 'TERM', dir: dir.path })
  let server = await begin()
  return {
    url,
    port,
    stop: () => server.stop(),
    async start() {
      server = await begin()
    },
    flush: () => ask(url, (redis) => redis.flushall()),
    async close() {
      await server.stop()
      await dir[Symbol.asyncDispose]()
    },
  }
}

async function ask(url: string, question?: (redis: Redis) => Promise<unknown>): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 })
  redis.on('error', () => undefined)
  try {
    await redis.connect()
    if (question === undefined) await redis.ping().catch(acceptRefusal)
    else await question(redis)
  } finally {
    redis.disconnect()
  }
}

/** A server that asks for a password is up as well. */
function acceptRefusal(error: unknown): void {
  if (!String(error).includes('NOAUTH')) throw error
}
