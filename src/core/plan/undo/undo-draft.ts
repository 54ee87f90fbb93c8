import type { DirectoryGroup, DirectoryUser, GroupEntry, Kind } from '../../entries/entry.ts'
import { canonicalName, sortedUnique } from '../../entries/normalize.ts'
import type { Sighting } from '../../entries/recheck.ts'
import type { DirectorySnapshot, Ids, SourceSnapshot } from '../../entries/snapshot.ts'
import { type ChangedSince, examplesOf, type Notice, type NotRestored } from '../../notice.ts'
import { filterInSteps, forEachInSteps, forEachOfSizeInSteps, type Steps } from '../../../base/steps.ts'
import type { SourceUsers } from '../../entries/users.ts'
import { type Change, type ChangeOf, kindOf, membersDifference } from '../change.ts'
import { isInPart, isMembershipInPart, type Part } from '../part/part.ts'
import type { compileSelections } from '../selection.ts'
import { type LaterAttempts } from './later-attempts.ts'
import { LeftEntries, hasValues, restoredFields } from './left-entries.ts'

interface UndoFacts {
  readonly run: number
  readonly part: Part
  readonly directory: DirectorySnapshot
  /** Filled with the users as they shall be. */
  readonly users: SourceUsers
  readonly writesMembers: boolean
  readonly selections: ReturnType<typeof compileSelections>
  readonly later: LaterAttempts
}

/** The wanted directory in the place of a source. */
interface UndoSides {
  readonly source: SourceSnapshot
  /** Proves the deletes. */
  readonly sightings: Readonly<Record<Kind, ReadonlyMap<string, Sighting>>>
}

/**
 * Collects what reverts the changes of a run. An entry is reverted where the directory still shows what the run wrote;
 * where it shows the state before, nothing is left to do; any other one is left alone, with a notice. Memberships are
 * restored one by one; later additions and removals stay.
 */
export class UndoDraft {
  readonly #facts: UndoFacts
  readonly #notices: Notice[] = []
  readonly #left: LeftEntries
  readonly #deletes = { user: new Set<string>(), group: new Set<string>() }
  readonly #groups = new Map<string, { name: string; members: readonly string[] }>()
  readonly #memberChanges = new Map<string, ChangeOf<'set-members'>>()
  /** By group, the users to put back into it and to take out. */
  readonly #memberships = new Map<string, { readonly added: Set<string>; readonly removed: Set<string> }>()
  /** By group, for groups of deleted users. */
  readonly #membersNow = new Map<string, ReadonlySet<string>>()

