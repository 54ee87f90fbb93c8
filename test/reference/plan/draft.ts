import type { GroupEntry, Kind, UserEntry } from '../directory/entry.ts'
import { byCodeUnit } from '../directory/normalize.ts'
import { compareNotices, type Notice, type NoticeCode, type Sighting } from '../directory/snapshot.ts'
import { sortInSteps } from '../directory/sorting.ts'
import { forEachInSteps, forEachOfSizeInSteps, type Steps } from '../directory/steps.ts'
import { amount } from '../directory/wording.ts'
import { type Change, type DeleteReason, type DeleteUser, fingerprint } from './change.ts'
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

/** An id that differs only in upper and lower case, or in the braces that some tools write around a GUID. */
function otherwiseSpelled(id: string, ids: Iterable<string>): string | undefined {
  const wanted = plainSpelling(id)
  for (const each of ids) if (plainSpelling(each) === wanted) return each
  return undefined
}

function plainSpelling(id: string): string {
  return id.replace(/^\{(.*)\}$/, '$1').toLowerCase()
}

/** The parts of one change may have been rejected in several holds. */
const REASONS_NAMED = 3

/** What the service refused, or did without effect, is left alone as a whole. */
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
  /** Members are looked up one by one only where anything was rejected. */
  readonly #hasRejections: boolean
  /** Users who are gone from the source, and whose delete is in grace, refused or without effect. */
  readonly leaving = new Set<string>()
  /** The users of the directory whom the plan deletes. */
  readonly deletedUsers = new Set<string>()
  readonly #deletedGroups = new Set<string>()
  /** The groups that each of them is a member of, by the user's id. */
  readonly #groupsOfDeleted = new Map<string, string[]>()
  readonly #freed = new FreedEmails()
  #emails: EmailRulings = NO_RULINGS
  /** Users whom the directory does not have, and whom the plan does not create although it looked at them. */
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

  /** Takes who gets which e-mail. To be done after all deletes and before any user is compared. */
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

  /** Compares an entry of the source, unless the lists exclude it. */
  #addEntry(kind: Kind, { id, from }: { id: string; from: string }, compare: () => Difference): void {
    const why = this.#selections[kind].whyExcluded(id, from)
    if (why !== undefined) {
      this.#notices.push({
        kind,
        id,
        code: 'excluded',
        detail: `${why} (${from}): neither written nor deleted`,
      })
      return
    }
    const found = compare()
    if (!found.change && this.#isThere(kind, id)) this.#countEqual(kind, id)
    this.#take(kind, found)
  }

  /** Names the ids of a limited run that neither side has: one of them may be mistyped. */
  addUnknownIds(): void {
    const { source, directory, only } = this.#inputs
    if (only === undefined) return
    const listed = { user: directory.users, group: directory.groups }
    const isThere = (kind: Kind, id: string) => listed[kind].has(id) || source.seen[kind].has(id)
    const sides = [
      ['user', only.users, 'group'],
      ['group', only.groups, 'user'],
    ] as const
    for (const [kind, ids, otherKind] of sides) {
      for (const id of ids) {
        if (isThere(kind, id)) continue
        const similar = otherwiseSpelled(id, source.seen[kind]) ?? otherwiseSpelled(id, listed[kind].keys())
        const meant = isThere(otherKind, id) ? `--${otherKind} ${id}` : similar
        const hint = meant === undefined ? 'is the id right?' : `did you mean ${meant}?`
        const detail = `is neither in the source nor in the directory; ${hint}`
        this.#notices.push({ kind, id, code: 'unknown-id', detail })
      }
    }
  }

  /** Adds users who are alike on both sides. */
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
    if (notices) this.#notices.push(...notices)
    if (change && !this.#admitRest(kind, change)) this.#admit(kind, change, this.#wishBeside(change))
  }

  /** Admits what is left of a change of which a person rejected parts. Returns whether it is such a one. */
  #admitRest(kind: Kind, change: Change): boolean {
    const { withheld } = this.#inputs
    const parted = this.#parted(change)
    if (parted === undefined) return false
    const { change: rest, left, rejected } = parted
    this.#withheld.push(...rejected, ...(rest === undefined ? [fingerprint(change)] : []))
    const reasons = new Set(rejected.map((print) => withheld.get(print)!.detail))
    const detail = `${notMade(left)}: ${[...reasons].slice(0, REASONS_NAMED).join('; ')}`
    this.#notices.push({ kind, id: change.id, code: 'rejected', detail })
    if (rest !== undefined) this.#admit(kind, rest, undefined)
    return true
  }

  #parted(change: Change): Parted | undefined {
    const { withheld } = this.#inputs
    if (!this.#hasRejections || !isRejectedOrFree(withheld.get(fingerprint(change)))) return undefined
    return withoutRejected(change, (print) => withheld.get(print)?.code === 'rejected')
  }

  /** What the source wants, where the change does not do all of it. */
  #wishBeside(change: Change): string | undefined {
    if (change.op !== 'create-user' && change.op !== 'update-user') return undefined
    const wish = this.#wishOf(change.id)
    return wish === undefined || wish === fingerprint(change) ? undefined : wish
  }

  addDelete(kind: Kind, id: string): void {
    if (!this.#isSelected(kind, id)) return
    const sighting = this.#inputs.sightings[kind].get(id)
    const kept = this.#whyExcludedOrProtected(kind, id) ?? this.#whyKept(sighting)
    if (kept) {
      this.#notices.push({ kind, id, ...kept })
      return
    }
    this.#admit(kind, this.#deleteOf(kind, id))
  }

  /** Who is in the directory after the plan, by external id. */
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
      withheld: this.#withheld.toSorted(),
      digest: yield* this.#changes.digest(),
    }
  }

  *#nameOtherForms(): Steps<undefined> {
    const { users, groups } = this.#inputs.source
    const leaving = [...this.deletedUsers].filter((id) => this.#freed.newIdOf(id) === undefined)
    // Where most of them come back under a new id, the ids of all have another form now.
    if (leaving.length * 2 > this.deletedUsers.size)
      this.#notices.push(...(yield* idsOfOtherForm('user', leaving, users.values())))
    this.#notices.push(...(yield* idsOfOtherForm('group', this.#deletedGroups, groups.values())))
    return undefined
  }

  *#lookUpGroups(): Steps<undefined> {
    const { groups } = this.#inputs.directory
    for (const id of this.deletedUsers) this.#groupsOfDeleted.set(id, [])
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
      const detail = withheld.code === 'rejected' ? `${notMade(change)}: ${withheld.detail}` : withheld.detail
      this.#notices.push({ kind, id: change.id, code: withheld.code, detail })
      return
    }
    const isUpdate = change.op === 'update-user' || change.op === 'update-group'
    if (isUpdate && !mayUpdate(this.#inputs.rules.policy)) {
      const detail = `differs from the source; policy ${this.#inputs.rules.policy} does not update`
      this.#notices.push({ kind, id: change.id, code: 'kept-by-policy', detail })
      return
    }
    if (waits?.code === 'in-grace') this.#addLeaving(change)
    if (waits) this.#notices.push({ kind, id: change.id, ...waits })
    else this.#add(change, print, wish)
  }

  #addLeaving({ op, id }: Change): void {
    if (op === 'delete-user') this.leaving.add(id)
  }

  /** Why the sync's lists forbid deleting this entry; reported even if the policy forbids it anyway. */
  #whyExcludedOrProtected(kind: Kind, id: string): { code: NoticeCode; detail: string } | undefined {
    const selection = this.#selections[kind]
    const why = selection.whyExcluded(id, undefined)
    if (why !== undefined)
      return { code: 'excluded', detail: `is not in the source, and ${why}: not deleted` }
    if (!selection.isProtected(id)) return undefined
    return { code: 'protected', detail: 'is not in the source, and is on the list protected: not deleted' }
  }

  #whyKept(sighting: Sighting | undefined): { code: NoticeCode; detail: string } | undefined {
    const { source, rules } = this.#inputs
    if (!mayDelete(rules.policy)) {
      return {
        code: 'kept-by-policy',
        detail: `is not in the source; policy ${rules.policy} does not delete`,
      }
    }
    if (source.unreadable > 0) {
      const detail = `is not in the source, but ${amount(source.unreadable, 'entry')} of the source could not be read, so nothing is deleted`
      return { code: 'kept-unproved', detail }
    }
    if (sighting !== undefined && sighting !== 'present') return undefined
    const detail =
      'the first look at the source did not find it, but the second look did not prove it absent: not deleted'
    return { code: 'seen-again', detail }
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
    return sighting === undefined || sighting === 'present' ? 'gone' : sighting
  }

  /** Who cannot get an e-mail now still wants it: what was decided about that is not over. */
  #compareUser(want: UserEntry): Difference {
    const found = this.#diffUser(want)
    const wish = found.change === undefined ? this.#wishOf(want.id) : undefined
    if (wish !== undefined) this.#withheld.push(wish)
    return found
  }

  /** Only where there is a ruling about the e-mail, so that no other change is made twice. */
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
    if (change.op === 'create-user') this.#notices.push(...this.#freed.create(change))
    if (change.op === 'create-user' || change.op === 'update-user') this.#freeEmail(change.want.email)
  }

  /** Whoever is deleted and has an e-mail that another one gets is deleted first. */
  #freeEmail(email: string | undefined): void {
    for (const row of this.#freed.rowsOf(email)) this.#changes.setPhase(row, 'free-emails')
  }

  #removesOf(change: Change): number {
    if (change.op === 'delete-user' || change.op === 'delete-group') return 1
    if (change.op !== 'set-members') return 0
    const kept = new Set(change.want)
    return change.have.filter((id) => !kept.has(id) && !this.deletedUsers.has(id)).length
  }
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
