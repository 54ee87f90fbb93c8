import type { GroupMap, UserMap } from '../mapping.ts'

export type SearchScope = 'sub' | 'one' | 'base'

/** A kind of server, and with it the defaults for everything that differs between them. */
export type Vendor = 'openldap' | 'active-directory' | '389ds' | 'freeipa' | 'lldap' | 'generic'

/** Where the entries of one kind are, and what becomes of their attributes. */
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
  /**
   * What becomes of accounts that cannot log in: `keep` treats them as everybody else, `skip` leaves them in the
   * directory as they are, `delete` treats them as gone.
   */
  readonly disabled?: 'delete' | 'skip' | 'keep'
  /** RFC 4515. Which accounts these are; left out: the vendor's rule. */
  readonly disabledWhen?: string
}

export interface LdapGroupOptions extends LdapSearchOptions<LdapGroupMap> {
  /** Members of member groups: left alone, computed here, or by Active Directory itself. */
  readonly nested?: 'direct' | 'flatten' | 'in-chain'
  /** Which side is asked: `map.members` of the groups, or `memberOf` of their members. */
  readonly membersFrom?: 'member' | 'memberOf'
  /** Whether users are members of their primary group, which does not list them. Left out: the vendor's. */
  readonly primaryGroup?: boolean
}

/** A simple bind. */
export interface PasswordBind {
  readonly external?: false | undefined
  readonly dn: string
  /** `fresh` asks again where the password is. */
  readonly password: (fresh?: boolean) => Promise<string>
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
    /** Milliseconds for all that is asked over one connection; by default an hour. */
    readonly readMs?: number
  }
  /** Left out: found from what the server says about itself. */
  readonly vendor?: Vendor
  /** What becomes of answers that name other servers: they are logged and not followed, or the read fails. */
  readonly referrals?: 'report' | 'refuse'
  /** Where the directory allows e-mails: of several values of an attribute, one in these domains goes first. */
  readonly allowedDomains?: readonly string[]
  readonly users: LdapUserOptions
  readonly groups?: LdapGroupOptions
}
