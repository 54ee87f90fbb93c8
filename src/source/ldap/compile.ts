import type { Filter } from 'ldapts'
import { DirsyncdError } from '../../base/errors.ts'
import { compileGroupMap, compileUserMap, type GroupMapping, type UserMapping } from '../mapping.ts'
import { normalizeDn } from './dn.ts'
import { type Endpoint, isGlobalCatalog, parseEndpoints } from './connection/endpoint.ts'
import { attributeProblem, parseFilter } from './filter.ts'
import type { LdapGroupOptions, LdapSearchOptions, LdapSourceOptions, SearchScope } from './options.ts'
import { PROFILES, type VendorProfile } from './vendor.ts'

export interface Place<M> {
  readonly bases: readonly string[]
  readonly scope: SearchScope
  readonly filter: Filter
  readonly filterText: string
  readonly map: M
}

export interface DisabledRule {
  readonly action: 'delete' | 'skip'
  readonly filter: Filter
  readonly filterText: string
  /** Attributes that every user has if the bind account can read what the rule needs. */
  readonly attributes: readonly string[]
}

export interface UserPlace extends Place<UserMapping> {
  readonly disabled: DisabledRule | undefined
}

export interface GroupPlace extends Place<GroupMapping> {
  readonly nested: 'direct' | 'flatten' | 'in-chain'
  /** `undefined` where the source does not cover members. */
  readonly membersFrom: 'member' | 'memberOf' | undefined
  readonly primaryGroup: 'sid' | 'gid' | undefined
}

export interface CompiledOptions {
  readonly endpoints: readonly Endpoint[]
  readonly profile: VendorProfile
  /** `undefined`: no paging. */
  readonly pageSize: number | undefined
  readonly referrals: 'report' | 'refuse'
  readonly users: UserPlace
  readonly groups: GroupPlace | undefined
}

/** For an unknown vendor: has every feature. */
const SOME_VENDOR: VendorProfile = { ...PROFILES['active-directory'], disabledBy: [] }

/** All checks before the server is known. Throws `config-invalid` with a sentence that begins with the wrong key. */
export function checkOptions(options: LdapSourceOptions): readonly Endpoint[] {
  const profile = options.vendor === undefined ? SOME_VENDOR : PROFILES[options.vendor]
  return compileOptions(options, profile).endpoints
}

/** Throws like `checkOptions`, also for options that the vendor has no default for. `now` is `now()` in filters. */
export function compileOptions(
  options: LdapSourceOptions,
  profile: VendorProfile,
  now = new Date(),
): CompiledOptions {
  const { groups, pageSize } = options
  const endpoints = parseEndpoints(options)
  if (groups?.nested === 'in-chain') refuseCatalogs(endpoints)
  return {
    endpoints,
    profile,
    pageSize: profile.paging ? Math.min(pageSize, profile.mostPerPage ?? pageSize) : undefined,
    referrals: options.referrals ?? 'report',
    users: compileUsers(options, profile, now),
    groups: groups && compileGroups(groups, profile, now),
  }
}

function compileUsers(
  { users, allowedDomains }: LdapSourceOptions,
  profile: VendorProfile,
  now: Date,
): UserPlace {
  const external_id = users.map.external_id ?? given('users.map.external_id', profile.idAttribute, profile)
  const map = compileUserMap({ ...users.map, external_id }, 'users.map', attributeProblem, allowedDomains)
  return {
    ...compilePlace(users, 'users', { usual: profile.userFilter, profile, now }, map),
    disabled: compileDisabled(users, profile, now),
  }
}

function compileDisabled(
  { disabled = 'keep', disabledWhen }: LdapSourceOptions['users'],
  profile: VendorProfile,
  now: Date,
): DisabledRule | undefined {
  const own = disabledWhen === undefined ? undefined : parseFilter(disabledWhen, 'users.disabledWhen', now)
  if (disabled === 'keep') return undefined
  const filterText = disabledWhen?.trim() ?? given('users.disabledWhen', profile.disabledWhen, profile)
  const filter = own ?? parseFilter(filterText, 'users.disabledWhen', now)
  return { action: disabled, filter, filterText, attributes: own === undefined ? profile.disabledBy : [] }
}

function compileGroups(groups: LdapGroupOptions, profile: VendorProfile, now: Date): GroupPlace {
  const { nested = 'direct', membersFrom = 'member' } = groups
  if (nested === 'in-chain' && !profile.inChain) {
    const remedy = 'use "flatten", which computes the same here'
    throw invalid(
      'groups.nested',
      `"in-chain" is for Active Directory, and this is ${profile.vendor}; ${remedy}`,
    )
  }
  const external_id = groups.map.external_id ?? given('groups.map.external_id', profile.idAttribute, profile)
  const members = membersFrom === 'memberOf' ? undefined : (groups.map.members ?? profile.members)
  const { members: _, ...others } = groups.map
  const wanted = { ...others, external_id, ...(members !== undefined && { members }) }
  const map = compileGroupMap(wanted, 'groups.map', attributeProblem)
  const known = membersFrom === 'memberOf' || map.members.length > 0 || nested === 'in-chain'
  const primary = groups.primaryGroup ?? (known && profile.primaryGroup)
  return {
    ...compilePlace(groups, 'groups', { usual: profile.groupFilter, profile, now }, map),
    nested,
    membersFrom: known || primary ? membersFrom : undefined,
    primaryGroup: primary ? profile.primaryGroupBy : undefined,
  }
}

/** A global catalog silently follows the chain through groups whose members it lacks. */
function refuseCatalogs(endpoints: readonly Endpoint[]): void {
  const catalog = endpoints.find(isGlobalCatalog)
  if (catalog === undefined) return
  const what = `"in-chain" overlooks members at the global catalog ${catalog.url}`
  throw invalid('groups.nested', `${what}; use "flatten", or port 389 or 636`)
}

interface Usual {
  readonly usual: string | undefined
  readonly profile: VendorProfile
  readonly now: Date
}

function compilePlace<M>(
  options: LdapSearchOptions<unknown>,
  kind: 'users' | 'groups',
  { usual, profile, now }: Usual,
  map: M,
): Place<M> {
  const bases = typeof options.base === 'string' ? [options.base] : options.base
  if (bases.length === 0) throw invalid(`${kind}.base`, 'the list of DNs is empty')
  for (const base of bases) {
    if (normalizeDn(base) === undefined) throw invalid(`${kind}.base`, `"${base}" is not a DN`)
  }
  const filterText = (options.filter ?? given(`${kind}.filter`, usual, profile)).trim()
  const filter = parseFilter(filterText, `${kind}.filter`, now)
  return { bases, scope: options.scope, filter, filterText, map }
}

function given(key: string, value: string | undefined, { vendor }: VendorProfile): string {
  if (value !== undefined) return value
  const whose = vendor === 'generic' ? 'a server of unknown make' : `a server of the vendor ${vendor}`
  throw invalid(
    key,
    `${whose} has no usual value for it, so set it${vendor === 'generic' ? ', or set vendor' : ''}`,
  )
}

function invalid(key: string, problem: string): DirsyncdError {
  return new DirsyncdError('config-invalid', `${key}: ${problem}`)
}
