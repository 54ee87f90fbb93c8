import { chmod, rm } from 'node:fs/promises'
import type { Access } from '../ui/http/access.ts'
import { type AdminOptions, buildAdminApp } from '../ui/http/app.ts'
import { openAddress, socketPath } from '../base/socket/socket.ts'
import { buildPages, type PagesOptions } from '../ui/pages/pages.ts'
import { SignInCode } from '../ui/http/sign-in-code.ts'
import { buildWorkerApp, type Watching } from '../ui/http/watching.ts'
import type { AccessConfig, Config } from '../config/config.ts'
import type { SecretReader } from '../base/secrets/secret.ts'
import { DirsyncdError, sentence } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import type { Metrics } from '../ui/metrics/metrics.ts'
import { ownToken } from './admin-token.ts'
import { listen } from '../base/socket/listen.ts'

interface AdminOutput {
  readonly log: Log
  readonly announce: (line: string) => void
  /** The operator at the terminal; elsewhere undefined, and no sign-in link is shown. */
  readonly operator: string | undefined
}

/** Only the daemon's user can open the socket of the commands. The pages listen where the configuration says. */
export async function listenForAdmin(
  stack: AsyncDisposableStack,
  { dataDir, admin }: Config,
  options: Omit<AdminOptions, 'log'> & Omit<PagesOptions, 'access' | 'signInCode' | 'log'>,
  { log, announce, operator }: AdminOutput,
): Promise<void> {
  const socket = socketPath(dataDir)
  const address = stack.use(await openAddress(socket))
  await rm(socket, { force: true })
  const commands = buildAdminApp({ ...options, log })
  stack.defer(() => commands.close())
  await commands.listen({ path: address.path })
  await chmod(socket, 0o600)
  if (admin.listen === undefined) return
  const own = admin.token === undefined ? await ownToken(dataDir) : undefined
  const access = await accessOf(admin, admin.listen.port, own?.token ?? admin.token!, log)
  const signInCode = own && operator !== undefined ? new SignInCode(operator) : undefined
  const pages = buildPages({ ...options, access, signInCode, log })
  stack.defer(() => pages.close())
  const url = await listen(pages, admin.listen)
  announce(`The admin page is at ${url}`)
  if (signInCode !== undefined)
    announce(`Sign in as ${operator}: ${url}/sign-in/${signInCode.code} (works once, within an hour)`)
  if (own !== undefined) announce(`The token to sign in with is in ${own.file}`)
}

/** Returns the URL of the worker's listener, if it has one. */
export async function listenForWorker(
  stack: AsyncDisposableStack,
  { worker, admin }: Config,
  watching: Watching,
  log: Log,
): Promise<string | undefined> {
  if (worker.listen === undefined) return undefined
  const access = admin.token && (await accessOf(admin, worker.listen.port, admin.token, log))
  const app = buildWorkerApp(watching, access, log)
  stack.defer(() => app.close())
  return listen(app, worker.listen)
}

/** Throws where the token or the secret of the proxy cannot be read, or is easily guessed. */
async function accessOf(
  { hosts, proxy }: AccessConfig,
  port: number,
  token: SecretReader,
  log: Log,
): Promise<Access> {
  return {
    hosts,
    port,
    token: await goodSecret(token, 'admin.token', log),
    proxy: proxy && {
      ...proxy,
      secret: proxy.secret && (await goodSecret(proxy.secret, 'admin.proxySecret', log)),
    },
    wrongToken: (address) => log.warn({ address }, 'somebody showed a wrong token'),
  }
}

async function goodSecret(secret: SecretReader, option: string, log: Log): Promise<() => Promise<string>> {
  await readGood(secret, option)
  return async () => {
    try {
      return await readGood(secret, option)
    } catch (error) {
      log.error({ error: sentence(error) }, 'nobody is let in')
      // A request without the token must not learn the token's place.
      throw new DirsyncdError('secret-unavailable', `${option} cannot be read now: the log says why.`)
    }
  }
}

/** Characters that every header and browser sends unchanged. */
const GOOD = /^[!-~]{16,}$/

async function readGood(secret: SecretReader, option: string): Promise<string> {
  const text = await secret.read()
  if (GOOD.test(text)) return text
  throw new DirsyncdError(
    'config-invalid',
    `The secret of ${option} (${secret.describe()}) must have 16 characters or more, of letters, digits and signs of ASCII without blanks: openssl rand -hex 32 makes one.`,
  )
}

export function metricsText(metrics: Metrics, read: () => Promise<void>): Watching['metrics'] {
  return async () => {
    await read()
    return { contentType: metrics.contentType, text: await metrics.text() }
  }
}
