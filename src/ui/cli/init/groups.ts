import type { FoundGroups } from '../../../source/ldap/discover/discover.ts'
import type { RawLdap } from '../../../operations/init/draft.ts'
import { amount, digits } from '../../../base/wording.ts'
import { DirsyncdError } from '../../../base/errors.ts'
import { printable } from '../../../base/printable.ts'
import type { Init } from './context.ts'
import { askPlace, NOWHERE, placeFlags } from './place.ts'
import type { ReachedServer } from './server.ts'
import { askKind, askNarrower, both, filterFlags, namesKind } from './which.ts'

export const GROUP_FLAGS: readonly string[] = [
  ...filterFlags('--groups-filter'),
  ...placeFlags('--groups-base'),
  '--nested',
]

/** `undefined` where there are no groups, or none are wanted. */
export async function askGroups(init: Init, reached: ReachedServer): Promise<RawLdap['groups']> {
  const { options, say } = init
  const { contexts } = reached.facts
  if (!options.groups) return undefined
  const bases = options.groupsBase ?? (contexts.length > 0 ? contexts : options.usersBase)
  if (bases === undefined) return undefined
  say(`Looking for groups at and below ${bases.map(printable).join(' and ')} …`)
  const found = await findGroups(init, reached, bases)
  const id = found?.ids[0]
  if (found === undefined || id === undefined) {
    say('  No groups were found; only people are synced.')
    return undefined
  }
  say(`  ${amount(found.entries, 'group')} with the filter ${printable(found.filter)}`)
  const isNested = found.nested > 0 ? await askNested(init, found.nested) : options.nested === 'flatten'
  const base = await askPlace(init, {
    flag: '--groups-base',
    given: options.groupsBase,
    what: 'the place of the groups',
    message: isNested ? 'Where are the groups, and those within them?' : 'Where are the groups?',
    count: (groups) => amount(groups, 'group'),
    searched: bases,
    found: isNested ? found.ofAll : found,
  })
  if (base === NOWHERE) return undefined
  const [first, ...others] = found.members
  const members = others.length === 0 ? first : [...found.members]
  return {
    base,
    filter: found.filter,
    ...(isNested && { nested: 'flatten' }),
    map: { external_id: id.name, name: 'cn', ...(members !== undefined && { members }) },
  }
}

async function findGroups(
  init: Init,
  { server, facts }: ReachedServer,
  bases: readonly string[],
): Promise<FoundGroups | undefined> {
  const { answers, options, steps, place } = init
  const { groupsFilter: given } = options
  const looking = { vendor: facts.vendor, bases }
  const flag = '--groups-filter'
  const isWhole = given !== undefined && namesKind(given) && answers.isOpen(flag)
  const kinds = isWhole ? [] : await steps.discoverKinds('group', server, looking, place())
  if (given === undefined && kinds.length === 0) return undefined
  const chosen = await askKind(init, {
    flag,
    given,
    what: 'the kind of the groups',
    message: 'Which kind of groups? Which of them is asked next.',
    kinds,
    count: (groups) => amount(groups, 'group'),
  })
  const only = await askNarrower(init, {
    flag,
    given: chosen.isGiven ? given : undefined,
    what: 'a part of the groups',
    message: 'Only some of them? (an LDAP filter such as (cn=app-*); empty: all)',
    // Built-in groups of Windows, such as Domain Admins.
    proposed: facts.vendor === 'active-directory' ? '(!(isCriticalSystemObject=TRUE))' : '',
  })
  const filter = only === undefined ? chosen.filter : both(chosen.filter, only)
  const found = await steps.discoverGroups(server, { ...looking, filter }, place())
  if (found.entries === 0)
    throw new DirsyncdError(
      'source-refused',
      `No group was found at and below ${bases.join(' and ')} with the filter ${filter} (${flag}).`,
    )
  return found
}

async function askNested({ answers, options: { nested } }: Init, groups: number): Promise<boolean> {
  const have = groups === 1 ? '1 group has' : `${digits(groups)} groups have`
  return answers.confirm({
    flag: '--nested',
    given: nested === undefined ? undefined : nested === 'flatten',
    what: 'groups within groups',
    message: `${have} other groups as members. Count the members of those as members, too?`,
    proposed: true,
  })
}
