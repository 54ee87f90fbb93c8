import { randomUUID } from 'node:crypto'
import type { PasswordStrength } from '../../api/contract/subscription.ts'
import type { Vault } from '../keys/vault.ts'
import { type Estimator, gradeOf } from '../password.ts'
import { type ResourceName, type ResourceValue, resources } from '../resources/resources.ts'
import { sealCredentials } from './credentials.ts'
import type { Tables } from './database.ts'
import { foldName } from './organization-groups.ts'

/** What writing a resource needs besides the transaction. */
export interface WriteContext {
  readonly vault: Vault
  readonly estimate: Estimator
  readonly now: Date
}

export type Columns = Readonly<Record<string, unknown>>

/** How a resource is stored. */
export interface Storage<Name extends ResourceName> {
  readonly table: keyof Tables
  /** The column with the id of what it belongs to. */
  readonly owner?: string
  /** Fields of columns with another name. */
  readonly renamed?: Readonly<Record<string, string>>
  /** Columns of lists and objects, which are JSON. */
  readonly json?: readonly string[]
  /** Columns of times. */
  readonly times?: readonly string[]
  /** Fields that are lists of ids in a table of their own. */
  readonly lists?: Readonly<Record<string, IdList>>
  /** Makes columns that are not fields; `before` is the stored row. */
  readonly derived?: (value: ResourceValue<Name>, context: WriteContext, before?: Columns) => Columns
  /** Fields that have no column. */
  readonly without?: readonly string[]
  /** Columns that a list shows besides the fields. */
  readonly shown?: readonly string[]
  /** What differs from an imported file without a word, because the contact may have changed it since. */
  readonly changing?: readonly string[]
  /** What goes with it when it is removed. */
  readonly contents: readonly Contents[]
}

interface IdList {
  readonly table: keyof Tables
  readonly column: string
}

interface Contents {
  readonly table: keyof Tables
  readonly column: string
  /** The column that tells them apart. Default `id`. */
  readonly key?: string
  /** Such as `directory user`; for a resource its name. */
  readonly what: string
}

/** Its key is the group, which stays. */
export const MEMBERSHIP = 'group membership'

const TIMES = ['created_at', 'last_activity', 'last_login']

export const STORAGE: { readonly [Name in ResourceName]: Storage<Name> } = {
  organization: {
    table: 'organizations',
    renamed: { allowedDomains: 'allowed_domains', entityId: 'entity_id' },
    derived: ({ entityId }, { now }, before) => ({
      entity_id: entityId ?? before?.['entity_id'] ?? `urn:uuid:${randomUUID()}`,
      created_at: before?.['created_at'] ?? now,
    }),
    contents: [
      { table: 'contacts', column: 'organization_id', what: 'contact' },
      { table: 'directories', column: 'organization_id', what: 'directory' },
      { table: 'installations', column: 'organization_id', what: 'installation' },
      { table: 'organization_groups', column: 'organization_id', what: 'group' },
      { table: 'signing_keys', column: 'organization_id', what: 'SAML key' },
      { table: 'events', column: 'organization_id', what: 'event' },
    ],
  },
  contact: {
    table: 'contacts',
    owner: 'organization_id',
    times: TIMES,
    changing: TIMES,
    contents: [
      { table: 'tokens', column: 'contact_id', key: 'hash', what: 'token' },
      { table: 'subscriptions', column: 'contact_id', what: 'subscription' },
      { table: 'organization_group_contacts', column: 'contact_id', key: 'group_id', what: MEMBERSHIP },
    ],
  },
  directory: {
    table: 'directories',
    owner: 'organization_id',
    renamed: { users: 'user_count', groups: 'group_count' },
    shown: ['users', 'groups'],
    contents: [
      { table: 'external_users', column: 'directory_id', what: 'directory user' },
      { table: 'external_groups', column: 'directory_id', what: 'directory group' },
    ],
  },
  provider: {
    table: 'providers',
    json: ['icons', 'capabilities'],
    contents: [{ table: 'installations', column: 'provider_id', what: 'installation' }],
  },
  installation: {
    table: 'installations',
    owner: 'organization_id',
    renamed: { provider: 'provider_id', serviceProvider: 'service_provider' },
    json: ['labels', 'icons', 'configuration', 'service_provider'],
    times: TIMES,
    changing: TIMES,
    contents: [
      { table: 'subscriptions', column: 'installation_id', what: 'subscription' },
      {
        table: 'organization_group_installations',
        column: 'installation_id',
        key: 'group_id',
        what: MEMBERSHIP,
      },
    ],
  },
  subscription: {
    table: 'subscriptions',
    owner: 'contact_id',
    renamed: { installation: 'installation_id' },
    json: ['bookmarks', 'permissions', 'password_strength'],
    times: TIMES,
    derived: credentialColumns,
    without: ['credentials'],
    changing: [...TIMES, 'name', 'favorite', 'position', 'credentials'],
    contents: [],
  },
  group: {
    table: 'organization_groups',
    owner: 'organization_id',
    times: TIMES,
    changing: TIMES,
    lists: {
      contacts: { table: 'organization_group_contacts', column: 'contact_id' },
      installations: { table: 'organization_group_installations', column: 'installation_id' },
    },
    derived: ({ name }) => ({ folded_name: foldName(name) }),
    contents: [],
  },
}

/** A vault item has no estimate, because it may have no password. */
const NO_STRENGTH: PasswordStrength = { grade: gradeOf(0), score: 0, crack_time: null }

/** In a vault item every value is a secret, even one with the name "login". */
function credentialColumns(
  { id, kind, name, credentials }: ResourceValue<'subscription'>,
  { vault, estimate }: WriteContext,
): Columns {
  const { login = '', password = '' } = kind === 'app' ? credentials : {}
  return {
    login,
    password_strength: kind === 'app' ? estimate(password, [login, name]) : NO_STRENGTH,
    ...sealCredentials(vault, id, credentials),
  }
}

/** The fields that only operators change. */
export function comparedFields(resource: ResourceName): readonly string[] {
  const { changing = [] }: Storage<never> = STORAGE[resource]
  return Object.keys(resources[resource].schema.shape).filter((field) => !changing.includes(field))
}
