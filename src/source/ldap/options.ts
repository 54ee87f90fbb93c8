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

/** A simple bind. */
export interface PasswordBind {
  readonly external?: false | undefined
  readonly dn: string
  readonly password: () => Promise<string>
  /** Lets the password cross the network unencrypted; to this machine itself it always may. */
  readonly allowPlainText?: boolean
}

/** SASL EXTERNAL (RFC 4422): the server takes the reader from the client's certificate. */
export interface ExternalBind {
  readonly external: true
  readonly dn?: undefined
}

export interface LdapSourceOptions {
  /** `ldap://` or `ldaps://`, a host and perhaps a port; several are tried in their order. */
  readonly url: string | readonly string[]
  readonly tls: {
    /** PEM text of one or more certificates, trusted instead of the system's. */
    readonly ca?: string
    /** Encrypts the ldap:// ones of the URLs. */
    readonly startTls: boolean
    /** PEM texts of the client's own certificate and its key, asked for at each connection; both or neither. */
    readonly certificate?: () => Promise<string>
    readonly key?: () => Promise<string>
  }
  /** Without it the connection stays anonymous. */
  readonly bind?: PasswordBind | ExternalBind
  readonly pageSize: number
  readonly timeouts: {
    /** Milliseconds until the server takes the connection. */
    readonly connectMs: number
    /** Milliseconds for the TLS handshake, the request of StartTLS included; by default `connectMs`. */
    readonly handshakeMs?: number
    /** Milliseconds for each request that makes the connection ready, such as the bind; by default `connectMs`. */
    readonly bindMs?: number
    /** Milliseconds until the first byte of the answer to a search; by default `answerMs`. */
    readonly firstAnswerMs?: number
    /** Milliseconds of silence in the middle of an answer. */
    readonly answerMs: number
  }
  readonly users: LdapSearchOptions<UserMap>
  readonly groups?: LdapSearchOptions<GroupMap>
}
