import type { LossLook } from '../../directory/evidence.ts'
import type { Kind } from '../../directory/entry.ts'
import type { NoticeCode } from '../../directory/snapshot.ts'
import type { Baseline } from '../baseline.ts'
import { type Change, deleteFingerprint } from '../change.ts'
import type { Breach } from '../guards.ts'
import type { Plan } from '../changes.ts'

/** What a run knows of groups within groups. */
export interface Nesting {
  /** As `SourceSnapshot.nestedGroups`. */
  readonly ids: ReadonlyMap<string, string>
  /** For each of `SourceSnapshot.nestingGroups` a digest of its strangers; empty where it has none. */
  readonly strangers: ReadonlyMap<string, string>
}

/** As `SourceSnapshot.memberLists`; empty where members are listed in one attribute. */
export type MemberLists = ReadonlyMap<string, readonly string[]>

/** What the plan is held against, besides what was read. */
export interface Evidence {
  /** Of the last good run; without one nothing is known of containers. */
  readonly baselines: Readonly<Record<Kind, Baseline | undefined>>
  /** How many groups listed a member in the last good run. */
  readonly groupsWithMembers: number | undefined
  /** Of the last good run. */
  readonly nesting: Nesting
  /** Of the last good run. */
  readonly memberLists: MemberLists
  /** Of `doubtfulDns`, those that the source shows as entries other than the groups that are absent. */
  readonly otherEntries: ReadonlySet<string>
  /** The ids of the groups whose members wait for a person since an earlier run. */
  readonly waitingGroups: ReadonlySet<string>
  /** What the second look says of groups that would lose members, by id. */
  readonly losses: ReadonlyMap<string, LossLook>
  /** The ids that this sync deleted within the last day. Empty for sources whose servers cannot lag. */
  readonly deletedLastDay: Readonly<Record<Kind, ReadonlySet<string>>>
  /** The fingerprints of the changes that a person approved. */
  readonly approved: ReadonlySet<string>
}

/** An objection, and what of the plan waits for it. */
export interface Finding extends Required<Breach> {
  readonly holds: readonly Held[]
  /** Where nobody is left. */
  readonly container?: string
}

/** Entries of which one kind of change waits. */
export interface Held {
  readonly kind: Kind
  readonly ids: readonly string[]
  readonly what: 'delete' | 'create' | 'members'
  /** What is said of each entry. */
  readonly notice: string
}

const WAITING: ReadonlySet<NoticeCode> = new Set(['in-grace', 'unproved'])

/** The deletes of the plan, and those that wait for their time: in grace, people leave their groups at once. */
export function deletesById(plan: Plan, kind: Kind): ReadonlyMap<string, string> {
  const deletes = new Map(fingerprintsById(plan, `delete-${kind}`))
  for (const { code, kind: of, id } of plan.notices)
    if (WAITING.has(code) && of === kind && id !== undefined) deletes.set(id, deleteFingerprint(kind, id))
  return deletes
}

export function fingerprintsById(plan: Plan, op: Change['op']): ReadonlyMap<string, string> {
  const prints = new Map<string, string>()
  for (const { id, fingerprint: print } of plan.changes.headsOf(op)) prints.set(id, print)
  return prints
}

export function isUnapproved(print: string | undefined, approved: ReadonlySet<string>): boolean {
  return print !== undefined && !approved.has(print)
}
