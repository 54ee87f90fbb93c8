import type { FoundGroups, GroupKind, RawLdap } from '../../compose/init.ts'
import { amount, digits } from '../../directory/wording.ts'
import { printable } from '../../printable.ts'
import type { Init } from './context.ts'
import { askPlace, NOWHERE, placeFlags } from './place.ts'
import type { ReachedServer } from './server.ts'

export const GROUP_FLAGS: readonly string[] = [...placeFlags('--groups-base'), '--groups-filter', '--nested']

/** `undefined` where there are no groups, or none are wanted. */
export async function askGroups(init: Init, reached: ReachedServer): Promise<RawLdap['groups']> {
  const { options, say } = init
  const { facts } = reached
  if (!options.groups) return undefined
  const bases = options.groupsBase ?? (facts.contexts.length > 0 ? facts.contexts : options.usersBase)
  if (bases === undefined) return undefined
  say(`Looking for groups at and below ${bases.map(printable).join(' and ')} …`)
  const found = await findGroups(init, reached, bases)
  const id = found?.ids[0]
  if (found === undefined || id === undefined) {
    say('  No groups were found; only people are synced.')
    return undefined
  }
  say(`  ${amount(found.entries, 'group')} with the filter ${found.filter}`)
  const base = await askPlace(init, {
    flag: '--groups-base',
    given: options.groupsBase,
    what: 'the place of the groups',
    message: 'Where are the groups?',
    count: (groups) => amount(groups, 'group'),
    found,
  })
  if (base === NOWHERE) return undefined
  const nested = found.nested === 0 ? undefined : await askNested(init, found.nested)
  const [first, ...others] = found.members
  const members = others.length === 0 ? first : [...found.members]
  return {
    base,
    filter: found.filter,
    ...(nested && { nested: 'flatten' }),
    map: { external_id: id.name, name: 'cn', ...(members !== undefined && { members }) },
  }
}

async function findGroups(
  init: Init,
  { server, facts }: ReachedServer,
  bases: readonly string[],
): Promise<FoundGroups | undefined> {
  const { options, steps, place } = init
  const looking = { vendor: facts.vendor, bases, filter: options.groupsFilter }
  const kinds = await steps.discoverGroupKinds(server, looking, place())
  if (kinds.length === 0) return undefined
  const filter = await askKind(init, kinds)
  return steps.discoverGroups(server, { ...looking, filter }, place())
}

function askKind({ answers, options }: Init, kinds: readonly GroupKind[]): Promise<string> {
  const [only, ...others] = kinds
  return answers.choose({
    flag: '--groups-filter',
    given: others.length === 0 ? only?.filter : options.groupsFilter,
    what: 'the kind of the groups',
    message: 'Which groups?',
    choices: kinds.map((kind, at) => ({
      value: kind.filter,
      name: `${kind.filter}  (${at > 0 && at === kinds.length - 1 ? 'all ' : ''}${amount(kind.groups ?? 0, 'group')})`,
    })),
  })
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
