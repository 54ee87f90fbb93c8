import { digits } from '../../../directory/wording.ts'
import { DirsyncdError } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import { dnKey } from '../dn.ts'
import { type LdapEntry, lookupIn } from '../entry.ts'
import { parseFilter } from '../filter.ts'
import type { Vendor } from '../options.ts'
import { searchAll } from '../search.ts'
import { PROFILES } from '../vendor.ts'
import {
  emailProposals,
  employeeIdProposals,
  type Id,
  ID_ATTRIBUTES,
  idProposals,
  nameProposals,
  type Proposal,
  USER_ATTRIBUTES,
} from './propose.ts'
import { type ServerOptions, withServer } from './server.ts'
import { type FoundPlace, Tally } from './tally.ts'

/** Where to look, and for what. */
export interface Looking {
  readonly vendor: Vendor
  /** The trees or units to look in. */
  readonly bases: readonly string[]
  /** Left out: the vendor's, or else the first that finds somebody. */
  readonly filter?: string | undefined
}

/** Entries of one kind that a server has, and where. */
export interface FoundEntries {
  readonly filter: string
  readonly entries: number
  /** Why these are not all; `undefined` where they are. */
  readonly cut: string | undefined
  readonly places: readonly FoundPlace[]
}

export interface FoundPeople extends FoundEntries {
  readonly ids: readonly Id[]
  readonly emails: readonly Proposal[]
  readonly names: readonly Proposal[]
  readonly employeeIds: readonly Proposal[]
}

export interface FoundGroups extends FoundEntries {
  /** The attributes that list members, the one that most groups have first. */
  readonly members: readonly string[]
  readonly ids: readonly Id[]
  /** How many groups have another group as a member. */
  readonly nested: number
}

/** More are not needed to make a proposal. */
const MOST_ENTRIES = 200_000
const LONGEST_MS = 60_000
const MOST_PLACES = 8
const PAGE_SIZE = 1000

const USER_FILTERS = [
  '(objectClass=inetOrgPerson)',
  '(objectClass=organizationalPerson)',
  '(objectClass=person)',
  '(objectClass=posixAccount)',
  '(objectClass=account)',
]

/** Looks for people. Returns nobody where no filter finds one. Rejects like `Source.read`. */
export async function discoverPeople(
  options: ServerOptions,
  looking: Looking,
  log: Log,
  signal: AbortSignal,
): Promise<FoundPeople> {
  const { userFilter, idAttribute } = PROFILES[looking.vendor]
  const filters = looking.filter === undefined ? distinct([userFilter, ...USER_FILTERS]) : [looking.filter]
  for (const filter of filters) {
    const tally = new Tally(USER_ATTRIBUTES)
    const cut = await count({ options, looking, filter, attributes: USER_ATTRIBUTES }, log, signal, (entry) =>
      tally.add(entry),
    )
    if (tally.entries === 0 && filter !== filters.at(-1)) continue
    return {
      ...foundIn(tally, filter, cut),
      ids: idProposals(tally, idAttribute),
      emails: emailProposals(tally),
      names: nameProposals(tally),
      employeeIds: employeeIdProposals(tally),
    }
  }
  throw new Error('there is always a filter')
}

/** Classes of groups, and the attribute in which each lists its members. */
const GROUP_CLASSES: ReadonlyMap<string, string> = new Map([
  ['groupOfNames', 'member'],
  ['groupOfUniqueNames', 'uniqueMember'],
  ['posixGroup', 'memberUid'],
])
const MEMBERS = [...GROUP_CLASSES.values()]

/** One kind of groups, or all kinds together. */
export interface GroupKind {
  readonly filter: string
  /** `undefined` where there is no other kind. */
  readonly groups: number | undefined
}

/**
 * The kinds of groups that a server has: the vendor's usual one first, and all together last. A server with another
 * usual kind, and one that is asked for a filter, has only that. Rejects like `Source.read`.
 */
