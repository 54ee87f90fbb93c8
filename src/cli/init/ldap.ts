import type { FoundPeople, RawLdap } from '../../compose/init.ts'
import { digits } from '../../directory/wording.ts'
import { DirsyncdError } from '../../errors.ts'
import { printable } from '../../printable.ts'
import { checkNotEmpty } from './check.ts'
import type { Init } from './context.ts'
import { askGroups, GROUP_FLAGS } from './groups.ts'
import { askFields, askId, type Mapping, MAPPING_FLAGS } from './mapping.ts'
import { askPlace, type Base, placeFlags } from './place.ts'
import { preview } from './preview.ts'
import { askServer, READER_FLAGS, type ReachedServer, SERVER_FLAGS } from './server.ts'

/** Everything about an LDAP source: the server, where the people and groups are, and how they are mapped. */
export async function askLdap(init: Init): Promise<RawLdap> {
  let reached: ReachedServer | undefined
  return init.answers.untilItWorks(
    () => whatToAskAgain(init),
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

/** The questions whose answers are keys of their own, because an option answers them together with another question. */
const SEARCH = '--users-base (search)'

const OF_PEOPLE = [...placeFlags('--users-base'), ...GROUP_FLAGS, ...MAPPING_FLAGS]

/** Where the source was not as it should be, only a person knows what was wrong. */
function whatToAskAgain({ answers }: Init): Promise<readonly string[]> {
  const flag = 'again'
  answers.forget([flag])
  return answers.choose<readonly string[]>({
    flag,
    given: undefined,
    what: 'what was wrong',
    message: 'What should be asked again?',
    choices: [
      { value: OF_PEOPLE, name: 'Which people and groups, and how they are mapped' },
      {
        value: [SEARCH, '--users-filter', ...OF_PEOPLE],
        name: 'Where to look for people, and with which filter',
      },
      { value: READER_FLAGS, name: 'The user that reads' },
      { value: [...SERVER_FLAGS, ...READER_FLAGS], name: 'The server' },
    ],
  })
}

async function askPeople(init: Init, reached: ReachedServer): Promise<RawLdap['users']> {
  const { options, say } = init
  const people = await findPeople(init, reached)
  const base = await askPlace(init, {
    flag: '--users-base',
    given: options.usersBase,
    what: 'the place of the people',
    message: 'Where are the people?',
    count: peopleInWords,
    found: people,
  })
  const inPlace = await within(init, reached, people, base)
  say(`  ${peopleInWords(inPlace.entries)} with the filter ${inPlace.filter}`)
  return { base, filter: inPlace.filter, map: await askMapping(init, inPlace) }
}

function peopleInWords(count: number): string {
  return count === 1 ? '1 person' : `${digits(count)} people`
}

/** Looks in the whole server, or where an option or a person says. Throws where nobody is found. */
async function findPeople(init: Init, { server, facts }: ReachedServer): Promise<FoundPeople> {
  const { steps, say, place } = init
  const bases = await searchedBases(init, facts.contexts)
  const filter = await searchedFilter(init)
  say(`Looking for people at and below ${bases.map(printable).join(' and ')} …`)
  const found = await steps.discoverPeople(server, { vendor: facts.vendor, bases, filter }, place())
  if (found.cut !== undefined) say(`  Not all entries were looked at: ${found.cut}`)
  if (found.entries > 0) return found
  const how = filter === undefined ? '' : ` with the filter ${filter}`
  throw new DirsyncdError(
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

async function searchedFilter({ answers, options }: Init): Promise<string | undefined> {
  const flag = '--users-filter'
  if (answers.isOpen(flag)) return options.usersFilter
  return answers.text({
    flag,
    given: undefined,
    what: 'the filter of the people',
    message: 'LDAP filter of the people:',
    proposed: options.usersFilter ?? '(objectClass=person)',
    check: checkNotEmpty,
  })
}

/** What there is at and below the chosen place, where that is not all that was found. */
async function within(
  { steps, place }: Init,
  { server, facts }: ReachedServer,
  found: FoundPeople,
  base: Base,
): Promise<FoundPeople> {
  if (base === found.places[0]?.dn) return found
  const { filter } = found
  return steps.discoverPeople(server, { vendor: facts.vendor, bases: [base].flat(), filter }, place())
}

async function askMapping(init: Init, people: FoundPeople): Promise<Mapping> {
  const { options } = init
  const of = people.entries
  const names = people.ids.map(({ name }) => name)
  const external_id = await askId(init, names, people.ids[0]?.isPermanent === true ? 'certain' : 'doubtful')
  const fields = [
    { field: 'email', given: options.mapEmail, proposals: people.emails, of },
    { field: 'name', given: options.mapName, proposals: people.names, of },
    { field: 'employee_id', given: options.mapEmployeeId, proposals: people.employeeIds, of },
  ] as const
  return askFields(init, external_id, fields)
}
