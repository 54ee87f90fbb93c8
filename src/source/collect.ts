import { isDeepStrictEqual } from 'node:util'
import type { GroupEntry, Kind, UserEntry } from '../core/entries/entry.ts'
import { idProblem } from '../core/entries/identity.ts'
import { incomplete } from './incomplete.ts'
import { sortedUnique } from '../core/entries/normalize.ts'
import { byCodeUnit } from '../base/order.ts'
import { UserTable } from '../core/entries/user-table.ts'
import { SourceUsers } from '../core/entries/users.ts'
import type { Coverage, Ids, SourceSnapshot } from '../core/entries/snapshot.ts'
import { compareNotices, examplesOf, type Faulty, type Notice, type NoticeParams } from '../core/notice.ts'
import { digits } from '../base/wording.ts'

/**
 * No name has a control character, and a terminal obeys it. Allowed are tabs and line breaks, but not in an e-mail, and
 * what text in a wrong encoding has for an apostrophe (U+0080 to U+009F).
 */
// oxlint-disable-next-line no-control-regex -- that is what it looks for
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/
// oxlint-disable-next-line no-control-regex -- that is what it looks for
const CONTROL_OR_BREAK = /[\u0000-\u001f\u007f]/

interface Named {
  readonly kind: Kind
  readonly id: string
  readonly from: string
}

interface Candidate {
  readonly ids: readonly string[]
  readonly idName: string
  readonly from: string
  /** One sentence for each value that could not be computed; it begins with the key of the mapping. */
  readonly faults?: readonly string[]
}

export interface UserCandidate extends Candidate {
  readonly email: string | undefined
  readonly name: string | undefined
  readonly employeeId: string | undefined
}

/** A user with a usable id, duplicates too. */
export interface AddedUser {
  readonly id: string
  /** `undefined` when the id existed before. */
  readonly row: number | undefined
}

export interface GroupCandidate extends Candidate {
  readonly name: string | undefined
  readonly members: Iterable<string>
  /** Unresolved members, spelled as in the source. */
  readonly unknownMembers: readonly string[]
  /** How many of these are groups of the sync, which count as members only where groups are flattened. */
  readonly nestedGroups?: number
  /** Those of these that name several users. */
  readonly sharedNames?: readonly string[]
}

/** The same rules for every source. The order of the entries changes neither the snapshot nor its notices. */
export class Collector {
  readonly #covers: Coverage
  readonly #users: UsersById
  readonly #groups = new GroupsById('group', new Map<string, GroupEntry>())
  readonly #notices: Notice[] = []
  readonly #withId = { user: 0, group: 0 }
  readonly #withoutId = { user: 0, group: 0 }
  readonly #idNames = { user: '', group: '' }
  #unreadable = 0

  readonly table: UserTable

  constructor(covers: Coverage = { groups: true, members: true }, table = new UserTable()) {
    this.#covers = covers
    this.table = table
    this.#users = new UsersById('user', new SourceUsers(table))
  }

