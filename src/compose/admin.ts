import { chmod, rm } from 'node:fs/promises'
import type { Access } from '../admin/access.ts'
import { type AdminOptions, buildAdminApp } from '../admin/app.ts'
import { openAddress, socketPath } from '../control/socket.ts'
import { buildPages, type PagesOptions } from '../admin/pages.ts'
import { buildWorkerApp, type Watching } from '../admin/watching.ts'
import type { AccessConfig, Config } from '../config/config.ts'
import { DirsyncdError, sentence } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { listen } from './service.ts'

/** Commands use a socket that only this user can open; the pages listen where the configuration says. */
export async function listenForAdmin(
  stack: AsyncDisposableStack,
  { dataDir, admin }: Config,
  options: AdminOptions & Omit<PagesOptions, 'access' | 'resumed'>,
  { log, announce }: { readonly log: Log; readonly announce: (line: string) => void },
): Promise<void> {
  const socket = socketPath(dataDir)
  const address = stack.use(await openAddress(socket))
  await rm(socket, { force: true })
  const commands = buildAdminApp(options)
  stack.defer(() => commands.close())
  await commands.listen({ path: address.path })
  await chmod(socket, 0o600)
  if (admin.listen === undefined) return
  const resumed = (sync: string, by: string): void => log.info({ sync, by }, 'somebody resumed the sync')
  const pages = buildPages({ ...options, access: await accessOf(admin, log), resumed })
  stack.defer(() => pages.close())
  announce(`The admin page is at ${await listen(pages, admin.listen)}`)
}

/** What a worker shows; returns its URL, where it listens. */
export async function listenForWorker(
  stack: AsyncDisposableStack,
  { worker, admin }: Config,
  watching: Watching,
  log: Log,
): Promise<string | undefined> {
  if (worker.listen === undefined) return undefined
  const app = buildWorkerApp(watching, await accessOf(admin, log))
  stack.defer(() => app.close())
  return listen(app, worker.listen)
}

/** Throws where there is a token that cannot be read, or is easily guessed. */
async function accessOf({ hosts, token, proxy }: AccessConfig, log: Log): Promise<Access> {
  const wrongToken = (address: string): void => log.warn({ address }, 'somebody showed a wrong token')
  if (token === undefined) return { hosts, token, proxy, wrongToken }
  requireGoodToken(await token.read())
  return {
    hosts,
    // Whoever has not shown the token yet is told nothing of where it is.
    token: async () => {
      try {
        return requireGoodToken(await token.read())
      } catch (error) {
        log.error({ error: sentence(error) }, 'nobody is let in')
        throw new DirsyncdError('secret-unavailable', 'The token cannot be read now: the log says why.')
      }
    },
    proxy,
    wrongToken,
  }
}

/** Of characters that any header and any browser sends as they are. */
const GOOD_TOKEN = /^[!-~]{16,}$/

function requireGoodToken(token: string): string {
  if (GOOD_TOKEN.test(token)) return token
  throw new DirsyncdError(
    'config-invalid',
    'The token of admin.token must have 16 characters or more, of letters, digits and signs of ASCII without blanks: openssl rand -hex 32 makes one.',
  )
}

/** The metrics of a process as Prometheus reads them; `read` sets those that are read when it asks. */
export function metricsText(metrics: Metrics, read: () => Promise<void>): Watching['metrics'] {
  return async () => {
    await read()
    return { contentType: metrics.contentType, text: await metrics.text() }
  }
}
