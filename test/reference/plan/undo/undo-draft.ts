import type { DirectoryGroup, DirectoryUser, GroupEntry, Kind, UserEntry } from '../../directory/entry.ts'
import { canonicalName, sortedUnique } from '../../directory/normalize.ts'
import type {
  DirectorySnapshot,
  Ids,
  Notice,
  NoticeCode,
  Sighting,
  SourceSnapshot,
} from '../../directory/snapshot.ts'
import { forEachInSteps, forEachOfSizeInSteps, type Steps } from '../../directory/steps.ts'
import type { SourceUsers } from '../../directory/users.ts'
import { examples } from '../../directory/wording.ts'
import {
  type Change,
  type CreateGroup,
  type CreateUser,
  type DeleteGroup,
  type DeleteUser,
  kindOf,
  membersDifference,
  type SetMembers,
  type UpdateGroup,
  type UpdateUser,
} from '../change.ts'
import { sizeOf } from '../members.ts'
import { isInPart, isMembershipInPart, type Part } from '../part/part.ts'
import type { Selection } from '../selection.ts'
import { Memberships } from './memberships.ts'
import { type LaterAttempts } from './later-attempts.ts'
import { LeftEntries } from './left-entries.ts'
import { hasValues, personText, restoredFields } from './values.ts'

/** What an undo starts from. */
export interface UndoFacts {
  /** The run that is undone. */
  readonly run: number
  readonly part: Part
  readonly directory: DirectorySnapshot
  /** Gets the users as they shall be. */
  readonly users: SourceUsers
  /** Whether the sync writes the members of groups. */
  readonly writesMembers: boolean
  readonly selections: Readonly<Record<Kind, Selection>>
  readonly later: LaterAttempts
}

/** The directory as it shall be, in the place of a source: a plan makes the directory equal to it. */
export interface UndoSides {
  readonly source: SourceSnapshot
  /** Proves the deletes. */
  readonly sightings: Readonly<Record<Kind, ReadonlyMap<string, Sighting>>>
}

/**
 * Collects what puts back the changes of a run. An entry is put back where the directory still shows what the run wrote;
 * where it shows again what was before, nothing is left to do; every other one is left as it is, with a notice. Members
 * are put back one by one: whom the run added leaves, whom it took out comes back, and all others stay.
 */
export class UndoDraft {
  readonly #facts: UndoFacts
  readonly #notices: Notice[] = []
  readonly #left: LeftEntries
  readonly #deletes = { user: new Set<string>(), group: new Set<string>() }
  readonly #groups = new Map<string, { name: string; members: readonly string[] }>()
  readonly #memberChanges = new Map<string, SetMembers>()
  readonly #memberships = new Memberships()

