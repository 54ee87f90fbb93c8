import type { Fact } from '../facts.ts'
import type { GroupEntry, Kind, UserEntry } from '../entries/entry.ts'
import { addAll } from '../../base/lists.ts'
import { byCodeUnit } from '../../base/order.ts'
import type { Sighting } from '../entries/recheck.ts'
import { compareNotices, type Notice, type NoticeParams, type Rejection } from '../notice.ts'
import { sortedUniqueInSteps, sortInSteps } from '../entries/sorting.ts'
import {
  everyInSteps,
  filterInSteps,
  forEachInSteps,
  forEachOfSizeInSteps,
  type Steps,
} from '../../base/steps.ts'
import { type Change, type DeleteReason, type DeleteUser, fingerprint, membersDifference } from './change.ts'
import { type Phase, PlannedChanges, type UserOp } from './changes.ts'
import { type Difference, diffGroup, diffUser, wishOf } from './diff.ts'
import { type EmailRulings, NO_RULINGS } from './emails.ts'
import { FreedEmails } from './freed-emails.ts'
import { idsOfOtherForm } from './id-form.ts'
import { type PlanInputs, type Withheld, withheldBy } from './inputs.ts'
import { type IdTest, sizeOf } from './members.ts'
import type { Plan } from './changes.ts'
import { mayDelete, mayUpdate } from './policy.ts'
import type { Selection } from './selection.ts'
import { notMade, whyWaits } from './waits.ts'
import { type Parted, withoutRejected } from './without-rejected.ts'

/** An id that differs only in case, or in the braces that some tools write around a GUID. */
function* otherwiseSpelled(id: string, ids: Iterable<string>): Steps<string | undefined> {
  const wanted = plainSpelling(id)
  let found: string | undefined
  yield* everyInSteps(ids, (each) => {
    if (plainSpelling(each) === wanted) found = each
    return found === undefined
  })
  return found
}

function plainSpelling(id: string): string {
  return id.replace(/^\{(.*)\}$/, '$1').toLowerCase()
}

/** Quarantined and not persisted changes are withheld as a whole. */
function isRejectedOrFree(withheld: Withheld | undefined): boolean {
  return withheld === undefined || withheld.code === 'rejected'
}

/** Collects changes and drops those that the lists, the policy or earlier decisions (`withheld`) forbid. */
export class Draft {
  readonly #inputs: PlanInputs
  readonly #selections: Readonly<Record<Kind, Selection>>
  readonly #changes = new PlannedChanges((op, id) => this.#makeAgain(op, id))
  readonly #notices: Notice[]
  readonly #withheld: string[] = []
  /** Members are looked up one by one only after a rejection. */
  readonly #hasRejections: boolean
  /** Absent users whose delete is in the grace period, refused or without effect. */
  readonly leaving = new Set<string>()
  readonly deletedUsers = new Set<string>()
  readonly #deletedGroups = new Set<string>()
  /** By the user's id. */
  readonly #groupsOfDeleted = new Map<string, string[]>()
  readonly #freed = new FreedEmails()
  #emails: EmailRulings = NO_RULINGS
  /** Users that the directory lacks and the plan decided not to create. */
  readonly #notCreated = new Set<string>()
  readonly #createdGroups = new Set<string>()
  #equalUsers = 0
  readonly #equalGroups = new Set<string>()

  constructor(inputs: PlanInputs, selections: Readonly<Record<Kind, Selection>>) {
    this.#inputs = inputs
    this.#selections = selections
    this.#hasRejections = [...inputs.withheld.values()].some(({ code }) => code === 'rejected')
    this.#notices = [...inputs.source.notices, ...inputs.directory.notices]
  }

  /** Sets the e-mail rulings. Call it after all deletes and before any user is compared. */
  rule(emails: EmailRulings): void {
    this.#emails = emails
  }

