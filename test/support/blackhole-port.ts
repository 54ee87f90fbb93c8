import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const LISTEN = `
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    process.send(server.address().port)
  })
`

/**
 * Opens a port on 127.0.0.1 and fills its accept queue: a client's connect never completes, as behind a firewall that
 * drops packets.
 */
export async function startBlackholePort(): Promise<AsyncDisposable & { readonly port: number }> {
  const child = spawn(process.execPath, ['-e', LISTEN], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [port]: number[] = await once(child, 'message')
  child.kill('SIGSTOP')
  const fillers: Socket[] = []
  for (let isFull = false; !isFull;) {
    const filler = connect({ port: port ?? 0, host: '127.0.0.1' }).on('error', () => undefined)
    fillers.push(filler)
    const connected = once(filler, 'connect').then(() => false)
    // A busy loop runs its timers before it sees that the connection stands.
    const silent = sleep(200).then(() => new Promise((resolve) => setImmediate(resolve, true)))
    isFull = (await Promise.race([connected, silent])) === true
  }
  return {
    port: port ?? 0,
    async [Symbol.asyncDispose]() {
      for (const filler of fillers) filler.destroy()
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
