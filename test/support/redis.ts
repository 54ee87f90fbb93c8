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
  /** Deletes all data, as an operator may do by mistake. */
  flush(): Promise<void>
  /** Makes it a replica of a server that is not there, as after a failover, or the primary again. */
  refuseWrites(isRefusing: boolean): Promise<void>
  close(): Promise<void>
}

export type RedisServerOptions = {
  /** Keeps the data across `stop` and `start`. */
  appendOnly?: boolean
  /** The signal that `stop` sends; `KILL` simulates a crash. `TERM` by default. */
  stopSignal?: 'TERM' | 'KILL'
  /** More options for `redis-server`, such as `['--requirepass', 'x']`. */
  args?: string[]
}

/** Starts a Redis server on a free port of 127.0.0.1. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const dir = await tempDir()
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', dir.path, '--save', '']
  args.push('--appendonly', options.appendOnly ? 'yes' : 'no', ...(options.args ?? []))
  const launch = () =>
    startServer({
      command: program('redis-server'),
      args,
      ready: () => ping(port),
      stopSignal: options.stopSignal ?? 'TERM',
      dir: dir.path,
    })
  let server = await launch()
  return {
    url,
    port,
    stop: () => server.stop(),
    async start() {
      server = await launch()
    },
    flush: () => command(url, 'FLUSHALL'),
    refuseWrites: (isRefusing) =>
      command(url, 'REPLICAOF', ...(isRefusing ? ['127.0.0.1', '1'] : ['NO', 'ONE'])),
    async close() {
      await server.stop()
      await dir[Symbol.asyncDispose]()
    },
  }
}

async function command(url: string, name: string, ...args: string[]): Promise<void> {
  const redis = new Redis(url)
  await redis.call(name, ...args)
  redis.disconnect()
}

/** Accepts any answer, because a server that requires a password answers with an error. */
async function ping(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  try {
    socket.write('PING\r\n')
    await once(socket, 'data')
  } finally {
    socket.destroy()
  }
}