  addUser(want: UserEntry): void {
    if (!this.#isSelected('user', want.id)) return
    const creates = this.#changes.countOf('create-user')
    this.#addEntry('user', want, () => this.#compareUser(want))
    const isCreated = this.#changes.countOf('create-user') > creates
    if (!isCreated && !this.#inputs.directory.users.has(want.id)) this.#notCreated.add(want.id)
  }

  addGroup(want: GroupEntry): void {
    if (!this.#isSelected('group', want.id)) return
    this.#addEntry('group', want, () => diffGroup(want, this.#inputs.directory.groups.get(want.id)))
  }

  #addEntry(kind: Kind, { id, from }: { id: string; from: string }, compare: () => Difference): void {
    const list = this.#selections[kind].excludedBy(id, from)
    if (list !== undefined) {
      this.#notices.push({ kind, id, code: 'excluded', params: { list, from } })
      return
    }
    const found = compare()
    if (!found.change && this.#isThere(kind, id)) this.#countEqual(kind, id)
    this.#take(kind, found)
  }

  /** Names the ids of a limited run that neither side has: one of them may be mistyped. */
  *addUnknownIds(): Steps<void> {
    const { source, directory, only } = this.#inputs
    if (only === undefined) return undefined
    const listed = { user: directory.users, group: directory.groups }
    const isThere = (kind: Kind, id: string) => listed[kind].has(id) || source.seen[kind].has(id)
    const sides = [
      ['user', only.users, 'group'],
      ['group', only.groups, 'user'],
    ] as const
    for (const [kind, ids, otherKind] of sides) {
      for (const id of ids) {
        if (isThere(kind, id)) continue
        const isOtherKind = isThere(otherKind, id)
        const similar =
          (yield* otherwiseSpelled(id, source.seen[kind])) ??
          (yield* otherwiseSpelled(id, listed[kind].keys()))
        this.#notices.push({
          kind,
          id,
          code: 'unknown-id',
          params: { similar: similar ?? null, isOtherKind },
        })
      }
    }
  }

  addEqualUsers(count: number): void {
    this.#equalUsers += count
  }

  addMembers(group: string, found: Difference): void {
    if (!this.#isSelected('group', group)) return
    this.#equalGroups.delete(group)
    this.#take('group', found)
  }

  #isThere(kind: Kind, id: string): boolean {
    const { users, groups } = this.#inputs.directory
    return (kind === 'user' ? users : groups).has(id)
  }

  #countEqual(kind: Kind, id: string): void {
    if (kind === 'user') this.#equalUsers++
    else this.#equalGroups.add(id)
  }

  #take(kind: Kind, { change, notices }: Difference): void {
    if (notices) addAll(this.#notices, notices)
    if (change && !this.#admitRest(kind, change)) this.#admit(kind, change, this.#wishBeside(change))
  }

  /** Adds the rest of a change whose parts an operator rejected. Returns whether there were any. */
  #admitRest(kind: Kind, change: Change): boolean {
    const { withheld } = this.#inputs
    const parted = this.#parted(change)
    if (parted === undefined) return false
    const { change: rest, left, rejected } = parted
    addAll(this.#withheld, rejected)
    if (rest === undefined) this.#withheld.push(fingerprint(change))
    const rejections = rejectionsIn(rejected.map((print) => withheld.get(print)))
    const params = { ...notMade(left), rejections }
    this.#notices.push({ kind, id: change.id, code: 'rejected', params })
    if (rest !== undefined) this.#admit(kind, rest, undefined)
    return true
  }

  #parted(change: Change): Parted | undefined {
    const { withheld } = this.#inputs
    if (!this.#hasRejections || !isRejectedOrFree(withheld.get(fingerprint(change)))) return undefined
    return withoutRejected(change, (print) => withheld.get(print)?.code === 'rejected')
  }

  /** The fingerprint of what the source wants, where the change does not do all of it. */
  #wishBeside(change: Change): string | undefined {
    if (change.op !== 'create-user' && change.op !== 'update-user') return undefined
    const wish = this.#wishOf(change.id)
    return wish === undefined || wish === fingerprint(change) ? undefined : wish
  }

