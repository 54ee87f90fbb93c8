import { includesSorted } from '../../base/sorting.ts'
import type { DirectoryUser, GroupEntry, Kind, MemberDifference, UserEntry } from '../entries/entry.ts'
import { type DiffRules, mayHaveEmail } from './rules.ts'
import { canonicalEmail, canonicalName, isSameEmail } from '../entries/normalize.ts'
import type { DirectorySnapshot, SourceSnapshot } from '../entries/snapshot.ts'
import { differingIds } from '../entries/users.ts'
import type { Field, Key, Keys } from '../keys.ts'
import type { compileSelections } from '../plan/selection.ts'

export interface Snapshots {
  readonly source: SourceSnapshot
  readonly directory: DirectorySnapshot
}

/** An e-mail that more than one user has or wants. */
export interface EmailConflict {
  /** The user that gets it, or keeps it; `undefined` where nobody may. */
  readonly owner: string | undefined
  /** The users that have it in the directory, sorted by code unit. */
  readonly holders: readonly string[]
  /** The holders that want to keep it. */
  readonly keeping: readonly string[]
}

const NO_MEMBERS: MemberDifference = { added: [], removed: [] }

interface Transfer {
  readonly key: Key
  readonly needs: readonly Key[]
}

interface UserOnBothSides {
  readonly id: string
  /** As `wantedUser`. */
  readonly want: UserEntry | undefined
  readonly have: DirectoryUser | undefined
}

/** What is compared, and by which rules. */
export class Compared {
  readonly snapshots: Snapshots
  readonly rules: DiffRules
  readonly selections: ReturnType<typeof compileSelections>
  /** The keys of one user are asked for one after the other. */
  #last: UserOnBothSides | undefined

  constructor({ snapshots, rules, selections }: Pick<Compared, 'snapshots' | 'rules' | 'selections'>) {
    this.snapshots = snapshots
    this.rules = rules
    this.selections = selections
  }

  isExcluded(kind: Kind, id: string): boolean {
    const selection = this.selections[kind]
    if (selection.isAll) return false
    const { users, groups } = this.snapshots.source
    const entry = kind === 'user' ? users.get(id) : groups.get(id)
    return selection.excludedBy(id, entry?.from) !== undefined
  }

  isThere(kind: Kind, id: string): boolean {
    const { directory } = this.snapshots
    const last = kind === 'user' ? this.lastUser(id) : undefined
    if (last !== undefined) return last.have !== undefined
    return (kind === 'user' ? directory.users : directory.groups).has(id)
  }

  /** Without its e-mail where that may not be written; `undefined` where then nothing of the user may be. */
  wantedUser(id: string): UserEntry | undefined {
    return this.userOf(id).want
  }

  protected lastUser(id: string): UserOnBothSides | undefined {
    return this.#last?.id === id ? this.#last : undefined
  }

  protected userOf(id: string): UserOnBothSides {
    if (this.#last?.id !== id) {
      const have = this.snapshots.directory.users.get(id)
      this.#last = { id, have, want: this.#mayWrite(this.snapshots.source.users.get(id), have) }
    }
    return this.#last
  }

  #mayWrite(want: UserEntry | undefined, have: DirectoryUser | undefined): UserEntry | undefined {
    if (want === undefined || this.isExcluded('user', want.id)) return undefined
    if (want.email === undefined || mayHaveEmail(want.email, have, this.rules)) return want
    return this.rules.dropBadEmails === true ? { ...want, email: undefined } : undefined
  }
}

/** Every difference between source and directory, whatever policy and decisions say about it. */
export class Differences extends Compared implements Keys {
  /** Ids of the directory that the source lacks, without excluded ones. */
  readonly absent: Readonly<Record<Kind, ReadonlySet<string>>>
  /** By canonical e-mail, only those with a conflict. */
  readonly emails: ReadonlyMap<string, EmailConflict>
  readonly updates: readonly string[]
  /** Users of whom nothing is written, because their e-mail may not be. */
  readonly unwritable: ReadonlySet<string>
  /** Of groups that stay or come, where members differ; of absent ones, the absent users among their members. */
  readonly members: ReadonlyMap<string, MemberDifference>
  /** The same with `membership: report`: no changes, but notices. */
  readonly reported: ReadonlyMap<string, MemberDifference>

