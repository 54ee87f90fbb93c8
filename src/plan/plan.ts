import { hash } from 'node:crypto'
import type { Kind } from '../directory/entry.ts'
import { byCodeUnit, canonicalEmail } from '../directory/normalize.ts'
import {
  compareNotices,
  type DirectorySnapshot,
  type Notice,
  type NoticeCode,
  type Sighting,
  type SourceSnapshot,
} from '../directory/snapshot.ts'
import { type Change, type DeleteReason, fingerprint, OPS } from './change.ts'
import { type Difference, diffGroup, diffUser } from './diff.ts'
import type { EmailRulings } from './emails.ts'
import type { PlanInputs } from './inputs.ts'
import { planMembers } from './members.ts'
import { mayDelete, mayUpdate } from './policy.ts'
import { linkRenewed } from './renewed.ts'
import { ruleUserEmails } from './rulings.ts'
import { compileSelections, type Selection } from './selection.ts'

/** The order of a plan: every change of a phase has its final state before the next phase begins. */
export const PHASES = ['free-emails', 'users', 'groups', 'members', 'delete-groups', 'delete-users'] as const
export type Phase = (typeof PHASES)[number]

export interface PlannedChange {
  readonly change: Change
  readonly phase: Phase
  readonly fingerprint: string
  /**
   * How many deletes the change counts as: one for an entry, for a group's members those taken out. A member who leaves
   * because the plan deletes the user counts as a user only.
   */
  readonly removes: number
}

/** What makes a directory equal to its source: the changes in their order, and everything else worth a line. */
export interface Plan {
  readonly changes: readonly PlannedChange[]
  readonly notices: readonly Notice[]
  /** Users and groups that are equal on both sides. */
  readonly unchanged: number
  /** The fingerprints of the withheld changes that this plan would have made. */
  readonly withheld: readonly string[]
  /** sha-256 over what the plan does, in hexadecimal; equal plans have equal digests. */
  readonly digest: string
}

/**
 * The ids that the directory has and the first look at the source did not see. An id that the directory has twice cannot
 * be told apart there, so it is never one of them; of groups there are none when the source is not asked for groups.
 */
export function deleteCandidates(
  source: SourceSnapshot,
  directory: DirectorySnapshot,
): Record<Kind, readonly string[]> {
  const twice: Record<Kind, Set<string | undefined>> = { user: new Set(), group: new Set() }
  for (const { code, kind, id } of directory.notices) if (code === 'unaddressable') twice[kind].add(id)
  return {
    user: [...directory.users.keys()].filter((id) => !source.seen.user.has(id) && !twice.user.has(id)),
    group: source.covers.groups
      ? [...directory.groups.keys()].filter((id) => !source.seen.group.has(id) && !twice.group.has(id))
      : [],
  }
}

/** Makes the plan. Pure: the same inputs give the same plan, whatever the order in which entries were read. */
export function makePlan(inputs: PlanInputs): Plan {
  const { source, directory, rules } = inputs
  const selections = compileSelections(rules.entries)
  const draft = new Draft(inputs, selections)
  const candidates = deleteCandidates(source, directory)
  for (const id of candidates.user) draft.addDelete('user', id)
  for (const id of candidates.group) draft.addDelete('group', id)
  const emails = ruleUserEmails(inputs, selections.user, draft.deletedUsers())
  for (const want of source.users.values()) {
    draft.addEntry('user', want, () =>
      diffUser(want, directory.users.get(want.id), rules.allowedDomains, emails.of(want.id)),
    )
  }
  for (const want of source.groups.values()) {
    draft.addEntry('group', want, () => diffGroup(want, directory.groups.get(want.id)))
  }
  for (const difference of planMembers(inputs, selections, draft.userIdsAfterwards())) {
    draft.addMembers(difference.id, difference)
  }
  return draft.finish(emails)
}

/** Collects differences and decides, change by change, whether lists, policy and memory let it into the plan. */
class Draft {
  readonly #inputs: PlanInputs
  readonly #selections: Readonly<Record<Kind, Selection>>
  readonly #changes: { change: Change; fingerprint: string }[] = []
  readonly #notices: Notice[]
  readonly #withheld: string[] = []
  #unchanged = 0

  constructor(inputs: PlanInputs, selections: Readonly<Record<Kind, Selection>>) {
    this.#inputs = inputs
    this.#selections = selections
    this.#notices = [...inputs.source.notices, ...inputs.directory.notices]
  }