  addDelete(kind: Kind, id: string): void {
    if (!this.#isSelected(kind, id)) return
    const sighting = this.#inputs.sightings[kind].get(id)
    const kept = this.#excludedOrProtected(kind, id) ?? this.#whyKept(sighting)
    if (kept) {
      this.#notices.push({ kind, id, ...kept })
      return
    }
    this.#admit(kind, this.#deleteOf(kind, id))
  }

  /** Which entries exist in the directory after the plan, by external id. */
  afterwards(): Record<Kind, IdTest> {
    const { source, directory } = this.#inputs
    const isCreated = (id: string): boolean =>
      source.users.has(id) && !this.#notCreated.has(id) && this.#isSelected('user', id)
    return {
      user: (id) => (directory.users.has(id) ? !this.deletedUsers.has(id) : isCreated(id)),
      group: (id) => this.#createdGroups.has(id) || directory.groups.has(id),
    }
  }

  *finish(): Steps<Plan> {
    yield* this.#lookUpGroups()
    yield* this.#nameOtherForms()
    const notices = this.#notices
    const order = yield* sortInSteps(notices.length, (a, b) => compareNotices(notices[a]!, notices[b]!))
    yield* this.#changes.order()
    return {
      changes: this.#changes,
      notices: Array.from(order, (place) => notices[place]!),
      unchanged: this.#equalUsers + this.#equalGroups.size,
      withheld: yield* sortedUniqueInSteps(this.#withheld),
      digest: yield* this.#changes.digest(),
    }
  }

  *#nameOtherForms(): Steps<void> {
    const { users, groups } = this.#inputs.source
    const leaving = yield* filterInSteps(
      [...this.deletedUsers],
      (id) => this.#freed.newIdOf(id) === undefined,
    )
    // Where most of them come back under a new id, the form of all ids has changed.
    if (leaving.length * 2 > this.deletedUsers.size)
      addAll(this.#notices, yield* idsOfOtherForm('user', leaving, users.values()))
    addAll(this.#notices, yield* idsOfOtherForm('group', this.#deletedGroups, groups.values()))
  }

  *#lookUpGroups(): Steps<void> {
    const { groups } = this.#inputs.directory
    yield* forEachInSteps(this.deletedUsers, (id) => this.#groupsOfDeleted.set(id, []))
    if (this.deletedUsers.size === 0) return undefined
    return yield* forEachOfSizeInSteps(groups.values(), sizeOf, ({ id, members }) =>
      forEachInSteps(members, (member) => this.#groupsOfDeleted.get(member)?.push(id)),
    )
  }

  #isSelected(kind: Kind, id: string): boolean {
    const { only } = this.#inputs
    if (only === undefined) return true
    return (kind === 'user' ? only.users : only.groups).includes(id)
  }

  #admit(kind: Kind, change: Change, wish?: string): void {
    const print = fingerprint(change)
    const withheld = withheldBy(this.#inputs.withheld, print, wish)
    const waits = whyWaits(this.#inputs.waits, kind, change)
    if (withheld) {
      if (withheld.code !== 'rejected' && waits?.code !== 'unproved') this.#addLeaving(change)
      this.#withheld.push(print, ...(wish === undefined ? [] : [wish]))
      this.#notices.push({ kind, id: change.id, ...withheldNotice(change, withheld) })
      return
    }
    const isUpdate = change.op === 'update-user' || change.op === 'update-group'
    if (isUpdate && !mayUpdate(this.#inputs.rules.policy)) {
      const params = { policy: this.#inputs.rules.policy, isAbsent: false }
      this.#notices.push({ kind, id: change.id, code: 'kept-by-policy', params })
      return
    }
    if (waits?.code === 'in-grace') this.#addLeaving(change)
    if (waits) this.#notices.push({ kind, id: change.id, ...waits })
    else this.#add(change, print, wish)
  }

  #addLeaving({ op, id }: Change): void {
    if (op === 'delete-user') this.leaving.add(id)
  }

  /** Reported even if the policy forbids the delete anyway. */
  #excludedOrProtected(
    kind: Kind,
    id: string,
  ): Fact<Pick<NoticeParams, 'excluded' | 'protected'>> | undefined {
    const selection = this.#selections[kind]
    const list = selection.excludedBy(id, undefined)
    if (list !== undefined) return { code: 'excluded', params: { list, from: null } }
    return selection.isProtected(id) ? { code: 'protected', params: { isUndo: false } } : undefined
  }

  #whyKept(
    sighting: Sighting | undefined,
  ): Fact<Pick<NoticeParams, 'kept-by-policy' | 'kept-unproved' | 'seen-again'>> | undefined {
    const { source, rules } = this.#inputs
    if (!mayDelete(rules.policy))
      return { code: 'kept-by-policy', params: { policy: rules.policy, isAbsent: true } }
    if (source.unreadable > 0) return { code: 'kept-unproved', params: { unreadable: source.unreadable } }
    if (sighting !== undefined && sighting !== 'present') return undefined
    return { code: 'seen-again', params: {} }
  }

  #deleteOf(kind: Kind, id: string): Change {
    const why = this.#whyDeleted(kind, id)
    if (kind === 'user') return this.#deleteOfUser(id, why)
    const group = this.#inputs.directory.groups.get(id)
    return { op: 'delete-group', id, have: { name: group?.name ?? '', members: group?.members ?? [] }, why }
  }

  #deleteOfUser(id: string, why: DeleteReason): DeleteUser {
    const user = this.#inputs.directory.users.get(id)
    const groups = (this.#groupsOfDeleted.get(id) ?? []).toSorted(byCodeUnit)
    return {
      op: 'delete-user',
      id,
      have: { email: user?.email ?? null, name: user?.name ?? null, groups },
      why,
    }
  }

  #whyDeleted(kind: Kind, id: string): DeleteReason {
    if (this.#inputs.whyDeleted !== undefined) return this.#inputs.whyDeleted
    const sighting = this.#inputs.sightings[kind].get(id)
    if (sighting === 'disabled') return sighting
    return sighting === 'out-of-scope' ? 'left-filter' : 'gone'
  }

  /** A user still wants an e-mail that it cannot get now, so decisions about that stay. */
  #compareUser(want: UserEntry): Difference {
    const found = this.#diffUser(want)
    const wish = found.change === undefined ? this.#wishOf(want.id) : undefined
    if (wish !== undefined) this.#withheld.push(wish)
    return found
  }

  /** Only where there is a ruling about the e-mail, so that no other change is built twice. */
  #wishOf(id: string): string | undefined {
    if (this.#emails.of(id) === undefined) return undefined
    const { source, directory, rules } = this.#inputs
    return wishOf(source.users.get(id)!, directory.users.get(id), rules)
  }

  #diffUser(want: UserEntry): Difference {
    const { directory, rules } = this.#inputs
    return diffUser(want, directory.users.get(want.id), rules, this.#emails.of(want.id))
  }

  #makeAgain(op: UserOp, id: string): Change {
    if (op === 'delete-user') {
      const newId = this.#freed.newIdOf(id)
      const change = this.#deleteOfUser(id, this.#whyDeleted('user', id))
      return newId === undefined ? change : { ...change, newId }
    }
    const change = this.#diffUser(this.#inputs.source.users.get(id)!).change!
    if (change.op !== 'create-user') return this.#parted(change)?.change ?? change
    const oldId = this.#freed.oldIdOf(change.want.email)
    return oldId === undefined ? change : { ...change, oldId }
  }

