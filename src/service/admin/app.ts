import Fastify, { type FastifyInstance } from 'fastify'
import { DirsyncdError, sentence } from '../../base/errors.ts'
import type { Log } from '../../base/log/log.ts'
import type { AdminDeps } from './deps.ts'
import { type AdminOperation, adminOperations } from './operations.ts'
import { performUntrusted } from './perform.ts'

/** An imported file may hold the users of a large directory. */
const BODY_LIMIT = 256 * 1024 * 1024

/** Without authentication: only the file mode of a unix socket protects it. Never listens by itself. */
export function buildServiceAdminApp(deps: AdminDeps, log: Log): FastifyInstance {
  const app = Fastify({
    forceCloseConnections: true,
    bodyLimit: BODY_LIMIT,
    // The schemas of the operations refuse such keys, and name them.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
  })
  app.setErrorHandler((error, _request, reply) => {
    const code = error instanceof DirsyncdError ? error.code : 'internal'
    if (code === 'internal') log.error({ error: sentence(error) }, 'a command of an operator failed')
    return reply.status(code === 'internal' ? 500 : 400).send({ code, message: sentence(error) })
  })
  app.get('/healthz', () => ({ status: 'ok' }))
  for (const operation of Object.keys(adminOperations) as AdminOperation[]) {
    app.post(`/${operation}`, ({ body }) => performUntrusted(deps, operation, body))
  }
  return app
}
