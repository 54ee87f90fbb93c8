import type { FoundPeople } from '../../../source/ldap/discover/discover.ts'
import type { RawLdap } from '../../../operations/init/draft.ts'
import { amount, digits } from '../../../base/wording.ts'
import { DirsyncdError } from '../../../base/errors.ts'
import { printable } from '../../../base/printable.ts'
import { checkNotEmpty } from './check.ts'
import { askWhatAgain } from './again.ts'
import { type Init, warnUnasked } from './context.ts'
import { askGroups, GROUP_FLAGS } from './groups.ts'
import type { Choice } from './prompts.ts'
import { askFields, askId, type Mapping, MAPPING_FLAGS } from './mapping.ts'
import { askLeftOut, LEFT_OUT_FLAGS } from './left-out.ts'
import { askPlace, type Base, placeFlags } from './place.ts'
import { preview, RIGHT } from './preview.ts'
import { askServer, READER_FLAGS, type ReachedServer, SERVER_FLAGS } from './server.ts'
import { askKind, filterFlags, namesKind } from './which.ts'

export async function askLdap(init: Init): Promise<RawLdap> {
  let reached: ReachedServer | undefined
  return init.answers.untilItWorks(
    () => askWhatAgain(init, LDAP_TOPICS),
    async () => {
      reached = await askServer(init, reached)
      const users = await askPeople(init, reached)
      const groups = await askGroups(init, reached)
      const source = { ...reached.server, users, ...(groups !== undefined && { groups }) }
      await preview(init, source)
      return source
    },
  )
}

/** A key of its own, because one option answers it together with another question. */
const SEARCH = '--users-base (search)'

const DISABLED = '--disabled'

const OF_PEOPLE = [
  ...LEFT_OUT_FLAGS,
  ...filterFlags('--users-filter'),
  ...placeFlags('--users-base'),
  DISABLED,
  ...GROUP_FLAGS,
  ...MAPPING_FLAGS,
  RIGHT,
]

export const LDAP_TOPICS: readonly Choice<readonly string[]>[] = [
  { value: OF_PEOPLE, name: 'Which people and groups, and how they are mapped' },
  { value: [SEARCH, ...OF_PEOPLE], name: 'Where to look for people, and then the same' },
  { value: [...MAPPING_FLAGS, RIGHT], name: 'Only how they are mapped' },
  { value: [...READER_FLAGS, RIGHT], name: 'The user that reads' },
  {
    value: [...SERVER_FLAGS, ...READER_FLAGS, ...OF_PEOPLE],
    name: 'The server, and then all of the source',
  },
]

async function askPeople(init: Init, reached: ReachedServer): Promise<RawLdap['users']> {
  const { options, say } = init
  const bases = await searchedBases(init, reached.facts.contexts)
  const { people, isGiven } = await findPeople(init, reached, bases)
  const base = await askPlace(init, {
    flag: '--users-base',
    given: options.usersBase,
    what: 'the place of the people',
    message: 'Where are the people?',
    count: peopleInWords,
    searched: bases,
    found: people,
  })
  const filter = isGiven
    ? people.filter
    : await askLeftOut(init, reached, { bases: [base].flat(), filter: people.filter })
  const chosen = await lookAt(init, reached, { base, filter, before: people })
  const leftOut = countAt(people, base) - chosen.entries
  if (filter !== people.filter && leftOut >= 0)
    say(
      `  ${leftOut === 0 ? 'Nobody is' : `${peopleInWords(leftOut)} ${leftOut === 1 ? 'is' : 'are'}`} left out.`,
    )
  say(`  ${peopleInWords(chosen.entries)} with the filter ${printable(chosen.filter)}`)
  const disabled = await askDisabled(init, chosen)
  const map = await askMapping(init, chosen)
  return { base, filter, ...(disabled !== undefined && { disabled }), map }
}

/** How many users are at and below a base; NaN where none were counted there. */
function countAt({ places }: FoundPeople, base: Base): number {
  const counts = [base].flat().map((dn) => places.find((place) => place.dn === dn)?.entries ?? NaN)
  return counts.reduce((sum, count) => sum + count, 0)
}

function peopleInWords(count: number): string {
  return count === 1 ? '1 person' : `${digits(count)} people`
}

