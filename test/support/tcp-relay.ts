import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface HostPort {
  readonly host: string
  readonly port: number
}

export interface TcpRelay extends AsyncDisposable {
  readonly port: number
}

/**
 * Starts a TCP relay: each client connection gets its own connection to the target, and both close together. `onPair`
 * must copy the bytes.
 */
export async function startTcpRelay(
  target: HostPort,
  listen: HostPort,
  onPair: (client: Socket, upstream: Socket) => void,
): Promise<TcpRelay> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket)
          client.destroy()
          upstream.destroy()
        })
    }
    onPair(client, upstream)
  }).listen(listen.port, listen.host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