  constructor(
    compared: Compared,
    parts: Pick<Differences, 'absent' | 'emails' | 'updates' | 'unwritable' | 'members' | 'reported'>,
  ) {
    super(compared)
    this.absent = parts.absent
    this.emails = parts.emails
    this.updates = parts.updates
    this.unwritable = parts.unwritable
    this.members = parts.members
    this.reported = parts.reported
  }

  /** Whether the entry is there, but this run cannot say what it should be. */
  isUnjudged(kind: Kind, id: string): boolean {
    const { source } = this.snapshots
    const entries = kind === 'user' ? source.users : source.groups
    return this.isExcluded(kind, id) || (source.seen[kind].has(id) && !entries.has(id))
  }

  wantedGroup(id: string): GroupEntry | undefined {
    return this.isExcluded('group', id) ? undefined : this.snapshots.source.groups.get(id)
  }

  /** The wanted value of a field that differs, as the source spells it. */
  override valueOf(kind: Kind, id: string, field: 'name' | 'email'): string | undefined {
    if (kind === 'group') return field === 'name' ? this.#otherGroupName(id) : undefined
    const { want, have } = this.userOf(id)
    if (want === undefined) return undefined
    return field === 'name' ? otherName(want, have) : this.#otherEmail(want, have)
  }

  keyOfValue(kind: Kind, id: string, field: 'name' | 'email'): Key | undefined {
    const value = this.valueOf(kind, id, field)
    return value === undefined ? undefined : [kind, id, field, canonicalOf(field, value)]
  }

  has([kind, id, field, value]: Key): boolean {
    switch (field) {
      case 'create':
        return !this.isThere(kind, id) && this.#isWanted(kind, id)
      case 'leave':
        return kind === 'user' && this.absent.user.has(id)
      case 'delete':
        return this.absent[kind].has(id)
      case 'name':
      case 'email': {
        const wanted = this.valueOf(kind, id, field)
        return wanted !== undefined && canonicalOf(field, wanted) === value
      }
      case '+member':
        return includesSorted(this.members.get(id)?.added ?? [], value!)
      case '-member':
        return includesSorted(this.members.get(id)?.removed ?? [], value!)
    }
  }

