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
import { notMade, whyWaits } from './waits.ts'

/** The phases of a plan in order: a phase begins when every change of the phase before it has its final state. */
export const PHASES = [
  'free-emails',
  'users',
  'take-emails',
  'groups',
  'members',
  'delete-groups',
  'delete-users',
] as const
export type Phase = (typeof PHASES)[number]

export interface PlannedChange {
  readonly change: Change
  readonly phase: Phase
  readonly fingerprint: string
  /**
   * How many deletes the change counts as: 1 for a deleted entry; for a member list, the number of removed members. A
   * member whom the plan deletes as a user is not counted again here.
   */
  readonly removes: number
}

/** The ordered changes that make a directory equal to its source, and the notices for the report. */
export interface Plan {
  readonly changes: readonly PlannedChange[]
  readonly notices: readonly Notice[]
  /** Users and groups that are equal on both sides. */
  readonly unchanged: number
  /** The fingerprints of the withheld changes that this plan would have made. */
  readonly withheld: readonly string[]
  /** SHA-256 over the fingerprints, in hexadecimal; equal plans have equal digests. */
  readonly digest: string
}

/**
 * The ids that the directory has and the first look at the source did not see. An id that the directory has twice is
 * left out, because the API cannot tell the two entries apart. If the source does not read groups, no group is one.
 */
export function deleteCandidates(
  source: SourceSnapshot,
  directory: DirectorySnapshot,
): Record<Kind, readonly string[]> {
  const twice: Record<Kind, Set<string | undefined>> = { user: new Set(), group: new Set() }
  for (const { code, kind, id } of directory.notices) if (code === 'shared-id') twice[kind].add(id)
  return {
    user: [...directory.users.keys()].filter((id) => !source.seen.user.has(id) && !twice.user.has(id)),
    group: source.covers.groups
      ? [...directory.groups.keys()].filter((id) => !source.seen.group.has(id) && !twice.group.has(id))
      : [],
  }
}

/** Makes the plan. A pure function: the same inputs give the same plan, in whatever order entries were read. */
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
  draft.addUnknownIds()
  for (const difference of planMembers(inputs, selections, draft.idsAfterwards(), draft.leaving)) {
    draft.addMembers(difference.id, difference)
  }
  return draft.finish(emails)
}

/** An id that differs only in upper and lower case, or in the braces that some tools write around a GUID. */
function otherwiseSpelled(id: string, ids: Iterable<string>): string | undefined {
  const wanted = plainSpelling(id)
  for (const each of ids) if (plainSpelling(each) === wanted) return each
  return undefined
}

function plainSpelling(id: string): string {
  return id.replace(/^\{(.*)\}$/, '$1').toLowerCase()
}

/** Collects changes and drops those that the lists, the policy or earlier decisions (`withheld`) forbid. */
class Draft {
  readonly #inputs: PlanInputs
  readonly #selections: Readonly<Record<Kind, Selection>>
  readonly #changes: { change: Change; fingerprint: string }[] = []
  readonly #notices: Notice[]
  readonly #withheld: string[] = []
  /** Users who are gone from the source, and whose delete is in grace, refused or without effect. */
  readonly leaving = new Set<string>()
  #equalUsers = 0
  readonly #equalGroups = new Set<string>()

  constructor(inputs: PlanInputs, selections: Readonly<Record<Kind, Selection>>) {
    this.#inputs = inputs
    this.#selections = selections
    this.#notices = [...inputs.source.notices, ...inputs.directory.notices]
  }

  /** Compares an entry of the source, unless `only` or the lists exclude it. */
  addEntry(kind: Kind, { id, from }: { id: string; from: string }, compare: () => Difference): void {
    if (!this.#isSelected(kind, id)) return
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
    if (!found.change && !found.notices) this.#countEqual(kind, id)
    this.#take(kind, found)
  }

  /** Names the ids of a limited run that neither side has: one of them may be mistyped. */
  addUnknownIds(): void {
    const { source, directory, only } = this.#inputs
    if (only === undefined) return
    const sides = [
      ['user', only.users, directory.users],
      ['group', only.groups, directory.groups],
    ] as const
    for (const [kind, ids, entries] of sides) {
      for (const id of ids) {
        if (entries.has(id) || source.seen[kind].has(id)) continue
        const similar = otherwiseSpelled(id, source.seen[kind]) ?? otherwiseSpelled(id, entries.keys())
        const hint = similar === undefined ? 'is the id right?' : `did you mean ${similar}?`
        const detail = `is neither in the source nor in the directory; ${hint}`
        this.#notices.push({ kind, id, code: 'unknown-id', detail })
      }
    }
  }

  addMembers(group: string, found: Difference): void {
    if (!this.#isSelected('group', group)) return
    this.#equalGroups.delete(group)
    this.#take('group', found)
  }

  #countEqual(kind: Kind, id: string): void {
    if (kind === 'user') this.#equalUsers++
    else this.#equalGroups.add(id)
  }

  #take(kind: Kind, { change, notices }: Difference): void {
    if (notices) this.#notices.push(...notices)
    if (change) this.#admit(kind, change)
  }

  addDelete(kind: Kind, id: string): void {
    if (!this.#isSelected(kind, id)) return
    const sighting = this.#inputs.sightings[kind].get(id)
    const kept = this.#whyExcludedOrProtected(kind, id) ?? this.#whyKept(sighting)
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

  /** The external ids of the users and groups in the directory after the plan. */
  idsAfterwards(): Record<Kind, ReadonlySet<string>> {
    const { users, groups } = this.#inputs.directory
    const ids = { user: new Set(users.keys()), group: new Set(groups.keys()) }
    for (const { change } of this.#changes) {
      if (change.op === 'create-user') ids.user.add(change.id)
      if (change.op === 'delete-user') ids.user.delete(change.id)
      if (change.op === 'create-group') ids.group.add(change.id)
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
      unchanged: this.#equalUsers + this.#equalGroups.size,
      withheld: this.#withheld.toSorted(),
      digest: digestOf(changes),
    }
  }

  #isSelected(kind: Kind, id: string): boolean {
    const { only } = this.#inputs
    if (only === undefined) return true
    return (kind === 'user' ? only.users : only.groups).includes(id)
  }

  #admit(kind: Kind, change: Change): void {
    const print = fingerprint(change)
    const withheld = this.#inputs.withheld.get(print)
    const waits = whyWaits(this.#inputs.waits, kind, change)
    if (withheld) {
      if (withheld.code !== 'rejected' && waits?.code !== 'unproved') this.#addLeaving(change)
      this.#withheld.push(print)
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
    else this.#changes.push({ change, fingerprint: print })
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
      const detail = `is not in the source, but ${source.unreadable} of its entries could not be read: nothing is deleted in this run`
      return { code: 'kept-unproved', detail }
    }
    if (sighting !== undefined && sighting !== 'present') return undefined
    const detail =
      'the first look at the source did not find it, but the second look did not prove it absent: not deleted'
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
