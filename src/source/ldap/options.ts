import type { GroupMap, UserMap } from '../mapping.ts'

export type SearchScope = 'sub' | 'one' | 'base'

/** A kind of server; sets the defaults of everything that differs between them. */
export type Vendor = 'openldap' | 'active-directory' | '389ds' | 'freeipa' | 'lldap' | 'generic'

export interface LdapSearchOptions<M> {
  /** One DN or several, which may overlap. */
  readonly base: string | readonly string[]
  readonly scope: SearchScope
  /** RFC 4515; blanks and line breaks between clauses are allowed. Left out: the vendor's. */
  readonly filter?: string
  readonly map: M
}

/** `external_id` left out: the vendor's. */
export type LdapUserMap = Omit<UserMap, 'external_id'> & Partial<Pick<UserMap, 'external_id'>>

/** `external_id` and `members` left out: the vendor's. */
export type LdapGroupMap = Omit<GroupMap, 'external_id'> & Partial<Pick<GroupMap, 'external_id'>>

export interface LdapUserOptions extends LdapSearchOptions<LdapUserMap> {
  /** For accounts that cannot log in: `keep` treats them like others, `skip` leaves them unchanged, `delete`: absent. */
  readonly disabled?: 'delete' | 'skip' | 'keep'
  /** RFC 4515; left out: the vendor's rule. */
  readonly disabledWhen?: string
}

export interface LdapGroupOptions extends LdapSearchOptions<LdapGroupMap> {
  /** Members of member groups: left alone, computed here, or by Active Directory itself. */
  readonly nested?: 'direct' | 'flatten' | 'in-chain'
  /** `map.members` of the groups, or `memberOf` of their members. */
  readonly membersFrom?: 'member' | 'memberOf'
  /** Whether users are members of their primary group, which does not list them. Left out: the vendor's. */
  readonly primaryGroup?: boolean
}

export interface PasswordBind {
  readonly external?: false | undefined
  readonly dn: string
  /** `fresh` reads the password again. */
  readonly password: (fresh?: boolean) => Promise<string>
  /** Allows an unencrypted password on the network; to this machine itself it is always allowed. */
  readonly allowPlainText?: boolean
}

/** SASL EXTERNAL (RFC 4422): the client's certificate identifies the account. */
export interface ExternalBind {
  readonly external: true
  readonly dn?: undefined
}

export interface LdapSourceOptions {
  /** `ldap://` or `ldaps://`, a host and perhaps a port; several are tried in order. */
  readonly url: string | readonly string[]
  readonly tls: {
    /** PEM text of one or more certificates, trusted instead of the system's. */
    readonly ca?: string
    /** For the ldap:// URLs. */
    readonly startTls: boolean
    /** PEM texts of the client's own certificate and its key, read at each connection; both or neither. */
    readonly certificate?: () => Promise<string>
    readonly key?: () => Promise<string>
  }
  /** Without it the connection stays anonymous. */
  readonly bind?: PasswordBind | ExternalBind
  readonly pageSize: number
  readonly timeouts: {
    /** Milliseconds for the TCP connection. */
    readonly connectMs: number
    /** Milliseconds for the TLS handshake, including StartTLS; by default `connectMs`. */
    readonly handshakeMs?: number
    /** Milliseconds for each request before the first search, such as the bind; by default `connectMs`. */
    readonly bindMs?: number
    /** Milliseconds until the first byte of the answer to a search; by default `answerMs`. */
    readonly firstAnswerMs?: number
    /** Milliseconds of silence within an answer. */
    readonly answerMs: number
    /** Milliseconds for everything on one connection; by default an hour. */
    readonly readMs?: number
  }
  /** Left out: found from the root DSE. */
  readonly vendor?: Vendor
  /** Referrals to other servers are logged and not followed, or the read fails. */
  readonly referrals?: 'report' | 'refuse'
  /** Of several values of an attribute, one in these domains goes first. */
  readonly allowedDomains?: readonly string[]
  readonly users: LdapUserOptions
  readonly groups?: LdapGroupOptions
}