  addUser(user: UserCandidate): AddedUser | undefined {
    const id = this.#identify(this.#users, user)
    if (id === undefined) return undefined
    const { from } = user
    const named = { kind: 'user', id, from } as const
    const email = this.#withoutControl(named, 'e-mail', user.email)
    const name = this.#withoutControl(named, 'name', user.name)
    const employeeId = this.#withoutControl(named, 'employee id', user.employeeId)
    return { id, row: this.#users.add({ id, email, name, employeeId, from }) }
  }

  addGroup(group: GroupCandidate): string | undefined {
    const id = this.#identify(this.#groups, group)
    if (id === undefined) return undefined
    const { members, unknownMembers, nestedGroups = 0, sharedNames = [], from } = group
    const name = this.#withoutControl({ kind: 'group', id, from }, 'name', group.name)
    if (name === undefined) {
      this.#note({ kind: 'group', id, code: 'no-name', params: { from } })
      this.#groups.addUnwritten(id, from)
      return id
    }
    this.#groups.add({ id, name, members: sortedUnique(members), from })
    if (unknownMembers.length > 0) {
      const shared = examplesOf(sharedNames)
      const params = { from, ...examplesOf(unknownMembers), groups: nestedGroups, shared }
      this.#note({ kind: 'group', id, code: 'unknown-members', params })
    }
    return id
  }

  /** For a group with partly unknown members: the sync neither writes nor deletes it. */
  addGroupWithUnknownMembers({
    why,
    ...group
  }: Pick<GroupCandidate, 'ids' | 'idName' | 'from'> & {
    readonly why: Omit<NoticeParams['members-hidden'], 'from'>
  }): void {
    const id = this.#identify(this.#groups, group)
    if (id === undefined) return
    const { from } = group
    this.#note({ kind: 'group', id, code: 'members-hidden', params: { from, ...why } })
    this.#groups.addUnwritten(id, from)
  }

  /** The sync does not write the user. With `gone` it counts as missing; otherwise a usable id is returned. */
  addDisabled({ gone, ...user }: Candidate & { readonly gone: boolean }): string | undefined {
    // Without a usable id it is unknown which user is gone.
    const isGone = gone && usableId(user) !== undefined
    const id = isGone ? usableId(user) : this.#identify(this.#users, user)
    if (id === undefined) return undefined
    const { from } = user
    this.#note({ kind: 'user', id, code: 'disabled', params: { from, isGone: gone } })
    if (isGone) return undefined
    this.#users.addUnwritten(id, from)
    return id
  }

  /** Adds an entry that cannot be understood. It may be any entry, so this run deletes nothing. */
  addUnreadable(kind: Kind, params: Faulty): void {
    this.#unreadable += 1
    this.#note({ kind, id: undefined, code: 'unreadable', params })
  }

  addMembersOfUnknownGroup(group: string, members: readonly string[]): void {
    const params = { from: null, ...examplesOf(members), groups: 0, shared: examplesOf([]) }
    this.#note({ kind: 'group', id: group, code: 'unknown-members', params })
  }

  /** Skipped users count too. */
  knowsUser(id: string): boolean {
    return this.#users.has(id)
  }

  snapshot(): SourceSnapshot {
    const withoutId = this.#withoutId
    for (const kind of ['user', 'group'] as const)
      if (this.#withId[kind] === 0 && withoutId[kind] > 1)
        refuseWithoutIds(kind, withoutId[kind], this.#idNames[kind])
    const users = this.#users
    const groups = this.#groups
    return {
      users: users.unique,
      groups: groups.unique,
      covers: this.#covers,
      seen: { user: users, group: groups },
      unreadable: this.#unreadable,
      notices: sortedWithoutRepeats([...users.duplicates(), ...groups.duplicates(), ...this.#notices]),
    }
  }

  /** The usable id of a candidate. Every id value counts as seen, because unseen ids may be deleted. */
  #identify(known: UsersById | GroupsById, candidate: Candidate): string | undefined {
    const { kind } = known
    const { ids, idName, from } = candidate
    const counted = ids.length === 0 ? this.#withoutId : this.#withId
    counted[kind] += 1
    this.#idNames[kind] = idName
    const id = usableId(candidate)
    if (id !== undefined) {
      for (const fault of candidate.faults ?? [])
        this.#note({ kind, id, code: 'value-failed', params: { from, fault } })
      return id
    }
    for (const each of ids) known.addUnusable(each)
    const fault = `${candidateProblem(candidate)} (external_id is "${idName}")`
    this.addUnreadable(kind, { from, fault })
    return undefined
  }

  #withoutControl(
    { kind, id, from }: Named,
    field: 'e-mail' | 'name' | 'employee id',
    value: string | undefined,
  ): string | undefined {
    const unwanted = field === 'e-mail' ? CONTROL_OR_BREAK : CONTROL
    const found = value === undefined ? null : unwanted.exec(value)
    if (found === null) return value
    const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
    const fault = `the ${field} holds the control character U+${code}`
    this.#note({ kind, id, code: 'value-failed', params: { from, fault } })
    return undefined
  }

  #note(notice: Notice): void {
    this.#notices.push(notice)
  }
}

/** If a single entry has no id, that entry is wrong; if none has one, the configuration or the permissions are. */
function refuseWithoutIds(kind: Kind, count: number, idName: string): never {
  const remedy = `check ${kind}s.map.external_id and the read permission`
  throw incomplete(`none of the ${digits(count)} ${kind}s has an id (external_id is "${idName}"); ${remedy}`)
}

/** Drops the repeated notices of an entry that a server sent twice. Unreadable entries are counted, so theirs stay. */
function sortedWithoutRepeats(notices: readonly Notice[]): Notice[] {
  const sorted = notices.toSorted(compareNotices)
  return sorted.filter((notice, index) => {
    const previous = sorted[index - 1]
    return previous === undefined || notice.code === 'unreadable' || compareNotices(previous, notice) !== 0
  })
}

interface LocatedEntry {
  readonly id: string
  readonly from: string
}

/** An entry that the sync does not write: a group without a name or with hidden members, or a disabled user. */
interface Unwritten extends LocatedEntry {
  readonly unwritten: true
}

interface KeptEntries<E> extends ReadonlyMap<string, E> {
  delete(id: string): unknown
}

/**
 * The entries of one kind by id. Entries that share an id are all dropped, because choosing one could give one user's
 * data to another. An entry that was read twice with different values is dropped too; the next read gets it whole. All
 * ids that were seen are in it: a set of its own would hold each of a million ids a second time.
 */
abstract class EntriesById<E extends LocatedEntry, Kept extends KeptEntries<E>, Place> implements Ids {
  readonly kind: Kind
  readonly unique: Kept
  readonly #unwritten = new Map<string, Unwritten>()
  readonly #conflicts = new Map<string, Set<string>>()
  readonly #unusable = new Set<string>()

  constructor(kind: Kind, unique: Kept) {
    this.kind = kind
    this.unique = unique
  }

  /** Adds an entry, unless its id exists. */
  protected abstract keep(entry: E): Place | undefined

  has(id: string): boolean {
    return this.#hasEntry(id) || this.#unusable.has(id)
  }

  get size(): number {
    return this.unique.size + this.#unwritten.size + this.#conflicts.size + this.#others().length
  }

  *[Symbol.iterator](): Generator<string, void> {
    yield* this.unique.keys()
    yield* this.#unwritten.keys()
    yield* this.#conflicts.keys()
    yield* this.#others()
  }

  /** `undefined` when the id is not new. */
  add(entry: E): Place | undefined {
    // While no id is special, checking first would look up each of a million ids twice.
    if (this.#conflicts.size + this.#unwritten.size > 0 && !this.#isNew(entry)) return undefined
    const place = this.keep(entry)
    if (place === undefined) this.#isNew(entry)
    return place
  }

  addUnwritten(id: string, from: string): void {
    const entry: Unwritten = { id, from, unwritten: true }
    if (this.#isNew(entry)) this.#unwritten.set(id, entry)
  }

  addUnusable(id: string): void {
    this.#unusable.add(id)
  }

  duplicates(): Notice[] {
    return [...this.#conflicts].flatMap(([id, origins]) => duplicateNotices(this.kind, id, origins))
  }

  #hasEntry(id: string): boolean {
    return this.unique.has(id) || this.#unwritten.has(id) || this.#conflicts.has(id)
  }

  #others(): readonly string[] {
    return [...this.#unusable].filter((id) => !this.#hasEntry(id))
  }

  /** Notes a conflict where the id is not new. A server may send one entry twice in one read. */
  #isNew(entry: E | Unwritten): boolean {
    const { id, from } = entry
    const origins = this.#conflicts.get(id)
    if (origins !== undefined) {
      origins.add(from)
      return false
    }
    const first = this.unique.get(id) ?? this.#unwritten.get(id)
    if (first === undefined) return true
    if (isDeepStrictEqual(first, entry)) return false
    this.#conflicts.set(id, new Set([first.from, from]))
    this.unique.delete(id)
    this.#unwritten.delete(id)
    return false
  }
}

class UsersById extends EntriesById<UserEntry, SourceUsers, number> {
  keep(user: UserEntry): number | undefined {
    return this.unique.add(user)
  }
}

class GroupsById extends EntriesById<GroupEntry, Map<string, GroupEntry>, unknown> {
  keep(group: GroupEntry): unknown {
    return this.unique.has(group.id) ? undefined : this.unique.set(group.id, group)
  }
}

function duplicateNotices(kind: Kind, id: string, origins: ReadonlySet<string>): Notice[] {
  const sorted = [...origins].toSorted(byCodeUnit)
  const first = sorted.slice(0, 4)
  return sorted.map((from) => {
    const others = examplesOf(
      first.filter((other) => other !== from),
      origins.size - 1,
    )
    return { kind, id, code: 'duplicate-id', params: { from, others } }
  })
}

/** Ids are never trimmed, but a blank one does not count. */
export function notBlank(ids: readonly string[]): readonly string[] {
  return ids.filter((id) => id.trim() !== '')
}

/** Usable is an entry with exactly one valid id. */
export function usableId(candidate: Pick<Candidate, 'ids'>): string | undefined {
  return candidateProblem(candidate) === undefined ? candidate.ids[0] : undefined
}

function candidateProblem({ ids }: Pick<Candidate, 'ids'>): string | undefined {
  const [id] = ids
  if (id === undefined) return 'there is no id'
  return ids.length > 1 ? `there are ${ids.length} ids instead of one` : idProblem(id)
}