export async function discoverGroupKinds(
  options: ServerOptions,
  looking: Looking,
  log: Log,
  signal: AbortSignal,
): Promise<readonly GroupKind[]> {
  const usual = PROFILES[looking.vendor].groupFilter
  const classes = [...GROUP_CLASSES.keys()]
  const isOther = usual !== undefined && !classes.map(ofClass).includes(usual)
  const only = looking.filter ?? (isOther ? usual : undefined)
  if (only !== undefined) return [{ filter: only, groups: undefined }]
  const counts = new Map<string, number>()
  let all = 0
  const search = { options, looking, filter: ofAny(classes), attributes: ['objectClass'] }
  await count(search, log, signal, (entry) => {
    all += 1
    const has = new Set(lookupIn(entry)('objectClass').map((name) => name.toLowerCase()))
    for (const name of classes.filter((each) => has.has(each.toLowerCase())))
      counts.set(name, (counts.get(name) ?? 0) + 1)
  })
  const kinds = [...counts]
    .map(([name, groups]) => ({ filter: ofClass(name), groups }))
    .toSorted((a, b) => Number(b.filter === usual) - Number(a.filter === usual) || b.groups - a.groups)
  const whole = kinds.find(({ groups }) => groups === all)
  if (whole !== undefined) return [whole]
  return all === 0 ? [] : [...kinds, { filter: ofAny([...counts.keys()]), groups: all }]
}

/** Looks at the groups of this filter. Rejects like `Source.read`. */
export async function discoverGroups(
  options: ServerOptions,
  looking: Looking & { readonly filter: string },
  log: Log,
  signal: AbortSignal,
): Promise<FoundGroups> {
  const { filter } = looking
  const wanted = [...MEMBERS, ...ID_ATTRIBUTES]
  const tally = new Tally(wanted)
  const nesting = new Nesting()
  const cut = await count({ options, looking, filter, attributes: wanted }, log, signal, (entry) => {
    tally.add(entry)
    nesting.add(entry)
  })
  const members = MEMBERS.filter((name) => tally.having([[name]]) > 0)
  return {
    ...foundIn(tally, filter, cut),
    members: members.toSorted((a, b) => tally.having([[b]]) - tally.having([[a]])),
    ids: idProposals(tally, PROFILES[looking.vendor].idAttribute),
    nested: nesting.count(),
  }
}

function foundIn(tally: Tally, filter: string, cut: string | undefined): FoundEntries {
  return { filter, entries: tally.entries, cut, places: tally.places(MOST_PLACES) }
}

function ofClass(name: string): string {
  return `(objectClass=${name})`
}

function ofAny(names: readonly string[]): string {
  return `(|${names.map(ofClass).join('')})`
}

function distinct(filters: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(filters.filter((filter) => filter !== undefined))]
}

/** Which groups are members of groups. Remembers the members of a bounded number of groups. */
class Nesting {
  readonly #groups = new Set<string>()
  readonly #members: (readonly string[])[] = []

  add(entry: LdapEntry): void {
    const lookup = lookupIn(entry)
    this.#groups.add(dnKey(entry.dn))
    if (this.#members.length < MOST_LOOKED_AT) {
      this.#members.push([...lookup('member'), ...lookup('uniqueMember')].slice(0, MOST_LOOKED_AT))
    }
  }

  count(): number {
    return this.#members.filter((members) => members.some((dn) => this.#groups.has(dnKey(dn)))).length
  }
}

/** Of groups, and of the members of each. */
const MOST_LOOKED_AT = 2_000

interface Counting {
  readonly options: ServerOptions
  readonly looking: Looking
  readonly filter: string
  readonly attributes: readonly string[]
}

/** Ends a search that has found enough. */
class Enough extends Error {}

/** Hands on the entries of each base. Resolves with why some are missing, if some are. */
async function count(
  { options, looking, filter, attributes }: Counting,
  log: Log,
  signal: AbortSignal,
  onEntry: (entry: LdapEntry) => void,
): Promise<string | undefined> {
  const { paging, mostPerPage = PAGE_SIZE } = PROFILES[looking.vendor]
  const deadline = performance.now() + LONGEST_MS
  let entries = 0
  const take = (entry: LdapEntry) => {
    onEntry(entry)
    entries += 1
    if (entries === MOST_ENTRIES) throw new Enough(`only the first ${digits(entries)} were looked at`)
    if (entries % PAGE_SIZE === 0 && performance.now() > deadline)
      throw new Enough(`only the ${digits(entries)} that came within ${LONGEST_MS / 1000} s were looked at`)
  }
  const search = {
    scope: 'sub',
    filter: parseFilter(filter, 'filter'),
    filterText: filter,
    attributes,
    pageSize: paging ? mostPerPage : undefined,
  } as const
  try {
    await withServer(options, log, signal, async (server) => {
      for (const base of looking.bases) await searchAll(server, { ...search, base }, take)
    })
    return undefined
  } catch (error) {
    if (error instanceof Enough) return error.message
    // A limit of the server for this reader: what came before it is enough for a proposal.
    if (
      error instanceof DirsyncdError &&
      error.code === 'source-incomplete' &&
      entries > 0 &&
      !signal.aborted
    )
      return error.message
    throw error
  }
}
