import type { DirectoryGroup, DirectoryUser } from '../reference/directory/entry.ts'
import type { DirectorySnapshot, Notice } from '../reference/directory/snapshot.ts'
import type { UserTable } from '../reference/directory/user-table.ts'
import type { Breach } from '../reference/plan/guards.ts'
import type { Source } from '../reference/source/source.ts'
import type { Core, Ram } from '../reference/store/ram.ts'
import type { Membership } from '../reference/plan/policy.ts'
import type { Kind, ServiceStart, Step } from './story.ts'

/** What a decider made of a run's reads, once it is stored. */
export interface Kept {
  readonly isHeld: boolean
  readonly breaches: readonly Breach[]
  readonly notices: readonly Notice[]
}

export type RunEnd = 'planned' | 'held' | 'done'

/** What the world does in the course of a run. */
export interface Around {
  readonly source: Source
  readonly readDirectory: (
    signal: AbortSignal,
    table: UserTable,
    membership: Membership,
  ) => Promise<DirectorySnapshot>
  /** Called before and after the plan is stored; may throw. */
  readonly beforeKeep: () => void
  readonly afterKeep: (kept: Kept) => void
  readonly apply: () => void
}

/** A decider is reached through this alone: a world and a RAM store go in, changes come out. */
export interface Decider {
  readonly core: Core
  /** The source of a step, in the decider's own form. */
  readonly sourceOf: (step: Step) => Source
  readonly directoryUsers: (
    table: UserTable,
  ) => ReadonlyMap<string, DirectoryUser> & { add(row: number): boolean }
  /** Makes one run, which waits in the RAM. Throws what the run throws. */
  readonly run: (ram: Ram, run: number, step: Step, around: Around) => Promise<RunEnd>
}

export function directoryOf(
  { users, groups }: ServiceStart,
  { listing }: Step,
  decider: Decider,
  table: UserTable,
  membership: Membership,
): DirectorySnapshot {
  const rows = decider.directoryUsers(table)
  for (const { id, email, name } of users) rows.add(table.rowOf(id, email ?? undefined, name ?? undefined))
  const members = (group: DirectoryGroup) => (membership === 'off' ? [] : group.members.toSorted())
  const notices = listing.shared.map(
    (id) => ({ kind: 'user', id, code: 'shared-id', detail: 'is there twice' }) as const,
  )
  return {
    users: rows,
    groups: new Map(groups.map((group) => [group.id, { ...group, members: members(group) }])),
    notices,
    moved: listing.isMoved || notices.length > 0,
    unprovedEmpty: listing.empty.filter((kind: Kind) => (kind === 'user' ? users : groups).length === 0),
  }
}