/** Searches the whole server, or below the given base. Throws where no user is found. */
async function findPeople(
  init: Init,
  { server, facts }: ReachedServer,
  bases: readonly string[],
): Promise<{ readonly people: FoundPeople; readonly isGiven: boolean }> {
  const { answers, options, steps, say, place } = init
  const flag = '--users-filter'
  const { usersFilter: given } = options
  const looking = { vendor: facts.vendor, bases }
  say(`Looking for people at and below ${bases.map(printable).join(' and ')} …`)
  const isWhole = given !== undefined && namesKind(given) && answers.isOpen(flag)
  const kinds = isWhole ? [] : await steps.discoverKinds('user', server, looking, place())
  if (!isWhole && kinds.length === 0 && answers.isOpen(flag)) throw nobody(bases)
  const { kind, filter, isGiven } = await askKind(init, {
    flag,
    given,
    what: 'the kind of the people',
    message: 'Which entries are people?',
    kinds,
    count: (entries) => amount(entries, 'entry'),
  })
  const found = await steps.discoverPeople(server, { ...looking, filter }, place())
  if (found.cut !== undefined) say(`  Not all entries were looked at: ${found.cut}`)
  if (found.entries === 0) throw nobody(bases, filter)
  const all = kinds.find(({ isAll }) => isAll)?.entries ?? 0
  const others = all - (kinds.find((each) => each.filter === kind)?.entries ?? all)
  if (others > 0) {
    const filters = kinds.filter((each) => each.filter !== kind && !each.isAll).map((each) => each.filter)
    warnUnasked(init, `${amount(others, 'other entry')} may be people, too: ${filters.join(', ')} (${flag})`)
  }
  return { people: found, isGiven }
}

function nobody(bases: readonly string[], filter?: string): DirsyncdError {
  const how = filter === undefined ? '' : ` with the filter ${filter}`
  return new DirsyncdError(
    'source-refused',
    `Nobody was found at and below ${bases.join(' and ')}${how}: perhaps this reader may not see the people, or they are ` +
      'somewhere else or of another kind (--users-base, --users-filter).',
  )
}

async function searchedBases(init: Init, contexts: readonly string[]): Promise<readonly string[]> {
  const { answers, options } = init
  const known = options.usersBase ?? contexts
  if (known.length > 0 && answers.isOpen(SEARCH)) return known
  const base = await answers.text({
    flag: contexts.length === 0 && answers.isOpen(SEARCH) ? '--users-base' : SEARCH,
    given: undefined,
    what: 'the place of the people',
    message: 'Look for people at and below (a DN):',
    proposed: answers.hasPerson ? contexts[0] : undefined,
    check: checkNotEmpty,
  })
  return [base]
}

/** Entries with this filter at and below the chosen base, where that differs from `before`. */
async function lookAt(
  { steps, place }: Init,
  { server, facts }: ReachedServer,
  { base, filter, before }: { readonly base: Base; readonly filter: string; readonly before: FoundPeople },
): Promise<FoundPeople> {
  if (base === before.places[0]?.dn && filter === before.filter) return before
  const found = await steps.discoverPeople(
    server,
    { vendor: facts.vendor, bases: [base].flat(), filter },
    place(),
  )
  if (found.entries === 0 && filter !== before.filter)
    throw new DirsyncdError('source-refused', `Everybody there would be left out by the filter ${filter}.`)
  if (found.entries === 0) throw nobody([base].flat(), filter)
  return found
}

/** Asked only where there are disabled accounts. Without an answer, they are like all others. */
async function askDisabled(
  init: Init,
  { disabled, entries }: FoundPeople,
): Promise<RawLdap['users']['disabled']> {
  const { answers, options } = init
  if (disabled === 0) return options.disabled
  if (options.disabled === undefined)
    warnUnasked(init, `${peopleInWords(disabled)} cannot log in and count as gone; --disabled says otherwise`)
  return answers.choose({
    flag: DISABLED,
    given: options.disabled,
    what: 'disabled accounts',
    message: `${digits(disabled)} of ${peopleInWords(entries)} cannot log in, because their accounts are disabled. What are they?`,
    choices: [
      { value: 'delete', name: 'Gone: not created, and deleted where the directory has them' },
      { value: 'skip', name: 'Left as they are: not created, and kept where the directory has them' },
      { value: 'keep', name: 'People like all others' },
    ],
  })
}

async function askMapping(init: Init, people: FoundPeople): Promise<Mapping> {
  const { options, say } = init
  const { entries: of, severalMails } = people
  if (severalMails > 0)
    say(
      `  ${peopleInWords(severalMails)} with several addresses in mail: of those that are an address in an allowed domain the first in alphabetical order counts, capitals before small letters.`,
    )
  const names = people.ids.map(({ name }) => name)
  const external_id = await askId(init, names, people.ids[0]?.isPermanent === true ? 'certain' : 'doubtful')
  const fields = [
    { field: 'email', given: options.mapEmail, proposals: people.emails, of },
    { field: 'name', given: options.mapName, proposals: people.names, of },
    { field: 'employee_id', given: options.mapEmployeeId, proposals: people.employeeIds, of },
  ] as const
  return askFields(init, external_id, fields)
}
