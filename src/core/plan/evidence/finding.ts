import type { LossLook } from '../../entries/evidence.ts'
import type { Kind } from '../../entries/entry.ts'
import { isWaitingDelete, type UnconfirmedRemoval, type Wait } from '../../notice.ts'
import { forEachInSteps, type Steps } from '../../../base/steps.ts'
import type { Baseline } from '../baseline.ts'
import { type Change, deleteFingerprint } from '../change.ts'
import type { Breach } from '../guards.ts'
import type { Plan } from '../changes.ts'

export interface Nesting {
  /** The ids of the groups within other groups, by normal DN; empty for groups outside of the filter. */
  readonly ids: ReadonlyMap<string, string>
  /** For each group with groups within, by its key, a digest of its unresolved members; empty where it has none. */
  readonly strangers: ReadonlyMap<string, string>
}

/** Where several attributes list members: by the key of each group, those that show a value. */
export type MemberLists = ReadonlyMap<string, readonly string[]>

export interface Evidence {
  /** Of the last good run; without one, containers are unknown. */
  readonly baselines: Readonly<Record<Kind, Baseline | undefined>>
  /** How many groups listed a member in the last good run. */
  readonly groupsWithMembers: number | undefined
  /** Of the last good run. */
  readonly nesting: Nesting
  /** Of the last good run. */
  readonly memberLists: MemberLists
  /** The `doubtfulDns` at which the source shows other entries than the absent groups. */
  readonly otherEntries: ReadonlySet<string>
  /** The groups whose members need approval since an earlier run. */
  readonly waitingGroups: ReadonlySet<string>
  /** The rechecks of groups that would lose members, by id. */
  readonly losses: ReadonlyMap<string, LossLook>
  /** The ids that this sync deleted within the last day. Empty for sources whose servers cannot lag. */
  readonly deletedLastDay: Readonly<Record<Kind, ReadonlySet<string>>>
  readonly approved: ReadonlySet<string>
}

/** An objection, and the changes of the plan that wait for it. */
export type Finding = Breach & {
  readonly waitsFor: 'person' | 'better-read'
  readonly holds: readonly Held[]
}

export type Held = { readonly kind: Kind; readonly ids: readonly string[] } & (
  | { readonly what: 'delete'; readonly wait: Wait }
  | { readonly what: 'create' }
  | { readonly what: 'members'; readonly wait: UnconfirmedRemoval }
)

/** Includes deletes in the grace period: their users leave their groups at once. */
export function* deletesById(plan: Plan, kind: Kind): Steps<ReadonlyMap<string, string>> {
  const deletes = yield* fingerprintsById(plan, `delete-${kind}`)
  yield* forEachInSteps(plan.notices, (notice) => {
    const { id } = notice
    if (id !== undefined && notice.kind === kind && isWaitingDelete(notice))
      deletes.set(id, deleteFingerprint(kind, id))
  })
  return deletes
}

export function* fingerprintsById(plan: Plan, op: Change['op']): Steps<Map<string, string>> {
  const prints = new Map<string, string>()
  yield* forEachInSteps(plan.changes.headsOf(op), ({ id, fingerprint }) => prints.set(id, fingerprint))
  return prints
}

/** The ids of all entries whose changes wait for these. */
export function* heldIds(holds: readonly Held[]): Steps<Set<string>> {
  const held = new Set<string>()
  for (const { ids } of holds) yield* forEachInSteps(ids, (id) => held.add(id))
  return held
}

export function isUnapproved(print: string | undefined, approved: ReadonlySet<string>): boolean {
  return print !== undefined && !approved.has(print)
}
