import type { FastifyInstance } from 'fastify'
import type { Log } from '../../base/log/log.ts'
import { parseIp } from '../events/ip-address.ts'
import { clientKey } from './client-address.ts'
import type { IsProxy } from './trusted-proxies.ts'

export interface ConnectionLimits {
  /** One client may have a quarter of them. */
  readonly max: number
  /** Proxies may have all of them. */
  readonly isProxy: IsProxy
}

/** Closes connections above the limits at once, with one warning a minute for each limit. */
export function limitConnections(app: FastifyInstance, limits: ConnectionLimits, log: Log): void {
  const { max, isProxy } = limits
  const most = Math.ceil(max / 4)
  const open = new Map<string, number>()
  const warnOfAll = atMostOncePerMinute(() =>
    log.warn({ most: max }, 'a connection was closed because too many are open'),
  )
  const warnOfClient = atMostOncePerMinute((address: string) => {
    log.warn({ address, most }, 'a connection was closed because its address has too many')
  })

  app.server.maxConnections = max
  app.server.on('drop', () => warnOfAll())
  app.server.on('connection', (socket) => {
    const ip = parseIp(socket.remoteAddress ?? '')
    if (ip === undefined || isProxy(ip.text)) return
    const client = clientKey(ip)
    const count = open.get(client) ?? 0
    if (count >= most) {
      socket.destroy()
      warnOfClient(ip.text)
      return
    }
    open.set(client, count + 1)
    socket.once('close', () => {
      const left = (open.get(client) ?? 1) - 1
      if (left === 0) open.delete(client)
      else open.set(client, left)
    })
  })
}

const WARN_INTERVAL_MS = 60_000

function atMostOncePerMinute<Args extends unknown[]>(warn: (...args: Args) => void): (...args: Args) => void {
  let lastAt: number | undefined
  return (...args) => {
    if (lastAt !== undefined && performance.now() - lastAt < WARN_INTERVAL_MS) return
    lastAt = performance.now()
    warn(...args)
  }
}
