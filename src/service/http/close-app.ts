import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** Cuts requests that have not ended after `grace` milliseconds. */
export async function closeApp(app: FastifyInstance, grace: number): Promise<void> {
  const closed = app.close()
  const inTime = new AbortController()
  const overdue = sleep(grace, undefined, { signal: inTime.signal }).then(
    () => app.server.closeAllConnections(),
    () => undefined,
  )
  await closed
  inTime.abort()
  await overdue
}
