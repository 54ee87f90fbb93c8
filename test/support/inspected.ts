import { once } from 'node:events'

/** Has a process that runs with `--inspect=127.0.0.1:<port>` collect its garbage. */
export async function collectGarbage(port: number): Promise<void> {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as [
    { readonly webSocketDebuggerUrl: string },
  ]
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  await once(socket, 'open')
  // The second one frees what finalizers of the first one let go.
  for (const id of [1, 2]) {
    socket.send(JSON.stringify({ id, method: 'HeapProfiler.collectGarbage' }))
    await once(socket, 'message')
  }
  socket.close()
}
