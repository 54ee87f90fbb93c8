import Fastify, { type FastifyInstance } from 'fastify'
import type { Log } from '../../base/log/log.ts'
import { type Access, guardAccess, HEADERS } from './access.ts'
import { answerErrors } from './answer-errors.ts'

export interface Watching {
  /** One sentence; `undefined` while the process is ready. */
  readonly whyNotReady: () => Promise<string | undefined>
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
}

const OPEN = { config: { isOpen: true } }

function addHealth(app: FastifyInstance, { whyNotReady }: Watching): void {
  app.get('/healthz', OPEN, () => ({ status: 'ok' }))
  app.get('/readyz', OPEN, async (_request, reply) => {
    const why = await whyNotReady()
    return why === undefined ? { status: 'ready' } : reply.status(503).send({ status: 'not ready', why })
  })
}

export function addWatching(app: FastifyInstance, watching: Watching): void {
  addHealth(app, watching)
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await watching.metrics()
    return reply.type(contentType).send(text)
  })
}

/**
 * Never listens by itself.
 *
 * @param access undefined without a token: then there are no metrics
 */
export function buildWorkerApp(watching: Watching, access: Access | undefined, log: Log): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true })
  answerErrors(app, log)
  if (access === undefined) {
    app.addHook('onRequest', async (_request, reply) => void reply.headers(HEADERS))
    app.setNotFoundHandler((_request, reply) => reply.status(404).send({ message: ONLY_HEALTH }))
    addHealth(app, watching)
  } else {
    guardAccess(app, access)
    addWatching(app, watching)
  }
  return app
}

const ONLY_HEALTH = 'A worker without admin.token shows only /healthz and /readyz.'
