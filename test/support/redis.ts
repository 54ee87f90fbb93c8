import { once } from 'node:events'
import { connect } from 'node:net'
import { Redis } from 'ioredis'
import { program } from './packages.ts'
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
  /** What `stop` sends; `KILL` is a crash. `TERM` by default. */
  stopSignal?: 'TERM' | 'KILL'
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
    startServer({
      command: program('redis-server'),
      args,
      ready: () => ping(port),
      stopSignal: 'TERM',
      dir: dir.path,
    })
  let server = await begin()
  return {
    url,
    port,
    stop: () => server.stop(),
    async start() {
      server = await begin()
    },
    flush: () => flush(url),
    async close() {
      await server.stop()
      await dir[Symbol.asyncDispose]()
    },
  }
}

async function flush(url: string): Promise<void> {
  const redis = new Redis(url)
  await redis.flushall()
  redis.disconnect()
}

/** Any answer will do: a server that asks for a password, which no client is given here, is up as well. */
async function ping(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  try {
    socket.write('PING\r\n')
    await once(socket, 'data')
  } finally {
    socket.destroy()
  }
}