  *of(kind: Kind, field: Field): Generator<Key | undefined, void> {
    switch (field) {
      case 'leave':
      case 'delete':
        if (field === 'delete' || kind === 'user') for (const id of this.absent[kind]) yield [kind, id, field]
        return
      case '+member':
      case '-member':
        if (kind === 'group')
          for (const id of this.members.keys()) {
            yield undefined
            yield* this.membersOf(id, field)
          }
        return
      case 'create':
        for (const id of this.#newIds(kind))
          yield id !== undefined && this.#isWanted(kind, id) ? [kind, id, 'create'] : undefined
        return
      case 'name':
      case 'email':
        yield* this.#valuesOf(kind, field)
    }
  }

  *#valuesOf(kind: Kind, field: 'name' | 'email'): Generator<Key | undefined, void> {
    const groups = this.snapshots.source.groups.keys()
    for (const ids of kind === 'user' ? [this.updates, this.#newIds(kind)] : [groups])
      for (const id of ids) yield id === undefined ? id : this.keyOfValue(kind, id, field)
  }

  /** Of one entry; of a user without its memberships. */
  *keysOf(kind: Kind, id: string): Generator<Key, void> {
    for (const field of ['create', 'leave', 'delete'] as const) {
      const key: Key = [kind, id, field]
      if (this.has(key)) yield key
    }
    for (const field of ['name', 'email'] as const) {
      const key = this.keyOfValue(kind, id, field)
      if (key !== undefined) yield key
    }
    if (kind === 'user') return
    yield* this.membersOf(id, '+member')
    yield* this.membersOf(id, '-member')
  }

  *membersOf(group: string, field: '+member' | '-member'): Generator<Key, void> {
    const { added, removed } = this.members.get(group) ?? NO_MEMBERS
    for (const member of field === '+member' ? added : removed) yield ['group', group, field, member]
  }

  /** What must be done first; a need that is no difference of this run is unmet. */
  needsOf(key: Key): readonly Key[] {
    const [kind, id, field, value] = key
    switch (field) {
      case 'create':
      case 'leave':
        return []
      case 'delete':
        return kind === 'user' ? [['user', id, 'leave']] : []
      case 'name':
        return this.ownNeedsOf(key)
      case 'email':
        return [...this.ownNeedsOf(key), ...this.#freeing(id, value!)]
      case '+member':
        return [...this.ownNeedsOf(key), ...this.ownNeedsOf(['user', value!, 'create'])]
      case '-member':
        return this.absent.user.has(value!) ? [['user', value!, 'leave']] : []
    }
  }

  /** The create of an entry, which its values and members need. */
  ownNeedsOf([kind, id]: Key): readonly Key[] {
    return this.isThere(kind, id) ? [] : [[kind, id, 'create']]
  }

  *transfers(): Generator<Transfer | undefined, void> {
    for (const [email, { owner }] of this.emails) {
      const key: Key = ['user', owner ?? '', 'email', email]
      const needs = owner === undefined ? [] : this.#freeing(owner, email)
      yield needs.length > 0 && this.has(key) ? { key, needs } : undefined
    }
  }

  /** What each holder of an e-mail has to do before the user gets it. To keep the e-mail is no difference: unmet. */
  #freeing(id: string, email: string): readonly Key[] {
    const conflict = this.emails.get(email)
    if (conflict === undefined) return []
    const others = conflict.holders.filter((holder) => holder !== id)
    return others.map((holder) => {
      if (this.absent.user.has(holder)) return ['user', holder, 'delete'] as const
      return ['user', holder, 'email', canonicalEmail(this.wantedUser(holder)?.email ?? email)] as const
    })
  }

  #isWanted(kind: Kind, id: string): boolean {
    const last = kind === 'user' ? this.lastUser(id) : undefined
    if (last !== undefined) return last.want !== undefined
    if (this.isExcluded(kind, id)) return false
    const { users, groups } = this.snapshots.source
    return kind === 'user' ? users.has(id) && !this.unwritable.has(id) : groups.has(id)
  }

  /** The name of a new group is part of its create. */
  #otherGroupName(id: string): string | undefined {
    const want = this.wantedGroup(id)
    const have = this.snapshots.directory.groups.get(id)
    if (want === undefined || have === undefined) return undefined
    return canonicalName(want.name) === canonicalName(have.name) ? undefined : want.name
  }

  #otherEmail({ id, email }: UserEntry, have: DirectoryUser | undefined): string | undefined {
    if (email === undefined || (have !== undefined && isSameEmail(email, have.email))) return undefined
    const conflict = this.emails.get(canonicalEmail(email))
    return conflict === undefined || conflict.owner === id ? email : undefined
  }

  *#newIds(kind: Kind): Generator<string | undefined, void> {
    const ids =
      kind === 'group' ? this.snapshots.source.groups.keys() : differingIds(this.snapshots, 'source')
    for (const id of ids) yield this.isThere(kind, id) ? undefined : id
  }
}

function canonicalOf(field: 'name' | 'email', value: string): string {
  return field === 'name' ? canonicalName(value) : canonicalEmail(value)
}

function otherName({ name }: UserEntry, have: DirectoryUser | undefined): string | undefined {
  if (name === undefined) return undefined
  return have !== undefined && canonicalName(name) === canonicalName(have.name ?? '') ? undefined : name
}
