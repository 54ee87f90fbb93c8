import { EqualityFilter, NotFilter } from 'ldapts'
import { DirsyncdError } from '../../base/errors.ts'
import type { CompiledOptions } from './compile.ts'
import type { LdapConnection } from './connection/connection.ts'
import { normalizeDn } from './dn.ts'
import { isGlobalCatalog } from './connection/endpoint.ts'
import { type LdapEntry, lookupIn } from './entry.ts'
import { anyOf, attributesOf, bothOf } from './filter.ts'
import type { WhyUnknown } from './image.ts'
import { Records } from './records.ts'
import { searchAll } from './search.ts'

export const ABOUT_CATALOGS =
  'a global catalog has only some attributes, and of other domains the members of universal groups only'

const UNIVERSAL = 8

export interface GlobalCatalog {
  /** The normal DN of its domain; `undefined` where it does not tell. */
  readonly domain: string | undefined
}

/** `undefined` for a server that is no global catalog. */
export function globalCatalogOf(
  { endpoint, rootDse }: LdapConnection,
  { profile }: CompiledOptions,
): GlobalCatalog | undefined {
  if (!isGlobalCatalog(endpoint) || profile.vendor !== 'active-directory') return undefined
  const [context] = rootDse === undefined ? [] : lookupIn(rootDse)('defaultNamingContext')
  return { domain: context === undefined ? undefined : normalizeDn(context) }
}

export function recordsOf(
  { catalog }: { readonly catalog: GlobalCatalog | undefined },
  options: Pick<CompiledOptions, 'users' | 'groups'>,
): Records {
  return catalog === undefined ? new Records(options) : new CatalogRecords(options, catalog)
}

const GROUP_TYPE = 'groupType'

/** A global catalog has members only of universal groups in other domains: other groups look empty. */
class CatalogRecords extends Records {
  readonly #domain: string | undefined
  readonly #coversMembers: boolean
  /** Some groups are shown without their members, and then without an attribute that lists them. */
  override readonly groupSigns = [GROUP_TYPE]
  override readonly namesAllGroups = false

  constructor(options: Pick<CompiledOptions, 'users' | 'groups'>, { domain }: GlobalCatalog) {
    super(options)
    this.#domain = domain
    this.#coversMembers = options.groups?.membersFrom !== undefined
  }

  override get groupAttributes(): readonly string[] {
    return [...super.groupAttributes, GROUP_TYPE]
  }

  /** Among the entries that name groups are other things than groups. */
  override whyUnknown(entry: LdapEntry, isGroup: boolean): WhyUnknown {
    const isOther = !isGroup && lookupIn(entry)(GROUP_TYPE).length === 0
    const isKnown = !this.#coversMembers || isOther || this.#hasMembersOf(entry)
    return super.whyUnknown(entry, isGroup) ?? (isKnown ? undefined : 'catalog')
  }

  #hasMembersOf(entry: LdapEntry): boolean {
    const type = Number(lookupIn(entry)(GROUP_TYPE)[0] ?? 0)
    return (type & UNIVERSAL) !== 0 || (this.#domain !== undefined && domainOf(entry.dn) === this.#domain)
  }
}

/** The domain's normal DN: the last parts of each DN in it. */
function domainOf(dn: string): string | undefined {
  return /(?:^|,)(dc=[^,]*(?:,dc=[^,]*)*)$/.exec(normalizeDn(dn) ?? '')?.[1]
}

/** Of other domains the catalog has this attribute only for the groups that it has; the schema does not tell. */
const MEMBER_OF = 'memberof'

/**
 * Throws `config-invalid` when a filter or a mapping uses an attribute that the catalog lacks. Entries with it look
 * like entries without: they leave the filter, get another value, or are created without one for ever.
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

/** The attributes that the schema keeps out of the partial attribute set; unknown names do not count. */
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
