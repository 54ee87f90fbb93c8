import { isDeepStrictEqual } from 'node:util'
import type { GroupEntry, Kind, UserEntry } from '../directory/entry.ts'
import { idProblem } from '../directory/identity.ts'
import { DirsyncdError } from '../errors.ts'
import { byCodeUnit, sortedUnique } from '../directory/normalize.ts'
import { compareNotices, type Coverage, type Notice, type SourceSnapshot } from '../directory/snapshot.ts'
import { digits } from '../directory/wording.ts'

/** What every entry brings along: all values of its id attribute, and where it was read. */
interface Candidate {
  readonly ids: readonly string[]
  /** The name of the attribute or column that holds the id, for the notices. */
  readonly idName: string
  readonly from: string
  /** Why values are missing that could not be worked out, each beginning with the key of the mapping. */
  readonly faults?: readonly string[]
}

export interface UserCandidate extends Candidate {
  readonly email: string | undefined
  readonly name: string | undefined
  readonly employeeId: string | undefined
}

export interface GroupCandidate extends Candidate {
  readonly name: string | undefined
  /** Ids of users. */
  readonly members: Iterable<string>
  /** Members, as the source spells them, that are no users of this read. */
  readonly strangers: readonly string[]
}

/**
 * Builds a snapshot out of the entries that a source reads; the same rules for every kind of source. The order in which
 * entries come decides nothing: every order of the same entries gives the same snapshot, its notices included.
 */
export interface Collector {
  /** Takes a user and says its id, or `undefined` when it has no usable one. A duplicate has its id. */
  addUser(user: UserCandidate): string | undefined
  addGroup(group: GroupCandidate): string | undefined
  /** A group of whose members the source knows only a part: neither written nor deleted. */
  addHidden(group: Pick<GroupCandidate, 'ids' | 'idName' | 'from'> & { readonly why: string }): void
  /**
   * Takes a user that cannot log in: not written, and either kept in the directory or, as if it were not there, `gone`. Says
   * its id where it is kept and has a usable one.
   */
  addDisabled(user: Candidate & { readonly gone: boolean }): string | undefined
  /** An entry that was read and cannot be understood. Nobody knows whose it was: no deletes in this run. */
  addUnreadable(kind: Kind, detail: string): void
  /** Members that name a group which the source does not have. */
  addOrphans(group: string, detail: string): void
  /** Whether this raw id of a user was seen, of skipped users too. */
  readonly knowsUser: (id: string) => boolean
  snapshot(): SourceSnapshot
}

export function createCollector(covers: Coverage = { groups: true, members: true }): Collector {
  const users = createShelf<UserEntry>('user')
  const groups = createShelf<GroupEntry>('group')
  const notices: Notice[] = []
  let unreadable = 0
  const withId = { user: 0, group: 0 }
  const withoutId = { user: 0, group: 0 }
  const idNames = { user: '', group: '' }

  function addUnreadable(kind: Kind, detail: string): void {
    unreadable += 1
    notices.push({ kind, id: undefined, code: 'unreadable', detail })
  }

  /** The one usable id of a candidate. Every value is marked as seen, or one of them might be deleted. */
  function identify(shelf: Shelf<UserEntry> | Shelf<GroupEntry>, candidate: Candidate): string | undefined {
    for (const id of candidate.ids) shelf.seen.add(id)
    const counted = candidate.ids.length === 0 ? withoutId : withId
    counted[shelf.kind] += 1
    idNames[shelf.kind] = candidate.idName
    const id = usableId(candidate)
    if (id !== undefined) {
      for (const fault of candidate.faults ?? [])
        notices.push({ kind: shelf.kind, id, code: 'value-failed', detail: `${candidate.from}: ${fault}` })
      return id
    }
    const problem = problemOf(candidate)
    addUnreadable(shelf.kind, `${candidate.from}: ${problem} (external_id is "${candidate.idName}")`)
    return undefined
  }

  return {
    addUser(user) {
      const id = identify(users, user)
      if (id === undefined) return undefined
      const { email, name, employeeId, from } = user
      users.add({ id, email, name, employeeId, from })
      return id
    },
    addGroup(group) {
      const id = identify(groups, group)
      if (id === undefined) return undefined
      if (group.name === undefined) {
        notices.push({ kind: 'group', id, code: 'no-name', detail: `${group.from}: the group has no name` })
        groups.addUnwritten(id, group.from)
        return id
      }
      groups.add({ id, name: group.name, members: sortedUnique(group.members), from: group.from })
      if (group.strangers.length > 0) {
        const detail = `${group.from}: ${strangersSentence(group.strangers)}`
        notices.push({ kind: 'group', id, code: 'unknown-members', detail })
      }
      return id
    },
    addHidden({ why, ...group }) {
      const id = identify(groups, group)
      if (id === undefined) return
      notices.push({ kind: 'group', id, code: 'members-hidden', detail: `${group.from}: ${why}` })
      groups.addUnwritten(id, group.from)
    },
    addDisabled({ gone, ...user }) {
      // Without a usable id nobody knows who it is that is gone.
      const isGone = gone && usableId(user) !== undefined
      const id = isGone ? usableId(user) : identify(users, user)
      if (id === undefined) return undefined
      const { from } = user
      const what = gone ? 'treated as gone' : 'left in the directory as it is'
      notices.push({ kind: 'user', id, code: 'disabled', detail: `${from}: is disabled and ${what}` })
      if (isGone) return undefined
      users.addUnwritten(id, from)
      return id
    },
    addUnreadable,
    addOrphans(group, detail) {
      notices.push({ kind: 'group', id: group, code: 'unknown-members', detail })
    },
    knowsUser: (id) => users.seen.has(id),
    snapshot: () => {
      for (const kind of ['user', 'group'] as const)
        if (withId[kind] === 0 && withoutId[kind] > 1) refuseAnonymous(kind, withoutId[kind], idNames[kind])
      return {
        users: users.unique(),
        groups: groups.unique(),
        covers,
        seen: { user: users.seen, group: groups.seen },
        unreadable,
        notices: settled([...users.duplicates(), ...groups.duplicates(), ...notices]),
      }
    },
  }
}