  #add(change: Change, print: string, wish: string | undefined): void {
    const phase = phaseOf(change, this.#emails)
    const removes = this.#removesOf(change)
    const row = this.#changes.add({
      change,
      phase,
      fingerprint: print,
      ...(wish !== undefined && { wish }),
      removes,
    })
    if (change.op === 'create-group') this.#createdGroups.add(change.id)
    if (change.op === 'delete-group') this.#deletedGroups.add(change.id)
    if (change.op === 'delete-user') {
      this.deletedUsers.add(change.id)
      this.#freed.add(change.id, change.have.email, row)
    }
    if (change.op === 'create-user') addAll(this.#notices, this.#freed.create(change))
    if (change.op === 'create-user' || change.op === 'update-user') this.#freeEmail(change.want.email)
  }

  /** A deleted user whose e-mail another user gets is deleted first. */
  #freeEmail(email: string | undefined): void {
    for (const row of this.#freed.rowsOf(email)) this.#changes.setPhase(row, 'free-emails')
  }

  #removesOf(change: Change): number {
    if (change.op === 'delete-user' || change.op === 'delete-group') return 1
    if (change.op !== 'set-members') return 0
    const { removed } = membersDifference(change)
    if (this.deletedUsers.size === 0) return removed.length
    return removed.filter((id) => !this.deletedUsers.has(id)).length
  }
}

/** The parts of one change may have been rejected in several runs. */
const REJECTIONS_NAMED = 3

function rejectionsIn(withheld: readonly (Withheld | undefined)[]): readonly Rejection[] {
  const rejections = withheld.flatMap((each) => (each?.code === 'rejected' ? [each.params] : []))
  const distinct = new Map(rejections.map((each) => [`${each.run} ${each.at} ${each.by}`, each]))
  return [...distinct.values()].slice(0, REJECTIONS_NAMED)
}

function withheldNotice(
  change: Change,
  withheld: Withheld,
): Fact<Pick<NoticeParams, 'rejected' | 'quarantined' | 'does-not-converge'>> {
  if (withheld.code !== 'rejected') return withheld
  return { code: 'rejected', params: { ...notMade(change), rejections: [withheld.params] } }
}

function phaseOf(change: Change, emails: EmailRulings): Phase {
  switch (change.op) {
    case 'delete-user':
      return 'delete-users'
    case 'update-user':
      if (change.takes !== undefined) return 'take-emails'
      return emails.movers.has(change.id) ? 'free-emails' : 'users'
    case 'create-user':
      return change.takes === undefined ? 'users' : 'take-emails'
    case 'create-group':
    case 'update-group':
      return 'groups'
    case 'set-members':
      return 'members'
    case 'delete-group':
      return 'delete-groups'
  }
}
