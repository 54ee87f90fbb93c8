import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { PATIENCE } from './patience.ts'

export type ServerProcess = {
  /** Stops the server and waits for its end. */
  stop(): Promise<void>
}

export type ServerOptions = {
  command: string
  args: string[]
  /** Resolves when the server answers; called again after each rejection. */
  ready: () => Promise<unknown>
  /** The signal that stops the server; `TERM` by default. */
  stopSignal?: 'INT' | 'TERM' | 'QUIT' | 'KILL'
  /** A directory to delete when the test run dies without stopping the server. */
  dir?: string
  uid?: number
  gid?: number
  env?: NodeJS.ProcessEnv
}

/**
 * A shell script that stops the server when its standard input closes, because a killed test run cannot do that. It
 * kills a server that still runs ten seconds later.
 */
const SUPERVISOR = `
exec 3<&0
"$@" </dev/null &
server=$!
{
  read -r word <&3
  kill -$STOP $server 2>/dev/null
  tries=100
  while kill -0 $server 2>/dev/null && [ $tries -gt 0 ]; do sleep 0.1; tries=$((tries - 1)); done
  kill -KILL $server 2>/dev/null
  [ "$word" != stop ] && [ -n "$DIR" ] && rm -rf "$DIR"
} &
wait $server
exit 0
`

/** Starts a server and waits until it answers. Throws when it does not answer for too long. */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const supervisor = spawn('/bin/sh', ['-c', SUPERVISOR, 'supervisor', options.command, ...options.args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env, STOP: options.stopSignal ?? 'TERM', DIR: options.dir ?? '' },
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  })
  const output = collect(supervisor)
  await waitUntilReady(supervisor, options, output)
  return { stop: () => stop(supervisor) }
}

function collect(child: ChildProcess): () => string {
  let text = ''
  const add = (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-4000)
  }
  child.stdout?.on('data', add)
  child.stderr?.on('data', add)
  return () => text
}

async function waitUntilReady(
  child: ChildProcess,
  options: ServerOptions,
  output: () => string,
): Promise<void> {
  const deadline = Date.now() + PATIENCE.timeout
  for (;;) {
    const answered = await options.ready().then(
      () => true,
      () => false,
    )
    if (answered) return
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop(child)
      throw new Error(`${options.command} did not start: ${output()}`)
    }
    await sleep(30)
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.stdin?.end('stop\n')
  await gone
}

/**
 * An unused port of 127.0.0.1. It is below the range of the ephemeral ports, from which an outgoing connection could
 * take it before the server starts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