/** One entry without an id is an odd entry; where none has one, it is the configuration or the reader that is wrong. */
function refuseAnonymous(kind: Kind, count: number, idName: string): never {
  const remedy = `correct ${kind}s.map.external_id, or let the reader see it`
  throw new DirsyncdError(
    'source-incomplete',
    `none of the ${digits(count)} ${kind}s has an id (external_id is "${idName}"); ${remedy}`,
  )
}

/** In the order of reports. An entry that a server sent twice says each thing once; what is unreadable is counted. */
function settled(notices: readonly Notice[]): Notice[] {
  const sorted = notices.toSorted(compareNotices)
  return sorted.filter((notice, index) => {
    const before = sorted[index - 1]
    return before === undefined || notice.code === 'unreadable' || compareNotices(before, notice) !== 0
  })
}

interface Placed {
  readonly id: string
  readonly from: string
}

/** An entry that has an id and a place and nothing that is written: a group without a name or with hidden members, a disabled user. */
interface Unwritten extends Placed {
  readonly unwritten: true
}

/**
 * The entries of one kind by id. All entries that share an id are put aside: nobody knows which one is meant, and to
 * choose one would give one person's data to another. So is an entry that was read twice and was not the same twice: the
 * next read gets it whole.
 */
interface Shelf<E extends Placed> {
  readonly kind: Kind
  readonly seen: Set<string>
  add(entry: E): void
  addUnwritten(id: string, from: string): void
  unique(): ReadonlyMap<string, E>
  duplicates(): Notice[]
}

function createShelf<E extends Placed>(kind: Kind): Shelf<E> {
  const entries = new Map<string, E>()
  const unwritten = new Map<string, Unwritten>()
  /** Where the entries of an id were read, for ids that are put aside. */
  const aside = new Map<string, Set<string>>()

  /** Whether the entry is the first of its id. A server may send one entry twice while it is read. */
  function isNew(entry: E | Unwritten): boolean {
    const { id, from } = entry
    const places = aside.get(id)
    if (places !== undefined) {
      places.add(from)
      return false
    }
    const first = entries.get(id) ?? unwritten.get(id)
    if (first === undefined) return true
    if (isDeepStrictEqual(first, entry)) return false
    aside.set(id, new Set([first.from, from]))
    entries.delete(id)
    unwritten.delete(id)
    return false
  }

  return {
    kind,
    seen: new Set(),
    add(entry) {
      if (isNew(entry)) entries.set(entry.id, entry)
    },
    addUnwritten(id, from) {
      const entry: Unwritten = { id, from, unwritten: true }
      if (isNew(entry)) unwritten.set(id, entry)
    },
    unique: () => entries,
    duplicates: () => [...aside].flatMap(([id, places]) => duplicateNotices(kind, id, places)),
  }
}

function duplicateNotices(kind: Kind, id: string, places: ReadonlySet<string>): Notice[] {
  const sorted = [...places].toSorted(byCodeUnit)
  const [only] = sorted
  if (only !== undefined && sorted.length === 1) {
    const detail = `${only}: was read twice and had changed in between; it is left alone in this run`
    return [{ kind, id, code: 'duplicate-id', detail }]
  }
  const first = sorted.slice(0, 4)
  return sorted.map((place) => {
    const others = examples(
      first.filter((other) => other !== place),
      places.size - 1,
    )
    return { kind, id, code: 'duplicate-id', detail: `${place}: the id "${id}" is also that of ${others}` }
  })
}

function usableId(candidate: Candidate): string | undefined {
  return problemOf(candidate) === undefined ? candidate.ids[0] : undefined
}

function problemOf({ ids }: Candidate): string | undefined {
  const [id] = ids
  if (id === undefined) return 'there is no id'
  return ids.length > 1 ? `there are ${ids.length} ids instead of one` : idProblem(id)
}

function strangersSentence(strangers: readonly string[]): string {
  const count =
    strangers.length === 1 ? '1 member is no user' : `${digits(strangers.length)} members are no users`
  return `${count} of this sync: ${examples(strangers)}`
}

/** The first three of them by code unit, and how many more there are. */
export function examples(values: readonly string[], total = values.length): string {
  const sorted = values.toSorted(byCodeUnit)
  const shown = sorted.slice(0, 3).map((value) => `"${value}"`)
  const more = total - shown.length
  return more > 0 ? `${shown.join(', ')} and ${digits(more)} more` : shown.join(', ')
}
