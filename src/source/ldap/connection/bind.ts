import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { BindRequest } from 'ldapts'
import { DirsyncdError, sentence } from '../../../base/errors.ts'
import { type Endpoint, requirePrivacy } from './endpoint.ts'
import type { LdapSourceOptions } from '../options.ts'
import { logonProblem } from './logon-problem.ts'
import { INVALID_CREDENTIALS, INVALID_DN, isOutage, resultInWords, SUCCESS } from './result.ts'
import type { Doing, Wire } from './wire.ts'

/** Loaded once for all servers of a source. */
export interface Credentials {
  readonly isFresh: boolean
  readonly password: string | undefined
  /** PEM texts; empty without a client certificate. */
  readonly client: { readonly cert?: string; readonly key?: string }
}

/** Throws `secret-unavailable`, or `config-invalid` where certificate and key do not match. `fresh` reads again. */
export async function loadCredentials(
  { bind, tls }: Pick<LdapSourceOptions, 'bind' | 'tls'>,
  fresh = false,
): Promise<Credentials> {
  const password = bind === undefined || bind.external === true ? undefined : await bind.password(fresh)
  // A bind with a DN and no password succeeds on most servers, anonymously.
  if (password === '') {
    const what = `bind.password: the password of "${bind?.dn}" is empty`
    const remedy = 'LDAP servers would take that for an anonymous reader, so set it'
    throw new DirsyncdError('secret-unavailable', `${what}; ${remedy}`)
  }
  if (tls.certificate === undefined || tls.key === undefined) return { isFresh: fresh, password, client: {} }
  const client = { cert: await tls.certificate(), key: await tls.key() }
  requirePair(client)
  return { isFresh: fresh, password, client }
}

function requirePair(client: { readonly cert: string; readonly key: string }): void {
  const certificate = orUndefined(() => new X509Certificate(client.cert))
  if (certificate === undefined) throw invalid('tls.certificate: there is no PEM certificate in it')
  const key = orUndefined(() => createPrivateKey(client.key))
  if (key === undefined) throw invalid('tls.key: there is no unencrypted PEM key in it')
  if (!certificate.checkPrivateKey(key)) throw invalid('tls.key: it is not the key of tls.certificate')
  try {
    createSecureContext(client)
  } catch (error) {
    throw invalid(`tls.certificate: it cannot be used with its key (${sentence(error)})`)
  }
}

function invalid(what: string): DirsyncdError {
  return new DirsyncdError('config-invalid', what)
}

function orUndefined<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

/** The server refused the credentials, for any reason. */
export class LoginRefused extends DirsyncdError {
  readonly url: string

  constructor(url: string, message: string) {
    super('source-refused', message)
    this.url = url
  }
}

/**
 * Binds once, because a second wrong password brings the account closer to being locked; a second time only where the
 * password has changed since it was read. Rejects with `source-unreachable` where the server cannot decide now, and
 * `source-refused` where it refuses.
 */
export async function authenticate(
  wire: Wire,
  endpoint: Endpoint,
  bind: NonNullable<LdapSourceOptions['bind']>,
  { password, isFresh }: Pick<Credentials, 'password' | 'isFresh'>,
  ms: number,
): Promise<void> {
  try {
    return await bindOnce(wire, endpoint, bind, password, ms)
  } catch (error) {
    if (!(error instanceof LoginRefused) || bind.external === true || isFresh) throw error
    const changed = await bind.password(true).catch(() => password)
    if (changed === password || changed === '') throw error
    return await bindOnce(wire, endpoint, bind, changed, ms)
  }
}

async function bindOnce(
  wire: Wire,
  endpoint: Endpoint,
  bind: NonNullable<LdapSourceOptions['bind']>,
  password: string | undefined,
  ms: number,
): Promise<void> {
  requirePrivacy(endpoint, bind)
  const reader = bind.external === true ? 'with the client certificate' : `as "${bind.dn}"`
  const who = bind.external === true ? { mechanism: 'EXTERNAL' } : { dn: bind.dn, password: password ?? '' }
  const doing: Doing = {
    code: 'source-unreachable',
    what: `binding ${reader}`,
    within: { ms, option: 'bind' },
  }
  const { operation, code, diagnostic } = await wire.exchange(
    (messageId) => new BindRequest({ messageId, ...who }),
    doing,
  )
  if (operation === 'bind' && code === SUCCESS) return
  const words = resultInWords(code, diagnostic)
  const unknown = bind.external === true ? 'it knows no reader for it' : 'wrong password or unknown bind DN'
  const refused = `${endpoint.url} refused the bind ${reader}: `
  if (code === INVALID_CREDENTIALS) {
    throw new LoginRefused(endpoint.url, `${refused}${logonProblem(diagnostic) ?? unknown}: ${words}`)
  }
  const remedy = code === INVALID_DN ? '; give the whole DN of the reader in bind.dn' : ''
  throw new DirsyncdError(
    isOutage(code) ? 'source-unreachable' : 'source-refused',
    `${refused}${words}${remedy}`,
  )
}
