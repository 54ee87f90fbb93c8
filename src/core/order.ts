import { listAt } from '../base/lists.ts'
import { byCodeUnit } from '../base/order.ts'
import { filterInSteps, forEachInSteps, forEachOfSizeInSteps, type Steps } from '../base/steps.ts'
import type { Kind } from './entries/entry.ts'
import { sortInSteps, unionInSteps } from '../base/sorting.ts'
import { forEachKey, type Key } from './keys.ts'
import { type Change, type ChangeOf, type DeleteReason, type Op, type Takes, kindOf } from './plan/change.ts'
import { type Phase, PlannedChanges } from './plan/changes.ts'
import type { PlanKeys } from './without.ts'

type EntryOp = Exclude<Op, 'set-members'>
type UserOp = Extract<EntryOp, `${string}-user`>
type WhyDeleted = (kind: Kind, id: string) => DeleteReason

/** The requests for what is left: needs first, circles of e-mails and what needs them last. */
export function* order(left: PlanKeys, whyDeleted: WhyDeleted): Steps<PlannedChanges> {
  const make = yield* createChanges(left, whyDeleted)
  const changes = new PlannedChanges((op, id) => make.ofEntry(op, id)!)
  const takers: Taker[] = []
  const addUser = (op: UserOp, id: string): void => {
    const takes = op === 'delete-user' ? undefined : make.transfers.takesOf(id)
    if (takes !== undefined) takers.push({ op, id, turn: takes.after ?? Number.POSITIVE_INFINITY })
    else changes.add({ op, id, phase: phaseOf(op, id, make.transfers) })
  }
  const addGroup = (op: Exclude<EntryOp, UserOp>, id: string): void => {
    const change = make.ofEntry(op, id)
    const removes = op === 'delete-group' ? 1 : 0
    if (change !== undefined) changes.add({ op, id, phase: PHASE_OF[op] }, { change, removes })
  }
  yield* forEachKey(left.of('user', 'create'), ([, id]) => addUser('create-user', id))
  yield* forEachInSteps(left.wanted.updates, (id) => {
    if (make.updateUser(id) !== undefined) addUser('update-user', id)
  })
  yield* forEachKey(left.of('user', 'delete'), ([, id]) => addUser('delete-user', id))
  yield* forEachKey(left.of('group', 'create'), ([, id]) => addGroup('create-group', id))
  yield* forEachKey(left.of('group', 'name'), ([, id]) => addGroup('update-group', id))
  yield* forEachKey(left.of('group', 'delete'), ([, id]) => addGroup('delete-group', id))
  yield* addInTurn(changes, takers)
  const sizes = ([id]: readonly [string, unknown]) =>
    left.wanted.snapshots.source.groups.get(id)?.members.length ?? 0
  yield* forEachOfSizeInSteps(left.wanted.members, sizes, function* ([id]) {
    const found = yield* make.setMembers(id)
    if (found !== undefined) changes.add({ op: 'set-members', id, phase: 'members' }, found)
  })
  yield* changes.order()
  return changes
}

interface Taker {
  readonly op: UserOp
  readonly id: string
  readonly turn: number
}

/** A change whose e-mail another one frees comes after that one; circles come last. */
function* addInTurn(changes: PlannedChanges, takers: readonly Taker[]): Steps<void> {
  const inTurn = yield* sortInSteps(takers.length, (a, b) => {
    const [one, other] = [takers[a]!, takers[b]!]
    if (one.turn !== other.turn) return one.turn - other.turn
    return byCodeUnit(one.op, other.op) || byCodeUnit(one.id, other.id)
  })
  yield* forEachInSteps(inTurn, (row) => {
    const { op, id } = takers[row]!
    changes.add({ op, id, phase: 'take-emails' })
  })
}

const PHASE_OF: Record<Exclude<EntryOp, UserOp>, Phase> = {
  'create-group': 'groups',
  'update-group': 'groups',
  'delete-group': 'delete-groups',
}

function phaseOf(op: UserOp, id: string, { freeing }: Transfers): Phase {
  if (freeing.has(id)) return 'free-emails'
  return op === 'delete-user' ? 'delete-users' : 'users'
}

export function* createChanges(left: PlanKeys, whyDeleted: WhyDeleted): Steps<Changes> {
  const changes = new Changes(left, yield* findTransfers(left), whyDeleted)
  yield* changes.findGroups()
  return changes
}

