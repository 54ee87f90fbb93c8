import { chmod, rm } from 'node:fs/promises'
import type { Access } from '../admin/access.ts'
import { type AdminOptions, buildAdminApp } from '../admin/app.ts'
import { socketPath } from '../admin/socket.ts'
import { buildWorkerApp, type Watching } from '../admin/watching.ts'
import type { AccessConfig, Config } from '../config/config.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { listen } from './service.ts'

/** Commands use a socket that only this user can open; the TCP listener offers only what watches over the daemon. */
export async function listenForAdmin(
  stack: AsyncDisposableStack,
  { dataDir, admin }: Config,
  options: Omit<AdminOptions, 'operations' | 'access'>,
  announce: (line: string) => void,
): Promise<void> {
  const socket = socketPath(dataDir)
  await rm(socket, { force: true })
  const commands = buildAdminApp({ ...options, operations: true })
  stack.defer(() => commands.close())
  await commands.listen({ path: socket })
  await chmod(socket, 0o600)
  if (admin.listen === undefined) return
  const pages = buildAdminApp({ ...options, operations: false, access: accessOf(admin) })
  stack.defer(() => pages.close())
  announce(`The admin page is at ${await listen(pages, admin.listen)}`)
}

/** What a worker shows; returns its URL, where it listens. */
export async function listenForWorker(
  stack: AsyncDisposableStack,
  { worker, admin }: Config,
  watching: Watching,
): Promise<string | undefined> {
  if (worker.listen === undefined) return undefined
  const app = buildWorkerApp(watching, accessOf(admin))
  stack.defer(() => app.close())
  return listen(app, worker.listen)
}

function accessOf({ hosts, token, proxy }: AccessConfig): Access {
  return { hosts, token: token && (() => token.read()), proxy }
}

/** The metrics of a process as Prometheus reads them; `read` sets those that are read when it asks. */
export function metricsText(metrics: Metrics, read: () => Promise<void>): Watching['metrics'] {
  return async () => {
    await read()
    return { contentType: metrics.contentType, text: await metrics.text() }
  }
}
