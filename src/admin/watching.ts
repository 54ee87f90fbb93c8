import Fastify, { type FastifyInstance } from 'fastify'
import { type Access, guardAccess } from './access.ts'
import { answerErrors } from './answer-errors.ts'

/** What a process tells those who watch over it. */
export interface Watching {
  /** Why it cannot do its work as it should, in a sentence; `undefined` while it can. */
  readonly whyNotReady: () => Promise<string | undefined>
  /** In Prometheus' text format. */
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
}

const OPEN = { config: { isOpen: true } }

/** `/healthz`: the process lives. `/readyz`: it can do its work. `/metrics`: for Prometheus. */
export function addWatching(app: FastifyInstance, { whyNotReady, metrics }: Watching): void {
  app.get('/healthz', OPEN, () => ({ status: 'ok' }))
  app.get('/readyz', OPEN, async (_request, reply) => {
    const why = await whyNotReady()
    return why === undefined ? { status: 'ready' } : reply.status(503).send({ status: 'not ready', why })
  })
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await metrics()
    return reply.type(contentType).send(text)
  })
}

/** What a worker shows. Never listens by itself. */
export function buildWorkerApp(watching: Watching, access: Access): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true })
  answerErrors(app)
  guardAccess(app, access)
  addWatching(app, watching)
  return app
}