interface Transfers {
  /** Of the user that gets an e-mail. */
  takesOf(id: string): Takes | undefined
  /** The users that give up an e-mail which another one gets. */
  readonly freeing: ReadonlySet<string>
  /** Of a created user, the deleted one with its e-mail, and the other way round: probably the same user. */
  readonly oldIds: ReadonlyMap<string, string>
  readonly newIds: ReadonlyMap<string, string>
}

function* findTransfers(left: PlanKeys): Steps<Transfers> {
  const holders = new Map<string, readonly Key[]>()
  const freeing = new Set<string>()
  const [oldIds, newIds] = [new Map<string, string>(), new Map<string, string>()]
  yield* forEachInSteps(left.wanted.transfers(), (transfer) => {
    if (transfer === undefined) return
    const { key, needs } = transfer
    const [, id] = key
    if (!left.has(key)) return
    holders.set(id, needs)
    for (const [, holder, field] of needs) {
      freeing.add(holder)
      if (field !== 'delete' || !left.has(['user', id, 'create'])) continue
      if (!oldIds.has(id)) oldIds.set(id, holder)
      newIds.set(holder, id)
    }
  })
  const depths = yield* depthsOf(holders)
  return {
    takesOf(id) {
      const from = holders.get(id)?.[0]?.[1]
      return from === undefined ? undefined : { from, after: depths.get(id) ?? null }
    },
    freeing,
    oldIds,
    newIds,
  }
}

/** How many changes must come before each user's; no number for users in a circle or behind one. */
function* depthsOf(holders: ReadonlyMap<string, readonly Key[]>): Steps<ReadonlyMap<string, number>> {
  const depths = new Map<string, number>()
  const behind = new Map<string, string[]>()
  const open = new Map<string, number>()
  const ready: string[] = []
  yield* forEachInSteps(holders, ([id, needs]) => {
    const first = needs.filter(([, holder]) => holders.has(holder))
    for (const [, holder] of first) listAt(behind, holder).push(id)
    open.set(id, first.length)
    depths.set(id, 1)
    if (first.length === 0) ready.push(id)
  })
  // `ready` grows during the loop.
  yield* forEachInSteps(ready, (id) => {
    for (const next of behind.get(id) ?? []) {
      depths.set(next, Math.max(depths.get(next)!, depths.get(id)! + 1))
      open.set(next, open.get(next)! - 1)
      if (open.get(next) === 0) ready.push(next)
    }
  })
  yield* forEachInSteps(open, ([id, count]) => count > 0 && depths.delete(id))
  return depths
}

/** Makes each change from both snapshots, always the same. */
export class Changes {
  readonly #left: PlanKeys
  readonly transfers: Transfers
  readonly #whyDeleted: WhyDeleted
  /** Of users that are deleted, by id. */
  readonly #groups = new Map<string, string[]>()

  constructor(left: PlanKeys, transfers: Transfers, whyDeleted: WhyDeleted) {
    this.#left = left
    this.transfers = transfers
    this.#whyDeleted = whyDeleted
  }