  constructor(facts: UndoFacts) {
    this.#facts = facts
    this.#left = new LeftEntries({
      ...facts,
      say: (kind, id, why) => this.#noteChanged(kind, id, why),
    })
  }

  /** A change that the run made, or may have made. Call it in their order. */
  add(change: Change): void {
    const { op, id } = change
    const kind = kindOf(op)
    this.#left.check(change)
    const isWanted = isInPart(this.#facts.part, change)
    if (op === 'set-members') this.#memberChanges.set(id, change)
    else if (!isWanted) this.#undoEndedMemberships(change)
    else if (this.#left.has(kind, id)) this.#left.say(kind, id)
    else this.#undo(change)
  }

  /** A delete ended memberships, which may be in a part without it. */
  #undoEndedMemberships(change: Exclude<Change, ChangeOf<'set-members'>>): void {
    const { part, writesMembers } = this.#facts
    if (!writesMembers) return
    const add = (group: string, user: string) =>
      isMembershipInPart(part, group, user) && this.#membersOf(group).added.add(user)
    if (change.op === 'delete-user') for (const group of change.have.groups) add(group, change.id)
    if (change.op === 'delete-group') for (const user of change.have.members) add(change.id, user)
  }

  #undo(change: Exclude<Change, ChangeOf<'set-members'>>): void {
    switch (change.op) {
      case 'create-user':
        if (this.#userNow(change.id) !== undefined) this.#delete('user', change.id)
        return undefined
      case 'update-user':
        return this.#undoUpdatedUser(change)
      case 'delete-user':
        return this.#undoDeletedUser(change)
      case 'create-group':
        if (this.#groupNow(change.id) !== undefined) this.#delete('group', change.id)
        return undefined
      case 'update-group':
        return this.#undoUpdatedGroup(change)
      case 'delete-group':
        return this.#undoDeletedGroup(change)
    }
  }

  /** A change that another client had made, or whose entry another client had created. */
  addFound(change: Change): void {
    if (!isInPart(this.#facts.part, change)) return
    const how = change.op.startsWith('create-') ? 'found-before' : 'done-before'
    this.#noteNotRestored(kindOf(change.op), change.id, { how })
  }

  *finish(): Steps<UndoSides> {
    yield* this.#keepUsersOfOtherGroups()
    this.#keepGroupsWithOthers()
    yield* forEachOfSizeInSteps(this.#memberChanges.values(), sizeOfChange, (change) =>
      this.#undoMembers(change),
    )
    const groups = yield* this.#wantedGroups()
    return {
      source: {
        users: this.#facts.users,
        groups,
        covers: { groups: true, members: true },
        seen: { user: yield* this.#seen('user'), group: yield* this.#seen('group') },
        unreadable: 0,
        notices: this.#notices,
      },
      sightings: { user: yield* gone(this.#deletes.user), group: yield* gone(this.#deletes.group) },
    }
  }

  #undoUpdatedUser({ id, have, want }: ChangeOf<'update-user'>): void {
    const now = this.#userNow(id)
    if (now === undefined) return this.#noteChanged('user', id, { how: 'missing' })
    const fields = restoredFields(now, have, want)
    if ('how' in fields) return this.#noteChanged('user', id, fields)
    for (const field of fields.lost) this.#noteNotRestored('user', id, { how: 'field-empty', field })
    if (Object.keys(fields.restored).length > 0) this.#want({ ...now, ...fields.restored })
  }

  #undoDeletedUser({ id, have }: ChangeOf<'delete-user'>): void {
    const now = this.#userNow(id)
    if (now === undefined) this.#want({ id, email: have.email, name: have.name })
    else if (!hasValues(now, have)) this.#want({ ...now, email: have.email })
    if (have.groups.length === 0) return
    if (this.#facts.writesMembers) for (const group of have.groups) this.#membersOf(group).added.add(id)
    else if (!have.groups.every((group) => this.#isMember(group, id)))
      this.#noteNotRestored('user', id, { how: 'memberships', ...examplesOf(have.groups) })
  }

  #undoUpdatedGroup({ id, have, want }: ChangeOf<'update-group'>): void {
    const now = this.#groupNow(id)
    if (now === undefined) return this.#noteChanged('group', id, { how: 'missing' })
    const name = canonicalName(now.name)
    if (name === canonicalName(have.name)) return
    if (name === canonicalName(want.name)) this.#groups.set(id, { name: have.name, members: now.members })
    else this.#noteChanged('group', id, { how: 'name', now: now.name, did: 'wrote', name: want.name })
  }

  #undoDeletedGroup({ id, have: { name, members } }: ChangeOf<'delete-group'>): void {
    if (this.#groupNow(id) === undefined) this.#groups.set(id, { name, members: [] })
    if (this.#facts.writesMembers) for (const user of members) this.#membersOf(id).added.add(user)
    else if (members.length > 0)
      this.#noteNotRestored('group', id, { how: 'members', name, members: members.length })
  }

  /** A user in groups that other clients have set is not as the run left it. */
  *#keepUsersOfOtherGroups(): Steps<void> {
    if (this.#deletes.user.size === 0) return undefined
    const { groups } = this.#facts.directory
    return yield* forEachOfSizeInSteps(
      groups.values(),
      ({ members }) => members.length,
      ({ id, name, members }) => {
        const added = new Set(this.#addedTo(id))
        return forEachInSteps(members, (user) => {
          if (!added.has(user) && this.#deletes.user.delete(user)) this.#left.leaveJoined(user, name)
        })
      },
    )
  }

  #keepGroupsWithOthers(): void {
    for (const id of this.#deletes.group) {
      const added = new Set(this.#addedTo(id))
      const group = this.#facts.directory.groups.get(id)!
      const others = group.members.filter((user) => !added.has(user))
      if (others.length === 0) continue
      this.#deletes.group.delete(id)
      this.#noteChanged('group', id, { how: 'has-members', name: group.name, ...examplesOf(others) })
    }
  }

  /** The members that the run added. Under the id of one of them, another client may have created another user. */
  #addedTo(group: string): readonly string[] {
    const change = this.#left.has('group', group) ? undefined : this.#memberChanges.get(group)
    if (change === undefined) return []
    return membersDifference(change).added.filter((user) => !this.#left.has('user', user))
  }

  *#undoMembers(change: ChangeOf<'set-members'>): Steps<void> {
    const { part, writesMembers } = this.#facts
    const { id: group } = change
    const now = this.#groupNow(group)
    if (now === undefined || this.#deletes.group.has(group)) return undefined
    const { added, removed } = membersDifference(change)
    const isWanted = (user: string) => isMembershipInPart(part, group, user)
    const [leaving, coming] = [added.filter(isWanted), removed.filter(isWanted)]
    if (leaving.length + coming.length === 0) return undefined
    if (!writesMembers) return this.#noteNotRestored('group', group, { how: 'other-members', name: now.name })
    const memberships = this.#membersOf(group)
    yield* forEachInSteps(leaving, (user) => memberships.removed.add(user))
    return yield* forEachInSteps(coming, (user) => memberships.added.add(user))
  }

  *#wantedGroups(): Steps<ReadonlyMap<string, GroupEntry>> {
    const wanted = new Map<string, GroupEntry>()
    const { run } = this.#facts
    const ids = sortedUnique([...this.#groups.keys(), ...this.#memberships.keys()])
    for (const id of ids) {
      if (this.#left.has('group', id)) {
        this.#left.say('group', id)
        continue
      }
      const group = this.#groups.get(id) ?? this.#groupNow(id)
      if (group === undefined) {
        this.#noteNotRestored('group', id, { how: 'group-missing' })
        continue
      }
      if (this.#deletes.group.has(id)) continue
      const members = yield* this.#wantedMembers(id, group)
      wanted.set(id, { id, name: group.name, members, from: `before run ${run}` })
      yield
    }
    return wanted
  }

  *#wantedMembers(
    id: string,
    { members, name }: Pick<DirectoryGroup, 'members' | 'name'>,
  ): Steps<readonly string[]> {
    const changes = this.#membersOf(id)
    const [added, removed] = [this.#notLeft(changes.added), this.#notLeft(changes.removed)]
    const missing: string[] = []
    const all = new Set(members)
    yield* forEachInSteps(added, (user) => {
      if (this.#willBe(user)) all.add(user)
      else missing.push(user)
    })
    for (const user of removed) all.delete(user)
    // A plan does not change members that are no users of the source.
    for (const user of [...added, ...removed]) this.#wantAsIs(user)
    if (missing.length > 0)
      this.#noteNotRestored('group', id, { how: 'members-missing', name, ...examplesOf(missing) })
    return sortedUnique(all)
  }

  #notLeft(users: Iterable<string>): readonly string[] {
    return [...users].filter((user) => {
      this.#left.say('user', user)
      return !this.#left.has('user', user)
    })
  }

  #membersOf(group: string): { readonly added: Set<string>; readonly removed: Set<string> } {
    const known = this.#memberships.get(group) ?? { added: new Set(), removed: new Set() }
    this.#memberships.set(group, known)
    return known
  }

  #willBe(user: string): boolean {
    const { directory, users } = this.#facts
    return users.has(user) || (directory.users.has(user) && !this.#deletes.user.has(user))
  }

  #isMember(group: string, user: string): boolean {
    let members = this.#membersNow.get(group)
    members ??= new Set(this.#facts.directory.groups.get(group)?.members)
    this.#membersNow.set(group, members)
    return members.has(user)
  }

  #wantAsIs(id: string): void {
    const { directory, users } = this.#facts
    const now = directory.users.get(id)
    if (now !== undefined && !users.has(id) && !this.#deletes.user.has(id)) this.#want(now)
  }

  #want({ id, email, name }: DirectoryUser): void {
    const values = { email: email ?? undefined, name: name ?? undefined, employeeId: undefined }
    this.#facts.users.add({ id, ...values, from: `before run ${this.#facts.run}` })
  }

  #delete(kind: Kind, id: string): void {
    if (!this.#facts.selections[kind].isProtected(id)) this.#deletes[kind].add(id)
    else this.#notices.push({ kind, id, code: 'protected', params: {} })
  }

  /** `undefined` where there is none, or several entries have the id. */
  #userNow(id: string): DirectoryUser | undefined {
    return this.#facts.directory.users.get(id)
  }

  #groupNow(id: string): DirectoryGroup | undefined {
    return this.#facts.directory.groups.get(id)
  }

  #noteChanged(kind: Kind, id: string, since: ChangedSince): void {
    this.#notices.push({ kind, id, code: 'changed-since', params: { run: this.#facts.run, ...since } })
  }

  #noteNotRestored(kind: Kind, id: string, rest: NotRestored): void {
    this.#notices.push({ kind, id, code: 'not-restored', params: { run: this.#facts.run, ...rest } })
  }

  *#seen(kind: Kind): Steps<Ids> {
    const { directory, users } = this.#facts
    const entries = kind === 'user' ? directory.users : directory.groups
    const deletes = this.#deletes[kind]
    const wanted = kind === 'user' ? users : this.#groups
    const created = yield* filterInSteps([...wanted.keys()], (id) => !entries.has(id))
    return {
      has: (id) => !deletes.has(id),
      get size() {
        return entries.size - deletes.size + created.length
      },
      *[Symbol.iterator]() {
        for (const id of entries.keys()) if (!deletes.has(id)) yield id
        yield* created
      },
    }
  }
}

function sizeOfChange({ have, want }: ChangeOf<'set-members'>): number {
  return have.length + want.length
}

function* gone(ids: ReadonlySet<string>): Steps<ReadonlyMap<string, Sighting>> {
  const sightings = new Map<string, Sighting>()
  yield* forEachInSteps(ids, (id) => sightings.set(id, 'absent'))
  return sightings
}
