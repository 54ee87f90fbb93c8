import type { GroupMap, UserMap } from '../mapping.ts'

export type SearchScope = 'sub' | 'one' | 'base'

/** Where the entries of one kind are, and what becomes of their attributes. */
export interface LdapSearchOptions<M> {
  readonly base: string
  readonly scope: SearchScope
  /** RFC 4515; blanks and line breaks between clauses are allowed. */
  readonly filter: string
  readonly map: M
}

export interface LdapSourceOptions {
  /** `ldap://` or `ldaps://`, a host and perhaps a port. */
  readonly url: string
  readonly tls: {
    /** PEM text of one or more certificates, trusted instead of the system's. */
    readonly ca?: string
    readonly startTls: boolean
  }
  /** Without it the connection stays anonymous. */
  readonly bind?: { readonly dn: string; readonly password: () => Promise<string> }
  readonly pageSize: number
  readonly timeouts: {
    /** Milliseconds for the connection, and again for the TLS handshake. */
    readonly connectMs: number
    /** Milliseconds of silence: nothing at all arrived while an answer was awaited. */
    readonly answerMs: number
  }
  readonly users: LdapSearchOptions<UserMap>
  readonly groups?: LdapSearchOptions<GroupMap>
}