  *findGroups(): Steps<void> {
    yield* forEachKey(this.#left.of('user', 'delete'), ([, id]) => this.#groups.set(id, []))
    if (this.#groups.size === 0) return
    const { groups } = this.#left.wanted.snapshots.directory
    yield* forEachOfSizeInSteps(
      groups.values(),
      ({ members }) => members.length,
      ({ id, members }) => forEachInSteps(members, (member) => this.#groups.get(member)?.push(id)),
    )
  }

  /** The change of this kind that is left of the entry, if any. */
  *of(op: Op, id: string): Steps<Change | undefined> {
    if (op === 'set-members') return (yield* this.setMembers(id))?.change
    const kind = kindOf(op)
    const isLeft = op.startsWith('update-')
      ? this.#left.wanted.isThere(kind, id)
      : this.#left.has([kind, id, op.startsWith('create-') ? 'create' : 'delete'])
    return isLeft ? this.ofEntry(op, id) : undefined
  }

  /** The change of an entry. `undefined`: an update of which no value is left. */
  ofEntry(op: EntryOp, id: string): Change | undefined {
    const { groups } = this.#left.wanted.snapshots.directory
    switch (op) {
      case 'create-user':
        return this.#createUser(id)
      case 'update-user':
        return this.updateUser(id)
      case 'delete-user':
        return this.#deleteUser(id)
      case 'create-group':
        return { op, id, want: { name: this.#groupName(id) } }
      case 'update-group': {
        const key = this.#left.wanted.keyOfValue('group', id, 'name')
        if (key === undefined || !this.#left.has(key)) return undefined
        return { op, id, have: { name: groups.get(id)?.name ?? '' }, want: { name: this.#groupName(id) } }
      }
      case 'delete-group': {
        const { name = '', members = [] } = groups.get(id) ?? {}
        return { op, id, have: { name, members }, why: this.#whyDeleted('group', id) }
      }
    }
  }

  #createUser(id: string): Change {
    const { employeeId } = this.#left.wanted.wantedUser(id)!
    const want = { ...this.#valuesOf(id), ...(employeeId !== undefined && { employeeId }) }
    const oldId = want.email === undefined ? undefined : this.transfers.oldIds.get(id)
    return { op: 'create-user', id, want, ...this.#takes(id, want), ...(oldId !== undefined && { oldId }) }
  }

  updateUser(id: string): ChangeOf<'update-user'> | undefined {
    const want = this.#valuesOf(id)
    if (want.email === undefined && want.name === undefined) return undefined
    const { email, name } = this.#left.wanted.snapshots.directory.users.get(id)!
    return { op: 'update-user', id, have: { email, name }, want, ...this.#takes(id, want) }
  }

  #deleteUser(id: string): Change {
    const { email = null, name = null } = this.#left.wanted.snapshots.directory.users.get(id) ?? {}
    const have = { email, name, groups: (this.#groups.get(id) ?? []).toSorted(byCodeUnit) }
    const newId = this.transfers.newIds.get(id)
    const why = this.#whyDeleted('user', id)
    return { op: 'delete-user', id, have, why, ...(newId !== undefined && { newId }) }
  }

  #groupName(id: string): string {
    return this.#left.wanted.wantedGroup(id)?.name ?? ''
  }

  /**
   * The list that is sent has no deleted users. `undefined` where only deleted users leave, because their delete removes
   * them from the group.
   */
  *setMembers(
    id: string,
  ): Steps<{ readonly change: ChangeOf<'set-members'>; readonly removes: number } | undefined> {
    const { wanted } = this.#left
    const isKept = wanted.isThere('group', id)
      ? !this.#left.has(['group', id, 'delete'])
      : this.#left.has(['group', id, 'create'])
    if (!isKept) return undefined
    const have = wanted.snapshots.directory.groups.get(id)
    const isDeleted = (member: string): boolean => this.#groups.has(member) && this.#left.endWithUser(member)
    const { added, removed } = yield* this.#left.membersIn(id)
    const out = new Set<string>()
    yield* forEachInSteps(removed, (member) => isDeleted(member) || out.add(member))
    if (added.length + out.size === 0) return undefined
    const isOut = (member: string) => out.has(member) || (this.#left.areMade && isDeleted(member))
    const stay = yield* filterInSteps(have?.members ?? [], (member) => !isOut(member))
    const want = yield* unionInSteps(stay, added)
    const name = have?.name ?? this.#groupName(id)
    return { change: { op: 'set-members', id, name, have: have?.members ?? [], want }, removes: out.size }
  }

  #valuesOf(id: string): { readonly email?: string; readonly name?: string } {
    const values: { email?: string; name?: string } = {}
    for (const field of ['email', 'name'] as const) {
      const key = this.#left.wanted.keyOfValue('user', id, field)
      if (key !== undefined && this.#left.has(key))
        values[field] = this.#left.wanted.valueOf('user', id, field)!
    }
    return values
  }

  #takes(id: string, { email }: { readonly email?: string }): { readonly takes?: Takes } {
    const takes = email === undefined ? undefined : this.transfers.takesOf(id)
    return takes === undefined ? {} : { takes }
  }
}

/** A removal is no request of its own where its user or group is deleted, too. */
export function isRemoval(left: PlanKeys, [, group, field, member]: Key): boolean {
  return field === '-member' && !left.endWithUser(member!) && !left.has(['group', group, 'delete'])
}
