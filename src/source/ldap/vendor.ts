import type { Lookup } from '../mapping.ts'
import type { Vendor } from './options.ts'

/** Defaults; the configuration goes first. How an id is written depends on its attribute only: see values.ts. */
export interface VendorProfile {
  readonly vendor: Vendor
  /** A permanent attribute, also through renames and moves. */
  readonly idAttribute: string | undefined
  /** People only: no computers, no contacts, no machine accounts. */
  readonly userFilter: string | undefined
  readonly groupFilter: string | undefined
  readonly members: string | undefined
  readonly disabledWhen: string | undefined
  /** Attributes of `disabledWhen` that every user has: if no user has them, the bind account cannot read them. */
  readonly disabledBy: readonly string[]
  /** The default for members by primary group. */
  readonly primaryGroup: boolean
  /** How a user names the primary group: the last part of the group's SID, or the group's number. */
  readonly primaryGroupBy: 'sid' | 'gid'
  /** Whether the server supports LDAP_MATCHING_RULE_IN_CHAIN. */
  readonly inChain: boolean
  /** A server without paging sends everything at once. */
  readonly paging: boolean
  /** The default limit of the server. */
  readonly mostPerPage: number | undefined
}

const GENERIC: VendorProfile = {
  vendor: 'generic',
  idAttribute: undefined,
  userFilter: undefined,
  groupFilter: undefined,
  members: undefined,
  disabledWhen: undefined,
  disabledBy: [],
  primaryGroup: false,
  primaryGroupBy: 'gid',
  inChain: false,
  paging: true,
  mostPerPage: undefined,
}

/** 389-ds keeps the values of this attribute as text and compares them without case. */
const LOCKED_389 = '(nsAccountLock=TRUE)'

export const PROFILES: Readonly<Record<Vendor, VendorProfile>> = {
  generic: GENERIC,
  openldap: {
    ...GENERIC,
    vendor: 'openldap',
    idAttribute: 'entryUUID',
    userFilter: '(objectClass=inetOrgPerson)',
    groupFilter: '(objectClass=groupOfNames)',
    members: 'member',
    // Locked by an administrator and for ever; other values are of a lock-out that ends by itself.
    disabledWhen: '(pwdAccountLockedTime=000001010000Z)',
  },
  'active-directory': {
    ...GENERIC,
    vendor: 'active-directory',
    idAttribute: 'objectGUID',
    // Computers are of the class user too, and contacts of the category person.
    userFilter: '(&(objectCategory=person)(objectClass=user))',
    groupFilter: '(objectClass=group)',
    members: 'member',
    disabledWhen: '(userAccountControl:1.2.840.113556.1.4.803:=2)',
    disabledBy: ['userAccountControl'],
    primaryGroup: true,
    primaryGroupBy: 'sid',
    inChain: true,
    mostPerPage: 1000,
  },
  '389ds': {
    ...GENERIC,
    vendor: '389ds',
    idAttribute: 'nsUniqueId',
    userFilter: '(|(objectClass=inetOrgPerson)(objectClass=nsPerson))',
    groupFilter: '(objectClass=groupOfNames)',
    members: 'member',
    disabledWhen: LOCKED_389,
  },
  freeipa: {
    ...GENERIC,
    vendor: 'freeipa',
    idAttribute: 'ipaUniqueID',
    // Without the copies below cn=compat.
    userFilter: '(&(objectClass=person)(objectClass=ipaObject))',
    groupFilter: '(objectClass=ipaUserGroup)',
    members: 'member',
    disabledWhen: LOCKED_389,
  },
  lldap: {
    ...GENERIC,
    vendor: 'lldap',
    idAttribute: 'entryUUID',
    userFilter: '(objectClass=person)',
    groupFilter: '(objectClass=groupOfUniqueNames)',
    members: 'member',
    paging: false,
  },
}

/** Active Directory and AD LDS. Samba announces the first of them. */
const ACTIVE_DIRECTORY: ReadonlySet<string> = new Set(['1.2.840.113556.1.4.800', '1.2.840.113556.1.4.1851'])

/** FreeIPA is a 389-ds with extended operations of its own, such as the one that sets a keytab. */
const FREEIPA_EXTENSIONS = '2.16.840.1.113730.3.8.10.'

export function vendorOf(root: Lookup): Vendor {
  const name = [...root('vendorName'), ...root('vendorVersion')].join(' ')
  if (root('supportedCapabilities').some((oid) => ACTIVE_DIRECTORY.has(oid))) return 'active-directory'
  if (/lldap/i.test(name)) return 'lldap'
  if (root('supportedExtension').some((oid) => oid.startsWith(FREEIPA_EXTENSIONS))) return 'freeipa'
  if (/389[ -]|port389|Fedora Project|Red Hat[ -]Directory/i.test(name)) return '389ds'
  if (root('objectClass').some((value) => value.toLowerCase() === 'openldaprootdse')) return 'openldap'
  return 'generic'
}