  /** Compares an entry of the source unless the run or the lists leave it out. */
  addEntry(kind: Kind, { id, from }: { id: string; from: string }, compare: () => Difference): void {
    if (!this.#isAsked(kind, id)) return
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
    if (!found.change && !found.notices) this.#unchanged++
    this.#take(kind, found)
  }

  addMembers(group: string, found: Difference): void {
    if (this.#isAsked('group', group)) this.#take('group', found)
  }

  #take(kind: Kind, { change, notices }: Difference): void {
    if (notices) this.#notices.push(...notices)
    if (change) this.#admit(kind, change)
  }

  addDelete(kind: Kind, id: string): void {
    if (!this.#isAsked(kind, id)) return
    const sighting = this.#inputs.sightings[kind].get(id)
    const kept = this.#whySpared(kind, id) ?? this.#whyKept(sighting)
    if (kept) {
      this.#notices.push({ kind, id, ...kept })
      return
    }
    this.#admit(
      kind,
      this.#deleteOf(kind, id, sighting === undefined || sighting === 'present' ? 'gone' : sighting),
    )
  }

  deletedUsers(): ReadonlySet<string> {
    const deletes = this.#changes.filter(({ change }) => change.op === 'delete-user')
    return new Set(deletes.map(({ change }) => change.id))
  }

  /** The external ids of the users that the directory holds when the plan has been applied. */
  userIdsAfterwards(): ReadonlySet<string> {
    const ids = new Set(this.#inputs.directory.users.keys())
    for (const { change } of this.#changes) {
      if (change.op === 'create-user') ids.add(change.id)
      if (change.op === 'delete-user') ids.delete(change.id)
    }
    return ids
  }

  finish(emails: EmailRulings): Plan {
    const wanted = wantedEmails(this.#changes.map(({ change }) => change))
    const deleted = this.deletedUsers()
    const renewed = linkRenewed(this.#changes)
    this.#notices.push(...renewed.notices)
    const changes = renewed.changes
      .map((planned) => ({
        ...planned,
        phase: phaseOf(planned.change, wanted, emails),
        removes: removesOf(planned.change, deleted),
      }))
      .toSorted(byPhaseOpId)
    return {
      changes,
      notices: this.#notices.toSorted(compareNotices),
      unchanged: this.#unchanged,
      withheld: this.#withheld.toSorted(),
      digest: digestOf(changes),
    }
  }

  #isAsked(kind: Kind, id: string): boolean {
    const { only } = this.#inputs
    if (only === undefined) return true
    return (kind === 'user' ? only.users : only.groups).includes(id)
  }

  #admit(kind: Kind, change: Change): void {
    const print = fingerprint(change)
    const withheld = this.#inputs.withheld.get(print)
    if (withheld) {
      this.#withheld.push(print)
      this.#notices.push({ kind, id: change.id, ...withheld })
      return
    }
    const isUpdate = change.op === 'update-user' || change.op === 'update-group'
    if (isUpdate && !mayUpdate(this.#inputs.rules.policy)) {
      const detail = `differs from the source; policy ${this.#inputs.rules.policy} does not update`
      this.#notices.push({ kind, id: change.id, code: 'kept-by-policy', detail })
      return
    }
    this.#changes.push({ change, fingerprint: print })
  }

  /** Why the lists of the sync forbid to delete this entry. Those that would not be deleted anyway are named all the same. */
  #whySpared(kind: Kind, id: string): { code: NoticeCode; detail: string } | undefined {
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
      const detail = `is not in the source, but ${source.unreadable} of its entries could not be read: nothing is deleted in this run`
      return { code: 'kept-unproved', detail }
    }
    if (sighting !== undefined && sighting !== 'present') return undefined
    const detail =
      'the first look at the source missed it and the second one did not prove it absent: not deleted'
    return { code: 'seen-again', detail }
  }

  #deleteOf(kind: Kind, id: string, why: DeleteReason): Change {
    const { directory } = this.#inputs
    if (kind === 'user') {
      const user = directory.users.get(id)
      return { op: 'delete-user', id, have: { email: user?.email ?? null, name: user?.name ?? null }, why }
    }
    const group = directory.groups.get(id)
    return { op: 'delete-group', id, have: { name: group?.name ?? '', members: group?.members ?? [] }, why }
  }
}

function wantedEmails(changes: readonly Change[]): ReadonlySet<string> {
  const emails = new Set<string>()
  for (const change of changes) {
    const isWrite = change.op === 'create-user' || change.op === 'update-user'
    if (isWrite && change.want.email !== undefined) emails.add(canonicalEmail(change.want.email))
  }
  return emails
}

function phaseOf(change: Change, wanted: ReadonlySet<string>, emails: EmailRulings): Phase {
  switch (change.op) {
    case 'delete-user':
      return change.have.email !== null && wanted.has(canonicalEmail(change.have.email))
        ? 'free-emails'
        : 'delete-users'
    case 'update-user':
      return emails.movers.has(change.id) && change.takes === undefined ? 'free-emails' : 'users'
    case 'create-user':
      return 'users'
    case 'create-group':
    case 'update-group':
      return 'groups'
    case 'set-members':
      return 'members'
    case 'delete-group':
      return 'delete-groups'
  }
}

function removesOf(change: Change, deletedUsers: ReadonlySet<string>): number {
  if (change.op === 'delete-user' || change.op === 'delete-group') return 1
  if (change.op !== 'set-members') return 0
  const kept = new Set(change.want)
  return change.have.filter((id) => !kept.has(id) && !deletedUsers.has(id)).length
}

function byPhaseOpId(a: PlannedChange, b: PlannedChange): number {
  return (
    PHASES.indexOf(a.phase) - PHASES.indexOf(b.phase) ||
    OPS.indexOf(a.change.op) - OPS.indexOf(b.change.op) ||
    byCodeUnit(a.change.id, b.change.id)
  )
}

function digestOf(changes: readonly PlannedChange[]): string {
  const lines = changes.map((planned) => planned.fingerprint).toSorted()
  return hash('sha256', lines.join('\n'))
}
