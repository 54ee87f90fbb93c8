import { EqualityFilter, NotFilter } from 'ldapts'
import { DirsyncdError } from '../../errors.ts'
import type { Lookup } from '../mapping.ts'
import type { CompiledOptions } from './compile.ts'
import type { LdapConnection } from './connection/connection.ts'
import { normalizeDn } from './dn.ts'
import { isGlobalCatalog } from './connection/endpoint.ts'
import { lookupIn } from './entry.ts'
import { anyOf, attributesOf, bothOf } from './filter.ts'
import { searchAll } from './search.ts'

/** What every global catalog is like, for a person. */
export const ABOUT_CATALOGS =
  'a global catalog has only some attributes, and of other domains the members of universal groups only'

const UNIVERSAL = 8

/** What a read must know of the global catalog that it reads. */
export interface GlobalCatalog {
  /** What groups must be asked for. */
  readonly groupAttributes: readonly string[]
  /**
   * Whether it shows a group without its members. Domains keep the members of other groups than universal ones to
   * themselves.
   */
  hidesMembers(dn: string, lookup: Lookup): boolean
}

/** `undefined` for a server that knows all that it answers for. */
export function globalCatalogOf(
  { endpoint, rootDse }: LdapConnection,
  { profile }: CompiledOptions,
): GlobalCatalog | undefined {
  if (!isGlobalCatalog(endpoint) || profile.vendor !== 'active-directory') return undefined
  const [ownContext] = rootDse === undefined ? [] : lookupIn(rootDse)('defaultNamingContext')
  const own = ownContext === undefined ? undefined : normalizeDn(ownContext)
  return {
    groupAttributes: ['groupType'],
    hidesMembers(dn, lookup) {
      const isUniversal = (Number(lookup('groupType')[0] ?? 0) & UNIVERSAL) !== 0
      return !isUniversal && (own === undefined || domainOf(dn) !== own)
    },
  }
}

/** The domain's DN, in its normal form: the last parts of each DN in it. */
function domainOf(dn: string): string | undefined {
  return /(?:^|,)(dc=[^,]*(?:,dc=[^,]*)*)$/.exec(normalizeDn(dn) ?? '')?.[1]
}

/** Of other domains the catalog has this attribute as far as it has the groups; the schema does not say so. */
const MEMBER_OF = 'memberof'

/**
 * Throws `config-invalid` when a filter or a mapping asks for an attribute that the catalog does not have. Entries with
 * it look there like entries without: they leave the filter, get another value, or are created without one for ever.
 */
export async function requireInCatalog(
  connection: LdapConnection,
  { users, groups, pageSize }: CompiledOptions,
): Promise<void> {
  const { endpoint, rootDse } = connection
  const [schema] = rootDse === undefined ? [] : lookupIn(rootDse)('schemaNamingContext')
  if (schema === undefined) return
  const ofUsers = [...users.map.attributes, ...attributesOf(users.filter)]
  if (users.disabled !== undefined) ofUsers.push(...attributesOf(users.disabled.filter))
  const ofGroups = groups === undefined ? [] : [...groups.map.attributes, ...attributesOf(groups.filter)]
  for (const [key, names] of [
    ['users', ofUsers],
    ['groups', ofGroups],
  ] as const) {
    const missing = await notInCatalog(connection, schema, pageSize, names)
    if (missing.length === 0) continue
    const what = `the global catalog ${endpoint.url} does not have ${missing.join(', ')}`
    const remedy = 'read from port 389 or 636, leave it out, or let the schema replicate it'
    throw new DirsyncdError('config-invalid', `${key}: ${what}, which the filter or the map needs; ${remedy}`)
  }
}

/**
 * Those that the schema keeps out of the partial attribute set; a name that it does not have is nothing special here.
 */
async function notInCatalog(
  connection: LdapConnection,
  schema: string,
  pageSize: number | undefined,
  names: readonly string[],
): Promise<string[]> {
  const wanted = new Set(names.map((name) => name.toLowerCase()).filter((name) => name !== MEMBER_OF))
  if (wanted.size === 0) return []
  const named = anyOf(
    'lDAPDisplayName',
    [...wanted].map((name) => Buffer.from(name)),
  )
  const replicated = new EqualityFilter({ attribute: 'isMemberOfPartialAttributeSet', value: 'TRUE' })
  const missing: string[] = []
  const search = {
    base: schema,
    scope: 'one',
    filter: bothOf(named, new NotFilter({ filter: replicated })),
    filterText: 'for the attributes that are not in the global catalog',
    attributes: ['lDAPDisplayName'],
    pageSize,
  } as const
  await searchAll(connection, search, (entry) => {
    missing.push(...lookupIn(entry)('lDAPDisplayName'))
  })
  return missing.toSorted()
}