  constructor(facts: UndoFacts) {
    this.#facts = facts
    this.#left = new LeftEntries({
      ...facts,
      say: (kind, id, why) => this.#note(kind, id, 'changed-since', why),
    })
  }

  /** Takes a change that the run made, or may have made. In their order. */
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
  #undoEndedMemberships(change: Exclude<Change, SetMembers>): void {
    const { part, writesMembers } = this.#facts
    if (!writesMembers) return
    const add = (group: string, user: string) =>
      isMembershipInPart(part, group, user) && this.#memberships.add(group, user)
    if (change.op === 'delete-user') for (const group of change.have.groups ?? []) add(group, change.id)
    if (change.op === 'delete-group') for (const user of change.have.members) add(change.id, user)
  }

  #undo(change: Exclude<Change, SetMembers>): void {
    switch (change.op) {
      case 'create-user':
        return this.#undoCreatedUser(change)
      case 'update-user':
        return this.#undoUpdatedUser(change)
      case 'delete-user':
        return this.#undoDeletedUser(change)
      case 'create-group':
        return this.#undoCreatedGroup(change)
      case 'update-group':
        return this.#undoUpdatedGroup(change)
      case 'delete-group':
        return this.#undoDeletedGroup(change)
    }
  }

  /** Takes a change of which the run found that somebody else had made it, or had created the entry. */
  addFound(change: Change): void {
    if (!isInPart(this.#facts.part, change)) return
    const { run } = this.#facts
    const what = change.op.startsWith('create-') ? 'was there before' : 'had been done before'
    const detail = `${what} run ${run} could do it, perhaps by somebody else: left as it is`
    this.#note(kindOf(change.op), change.id, 'not-restored', detail)
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
        seen: { user: this.#seen('user'), group: this.#seen('group') },
        unreadable: 0,
        notices: this.#notices,
      },
      sightings: { user: gone(this.#deletes.user), group: gone(this.#deletes.group) },
    }
  }

  #undoCreatedUser({ id }: CreateUser): void {
    if (this.#userNow(id) !== undefined) this.#delete('user', id)
  }

  #undoUpdatedUser({ id, have, want }: UpdateUser): void {
    const now = this.#userNow(id)
    if (now === undefined) return this.#note('user', id, 'changed-since', 'is not in the directory any more')
    const fields = restoredFields(now, have, want)
    if (fields === undefined)
      return this.#note('user', id, 'changed-since', this.#left.textOf(now, 'wrote', { ...have, ...want }))
    for (const field of fields.lost) {
      const what = field === 'email' ? 'e-mail' : 'name'
      this.#note('user', id, 'not-restored', `had no ${what}, and no endpoint of the API takes one away`)
    }
    if (fields.email !== undefined || fields.name !== undefined)
      this.#want({
        ...now,
        ...(fields.email && { email: fields.email }),
        ...(fields.name && { name: fields.name }),
      })
  }

  #undoDeletedUser({ id, have }: DeleteUser): void {
    const now = this.#userNow(id)
    if (now === undefined) this.#want({ id, email: have.email, name: have.name })
    else if (!hasValues(now, have)) this.#want({ ...now, email: have.email })
    if (have.groups === undefined) {
      this.#note(
        'user',
        id,
        'not-restored',
        'comes back without groups: the version that deleted it did not keep them',
      )
      return
    }
    if (have.groups.length === 0) return
    if (this.#facts.writesMembers) for (const group of have.groups) this.#memberships.add(group, id)
    else if (!have.groups.every((group) => this.#isMember(group, id)))
      this.#note('user', id, 'not-restored', `was a member of ${examples(have.groups)}: ${NO_MEMBERS}`)
  }

  #undoCreatedGroup({ id }: CreateGroup): void {
    if (this.#groupNow(id) !== undefined) this.#delete('group', id)
  }

  #undoUpdatedGroup({ id, have, want }: UpdateGroup): void {
    const now = this.#groupNow(id)
    if (now === undefined) return this.#note('group', id, 'changed-since', 'is not in the directory any more')
    const name = canonicalName(now.name)
    if (name === canonicalName(have.name)) return
    if (name === canonicalName(want.name)) this.#groups.set(id, { name: have.name, members: now.members })
    else
      this.#note(
        'group',
        id,
        'changed-since',
        `is called "${now.name}" now, and the run wrote "${want.name}"`,
      )
  }

  #undoDeletedGroup({ id, have: { name, members } }: DeleteGroup): void {
    if (this.#groupNow(id) === undefined) this.#groups.set(id, { name, members: [] })
    if (this.#facts.writesMembers) for (const user of members) this.#memberships.add(id, user)
    else if (members.length > 0)
      this.#note('group', id, 'not-restored', `"${name}" had ${members.length} members: ${NO_MEMBERS}`)
  }

  /** Whoever is in groups by somebody else's doing is not as the run left it. */
  *#keepUsersOfOtherGroups(): Steps<undefined> {
    if (this.#deletes.user.size === 0) return undefined
    const { groups, users } = this.#facts.directory
    return yield* forEachOfSizeInSteps(groups.values(), sizeOf, ({ id, name, members }) => {
      const added = new Set(this.#addedTo(id))
      return forEachInSteps(members, (user) => {
        if (added.has(user) || !this.#deletes.user.delete(user)) return
        this.#left.leave(
          'user',
          user,
          `is ${personText(users.get(user)!)} now, and run ${this.#facts.run} did not make it a member of "${name}"`,
        )
        this.#left.say('user', user)
      })
    })
  }

  #keepGroupsWithOthers(): void {
    for (const id of this.#deletes.group) {
      const added = new Set(this.#addedTo(id))
      const group = this.#facts.directory.groups.get(id)!
      const others = group.members.filter((user) => !added.has(user))
      if (others.length === 0) continue
      this.#deletes.group.delete(id)
      this.#note('group', id, 'changed-since', `"${group.name}" has members since: ${examples(others)}`)
    }
  }

  #addedTo(group: string): readonly string[] {
    const change = this.#left.has('group', group) ? undefined : this.#memberChanges.get(group)
    return change === undefined ? [] : membersDifference(change).added
  }

  *#undoMembers(change: SetMembers): Steps<undefined> {
    const { part, writesMembers } = this.#facts
    const { id: group } = change
    const now = this.#groupNow(group)
    if (now === undefined || this.#deletes.group.has(group)) return undefined
    const { added, removed } = membersDifference(change)
    const isWanted = (user: string) => isMembershipInPart(part, group, user)
    const [leaving, coming] = [added.filter(isWanted), removed.filter(isWanted)]
    if (!writesMembers) {
      if (leaving.length + coming.length > 0)
        this.#note('group', group, 'not-restored', `"${now.name}" had other members: ${NO_MEMBERS}`)
      return undefined
    }
    yield* forEachInSteps(leaving, (user) => this.#memberships.remove(group, user))
    return yield* forEachInSteps(coming, (user) => this.#memberships.add(group, user))
  }

  *#wantedGroups(): Steps<ReadonlyMap<string, GroupEntry>> {
    const wanted = new Map<string, GroupEntry>()
    const { run } = this.#facts
    const ids = sortedUnique([...this.#groups.keys(), ...this.#memberships.groups()])
    for (const id of ids) {
      if (this.#left.has('group', id)) {
        this.#left.say('group', id)
        continue
      }
      const group = this.#groups.get(id) ?? this.#groupNow(id)
      if (group === undefined) {
        this.#note('group', id, 'not-restored', `is not in the directory any more, and gets no members back`)
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
    const changes = this.#memberships.of(id)
    const [added, removed] = [this.#notLeft(changes.added), this.#notLeft(changes.removed)]
    const missing: string[] = []
    const all = new Set(members)
    yield* forEachInSteps(added, (user) => {
      if (this.#willBe(user)) all.add(user)
      else missing.push(user)
    })
    for (const user of removed) all.delete(user)
    // A plan leaves the members alone who are no users of the source.
    for (const user of [...added, ...removed]) this.#wantAsIs(user)
    if (missing.length > 0)
      this.#note(
        'group',
        id,
        'not-restored',
        `"${name}" had members who are not in the directory: ${examples(missing)}`,
      )
    return sortedUnique(all)
  }

  #notLeft(users: Iterable<string>): readonly string[] {
    return [...users].filter((user) => {
      this.#left.say('user', user)
      return !this.#left.has('user', user)
    })
  }

  #willBe(user: string): boolean {
    const { directory, users } = this.#facts
    return users.has(user) || (directory.users.has(user) && !this.#deletes.user.has(user))
  }

  #isMember(group: string, user: string): boolean {
    return this.#facts.directory.groups.get(group)?.members.includes(user) ?? false
  }

  #wantAsIs(id: string): void {
    const { directory, users } = this.#facts
    const now = directory.users.get(id)
    if (now !== undefined && !users.has(id) && !this.#deletes.user.has(id)) this.#want(now)
  }

  #want({ id, email, name }: DirectoryUser): void {
    const entry: UserEntry = {
      id,
      email: email ?? undefined,
      name: name ?? undefined,
      employeeId: undefined,
      from: `before run ${this.#facts.run}`,
    }
    this.#facts.users.add(entry)
  }

  #delete(kind: Kind, id: string): void {
    if (!this.#facts.selections[kind].isProtected(id)) this.#deletes[kind].add(id)
    else
      this.#note(kind, id, 'protected', 'was created by the run, and is on the list protected: not deleted')
  }

  /** `undefined` where there is nobody. An id that several entries have is of none of them. */
  #userNow(id: string): DirectoryUser | undefined {
    return this.#facts.directory.users.get(id)
  }

  #groupNow(id: string): DirectoryGroup | undefined {
    return this.#facts.directory.groups.get(id)
  }

  #note(kind: Kind, id: string, code: NoticeCode, detail: string): void {
    this.#notices.push({ kind, id, code, detail })
  }

  #seen(kind: Kind): Ids {
    const { directory, users } = this.#facts
    const entries = kind === 'user' ? directory.users : directory.groups
    const deletes = this.#deletes[kind]
    const created = kind === 'user' ? users : this.#groups
    const isNew = (id: string) => !entries.has(id)
    return {
      has: (id) => !deletes.has(id),
      get size() {
        return entries.size - deletes.size + [...created.keys()].filter(isNew).length
      },
      *[Symbol.iterator]() {
        for (const id of entries.keys()) if (!deletes.has(id)) yield id
        yield* [...created.keys()].filter(isNew)
      },
    }
  }
}

const NO_MEMBERS = 'this sync writes no members (directory.membership)'

function sizeOfChange({ have, want }: SetMembers): number {
  return have.length + want.length
}

function gone(ids: ReadonlySet<string>): ReadonlyMap<string, Sighting> {
  return new Map(Array.from(ids, (id) => [id, 'gone'] as const))
}
