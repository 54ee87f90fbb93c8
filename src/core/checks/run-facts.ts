import type { LossLook } from '../entries/evidence.ts'
import type { Kind } from '../entries/entry.ts'
import type { Sighting } from '../entries/recheck.ts'
import type { Guarded } from '../block.ts'
import type { Facts } from './check.ts'
import type { Policy } from '../plan/policy.ts'
import type { GuardLimits } from './limits.ts'
import type { Refusal } from './refusals.ts'
import type { ServerJudgement } from '../plan/server.ts'
import type { States } from './states.ts'

/** What the recheck of single entries showed. */
export interface Rechecks {
  /** Of absent entries. One without a recheck is never deleted. */
  readonly entries: Readonly<Record<Kind, ReadonlyMap<string, Sighting>>>
  /** Of groups that would lose members, by id. */
  readonly removals: ReadonlyMap<string, LossLook>
}

export const NO_RECHECKS: Rechecks = { entries: { user: new Map(), group: new Map() }, removals: new Map() }

/** What the checks of a sync see. */
export interface RunFacts extends Facts {
  readonly run: number
  readonly now: Date
  readonly policy: Policy
  readonly limits: GuardLimits
  readonly grace: GraceRule
  /** What each check kept of earlier runs. */
  readonly states: States
  readonly rechecks: Rechecks
  /** `undefined` where the source has no server. */
  readonly server: ServerJudgement | undefined
  readonly refusals: readonly Refusal[]
  readonly journal: Journal
  /** Hashes of the options that change scope or mapping. */
  readonly options: Readonly<Record<string, string>>
}

/** What this sync deleted in the last 24 hours. */
export interface Journal {
  /** Without deletes that an operator approved. */
  readonly unapproved: Readonly<Record<Guarded, number>>
  /** Empty for sources whose servers cannot lag. */
  readonly deleted: Readonly<Record<Kind, ReadonlySet<string>>>
}

/** When an absent entry is deleted, as configured. */
export interface Grace {
  /** Left out: deleted at once. */
  readonly deleteAfter: Readonly<Partial<Record<Kind, DeleteAfter>>>
  /** Where the server's replication state is unknown: two reads, so far apart, have to lack an entry. */
  readonly confirmAfterMs: number
  /** Whether one address may lead to several servers, so that every absence needs a second read. */
  readonly hidesServers: boolean
}

/** For how long, or in how many complete reads, an entry must be absent before it is deleted. */
export type DeleteAfter = { readonly ms: number } | { readonly runs: number }

/** The rule of one run. */
export interface GraceRule extends Pick<Grace, 'deleteAfter'> {
  /** Set where the server's replication state is unknown: two reads, so far apart, have to lack an entry. */
  readonly confirmAfterMs: number | undefined
}
