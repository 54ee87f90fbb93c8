import { createSecureContext } from 'node:tls'
import { BindRequest } from 'ldapts'
import { DirsyncdError, sentence } from '../../errors.ts'
import { type Endpoint, requirePrivacy } from './endpoint.ts'
import type { LdapSourceOptions } from './options.ts'
import { INVALID_CREDENTIALS, isOutage, resultInWords, SUCCESS } from './result.ts'
import type { Doing, Wire } from './wire.ts'

/** What proves who the reader is, loaded once for all servers of a source. */
export interface Credentials {
  readonly password: string | undefined
  /** PEM texts; without a client certificate there is nothing in it. */
  readonly client: { readonly cert?: string; readonly key?: string }
}

/** Throws `secret-unavailable`, or `config-invalid` where certificate and key are no pair. */
export async function loadCredentials({
  bind,
  tls,
}: Pick<LdapSourceOptions, 'bind' | 'tls'>): Promise<Credentials> {
  const password = bind === undefined || bind.external === true ? undefined : await bind.password()
  // A bind with a DN and no password succeeds on most servers, as nobody.
  if (password === '') {
    const what = `bind.password: the password of "${bind?.dn}" is empty`
    const remedy = 'LDAP servers would take that for an anonymous reader, so set it'
    throw new DirsyncdError('secret-unavailable', `${what}; ${remedy}`)
  }
  if (tls.certificate === undefined || tls.key === undefined) return { password, client: {} }
  const client = { cert: await tls.certificate(), key: await tls.key() }
  try {
    createSecureContext(client)
  } catch (error) {
    const what = 'tls.certificate, tls.key: they are not a PEM certificate and its unencrypted key'
    throw new DirsyncdError('config-invalid', `${what} (${sentence(error)})`)
  }
  return { password, client }
}

/**
 * Tried once: a second try with a wrong password only brings the account closer to being locked. Rejects with
 * `source-unreachable` where the server is not able to tell, and `source-refused` where it said no.
 */
export async function authenticate(
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
  const wrong = bind.external === true ? 'it knows no reader for it' : 'wrong password or unknown bind DN'
  throw new DirsyncdError(
    isOutage(code) ? 'source-unreachable' : 'source-refused',
    `${endpoint.url} refused the bind ${reader}: ${code === INVALID_CREDENTIALS ? `${wrong}, ${words}` : words}`,
  )
}
