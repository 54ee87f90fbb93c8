import type { GroupEntry, Kind, UserEntry } from '../directory/entry.ts'
import { idProblem } from '../directory/identity.ts'
import { sortedUnique } from '../directory/normalize.ts'
import type { Coverage, Notice, SourceSnapshot } from '../directory/snapshot.ts'

/** What every entry brings along: all values of its id attribute, and where it was read. */
interface Candidate {
  readonly ids: readonly string[]
  /** The name of the attribute or column that holds the id, for the notices. */
  readonly idName: string
  readonly from: string
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

/** Builds a snapshot out of the entries that a source reads; the same rules for every kind of source. */
export interface Collector {
  /** Takes a user and says its id, or `undefined` when it has no usable one. A duplicate has its id. */
  addUser(user: UserCandidate): string | undefined
  addGroup(group: GroupCandidate): string | undefined
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

  function addUnreadable(kind: Kind, detail: string): void {
    unreadable += 1
    notices.push({ kind, id: undefined, code: 'unreadable', detail })
  }

  /** The one usable id of a candidate. Every value is marked as seen, or one of them might be deleted. */
  function identify(shelf: Shelf<UserEntry> | Shelf<GroupEntry>, candidate: Candidate): string | undefined {
    for (const id of candidate.ids) shelf.seen.add(id)
    const [id] = candidate.ids
    const problem = id === undefined || candidate.ids.length > 1 ? countProblem(candidate) : idProblem(id)
    if (problem === undefined) return id
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
        groups.addNameless(id, group.from)
        return id
      }
      groups.add({ id, name: group.name, members: sortedUnique(group.members), from: group.from })
      if (group.strangers.length > 0) {
        const detail = `${group.from}: ${strangersSentence(group.strangers)}`
        notices.push({ kind: 'group', id, code: 'unknown-members', detail })
      }
      return id
    },
    addUnreadable,
    addOrphans(group, detail) {
      notices.push({ kind: 'group', id: group, code: 'unknown-members', detail })
    },
    knowsUser: (id) => users.seen.has(id),
    snapshot: () => ({
      users: users.unique(),
      groups: groups.unique(),
      covers,
      seen: { user: users.seen, group: groups.seen },
      unreadable,
      notices: [...users.duplicates(), ...groups.duplicates(), ...notices],
    }),
  }
}

/** The entries of one kind by id. All entries that share an id are put aside: nobody knows which one is meant. */
interface Shelf<E extends { readonly id: string; readonly from: string }> {
  readonly kind: Kind
  readonly seen: Set<string>
  add(entry: E): void
  addNameless(id: string, from: string): void
  unique(): ReadonlyMap<string, E>
  duplicates(): Notice[]
}

function createShelf<E extends { readonly id: string; readonly from: string }>(kind: Kind): Shelf<E> {
  const entries = new Map<string, E>()
  const nameless = new Map<string, string>()
  /** Where the entries of an id were read, for ids with more than one. */
  const shared = new Map<string, Set<string>>()

  /** Whether the id is free for this entry. A server may send one entry twice while it is read: same id, same place. */
  function claim(id: string, from: string): boolean {
    const places = shared.get(id)
    if (places !== undefined) {
      places.add(from)
      return false
    }
    const first = entries.get(id)?.from ?? nameless.get(id)
    if (first === undefined || first === from) return true
    shared.set(id, new Set([first, from]))
    entries.delete(id)
    return false
  }

  return {
    kind,
    seen: new Set(),
    add(entry) {
      if (claim(entry.id, entry.from)) entries.set(entry.id, entry)
    },
    addNameless(id, from) {
      if (claim(id, from)) nameless.set(id, from)
    },
    unique: () => entries,
    duplicates: () => [...shared].flatMap(([id, places]) => duplicateNotices(kind, id, places)),
  }
}

function duplicateNotices(kind: Kind, id: string, places: ReadonlySet<string>): Notice[] {
  const first = [...places].slice(0, 4)
  return [...places].map((place) => {
    const others = examples(
      first.filter((other) => other !== place),
      places.size - 1,
    )
    return { kind, id, code: 'duplicate-id', detail: `${place}: the id "${id}" is also that of ${others}` }
  })
}

function countProblem(candidate: Candidate): string {
  return candidate.ids.length === 0
    ? 'there is no id'
    : `there are ${candidate.ids.length} ids instead of one`
}

function strangersSentence(strangers: readonly string[]): string {
  const count = strangers.length === 1 ? '1 member is no user' : `${strangers.length} members are no users`
  return `${count} of this sync: ${examples(strangers)}`
}

/** Up to three of them, and how many more there are. */
export function examples(values: readonly string[], total = values.length): string {
  const shown = values.slice(0, 3).map((value) => `"${value}"`)
  const more = total - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}
