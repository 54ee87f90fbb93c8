import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const LISTEN = `
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    process.send(server.address().port)
  })
`

/**
 * A port of 127.0.0.1 whose queue of connections is full: who connects waits for ever, as behind a firewall that drops
 * what it does not like.
 */
export async function startDeafListener(): Promise<AsyncDisposable & { readonly port: number }> {
  const child = spawn(process.execPath, ['-e', LISTEN], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [port]: number[] = await once(child, 'message')
  child.kill('SIGSTOP')
  const fillers: Socket[] = []
  for (let waits = false; !waits;) {
    const filler = connect({ port: port ?? 0, host: '127.0.0.1' }).on('error', () => undefined)
    fillers.push(filler)
    waits = await once(filler, 'connect', { signal: AbortSignal.timeout(200) }).then(
      () => false,
      () => true,
    )
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
