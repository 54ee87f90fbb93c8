import type { Filter } from 'ldapts'
import { DirsyncdError } from '../../errors.ts'
import { compileGroupMap, compileUserMap, type GroupMapping, type UserMapping } from '../mapping.ts'
import { normalizeDn } from './dn.ts'
import { type Endpoint, parseEndpoints } from './endpoint.ts'
import { attributeProblem, parseFilter } from './filter.ts'
import type { LdapSearchOptions, LdapSourceOptions, SearchScope } from './options.ts'

/** The options of one kind, parsed and checked. */
export interface Place<M> {
  readonly base: string
  readonly scope: SearchScope
  readonly filter: Filter
  readonly filterText: string
  readonly map: M
}

export interface CompiledOptions {
  readonly endpoints: readonly Endpoint[]
  readonly users: Place<UserMapping>
  readonly groups: Place<GroupMapping> | undefined
}

/** Throws `config-invalid` with a sentence that begins with the key that is wrong. */
export function compileOptions(options: LdapSourceOptions): CompiledOptions {
  const { users, groups } = options
  return {
    endpoints: parseEndpoints(options),
    users: compilePlace(users, 'users', compileUserMap(users.map, 'users.map', attributeProblem)),
    groups:
      groups && compilePlace(groups, 'groups', compileGroupMap(groups.map, 'groups.map', attributeProblem)),
  }
}

function compilePlace<M>(options: LdapSearchOptions<unknown>, kind: 'users' | 'groups', map: M): Place<M> {
  const { base, scope } = options
  if (normalizeDn(base) === undefined)
    throw new DirsyncdError('config-invalid', `${kind}.base: "${base}" is not a DN`)
  const filterText = options.filter.trim()
  return { base, scope, filter: parseFilter(filterText, `${kind}.filter`), filterText, map }
}
