import type { Block, Guarded, KeyFacts } from '../block.ts'
import type { Decisions } from '../decisions.ts'
import type { Differences } from '../diff/differences.ts'
import type { Left } from '../without.ts'
import type { Steps } from '../../base/steps.ts'
import type { BlockedKeys, Field } from '../keys.ts'
import type { Kind } from '../entries/entry.ts'
import type { LossLook, Sighting } from '../entries/recheck.ts'
import type { judgeServer, ServerMemory } from '../plan/server.ts'
import type { Baseline } from '../plan/baseline.ts'
import type { Options } from '../plan/configuration.ts'
import type { Fact } from '../notice.ts'
import type { Op } from '../plan/change.ts'

/** When a check says what the next run has to know: with the plan, before the first request, and at the end. */
export type Moment =
  | { readonly at: 'begun' }
  | {
      readonly at: 'end'
      readonly end: 'applied' | 'held' | 'failed'
      readonly deleted: Readonly<Record<Kind, ReadonlySet<string>>>
    }

export interface Check<F extends Facts = RunFacts> {
  readonly name: string
  judge(facts: F): Steps<readonly Block[]>
  /** The states to save; what it leaves out stays as it is. */
  next?(facts: F, moment: Moment): Steps<Partial<States>>
  /** The fields of the keys that it cannot judge on a partial read. */
  readonly concerns?: readonly Field[] | undefined
}

export interface Facts {
  readonly wanted: Differences
  /** What the tiers before leave. */
  readonly left: Left
  /** All of the tiers before, without what is approved. */
  readonly blocks: readonly Block[]
  /** The same with what is approved. */
  readonly found: readonly Block[]
  readonly decisions: Decisions
  /** Whether the read of the source is of some ids only. */
  readonly isPartial: boolean
  /** What a run of some entries leaves alone. */
  readonly outside: readonly BlockedKeys[]
  /** Whether a block stops the plan, so that only approved keys are left. */
  readonly isStopped: boolean
}

export interface Rechecks {
  /** Of absent entries. One without a recheck is never deleted. */
  readonly entries: Readonly<Record<Kind, ReadonlyMap<string, Sighting>>>
  /** Of groups that would lose members, by id. */
  readonly removals: ReadonlyMap<string, LossLook>
}

export const NO_RECHECKS: Rechecks = { entries: { user: new Map(), group: new Map() }, removals: new Map() }

export interface RunFacts extends Facts {
  readonly run: number
  readonly now: Date
  readonly limits: GuardLimits
  readonly grace: GraceRule
  readonly states: States
  readonly rechecks: Rechecks
  /** `undefined` where the source has no server. */
  readonly server: ReturnType<typeof judgeServer> | undefined
  readonly refusals: readonly Refusal[]
  readonly journal: Journal
  /** Hashes of the options that change scope or mapping. */
  readonly options: Readonly<Record<string, string>>
}

/** What this sync deleted in the last 24 hours. */
interface Journal {
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
type DeleteAfter = { readonly ms: number } | { readonly runs: number }

interface GraceRule extends Pick<Grace, 'deleteAfter'> {
  readonly confirmAfterMs: number | undefined
}

/** Since when an entry is absent, and in how many complete reads before this one. */
export interface Absence {
  readonly since: Date
  readonly reads: number
}

/** What a group listed: users by attribute, and groups, by key. */
export interface Contributor {
  readonly dn: string
  /** How many users each attribute listed that showed a value, by its name in lower case. */
  readonly lists: ReadonlyMap<string, number>
  /** Attributes that showed no user while a removal was blocked. */
  readonly doubted?: ReadonlySet<string>
  readonly nested: readonly string[]
}

/** By the key of a group, what its members came from. */
export type Contributors = ReadonlyMap<string, Contributor>

/** What checks keep for the next run, by check; left out where there is nothing yet. */
export interface States {
  readonly grace?: Readonly<Record<Kind, ReadonlyMap<string, Absence>>>
  readonly server?: ServerMemory
  /** Where the entries of the last complete run were. */
  readonly containers?: Readonly<Partial<Record<Kind, Baseline>>>
  /** What the members of each group came from in the last complete run. */
  readonly groups?: Contributors
  /** The source in the last complete run. */
  readonly size?: { readonly users: number; readonly groups: number }
  readonly configuration?: { readonly run: number; readonly options: Options }
}

/** The service refused a change for its content, or accepted it twice without effect. */
export type RefusalReason = Fact<Pick<KeyFacts, 'quarantine' | 'not-persisted'>>

export type Refusal = RefusalReason & {
  readonly op: Op
  readonly id: string
  /** Of the change: with another value it is tried again at once. */
  readonly digest: string
}

/** Limits for users, groups or memberships; `null` means no limit. */
interface KindLimits {
  readonly maxDeletes: number
  /** Of the entries in the directory, 0 to 100. */
  readonly maxDeletePercent: number
  /** Deletes without approval in the last 24 hours, including this plan's. */
  readonly maxDeletesPerDay: number
  readonly maxUpdates: number | null
  /** Counts only from `MIN_MASS_UPDATES` updates on, because a few updates are many of a small directory. */
  readonly maxUpdatePercent: number | null
}

export interface GuardLimits {
  readonly users: KindLimits
  readonly groups: KindLimits
  readonly memberships: KindLimits
  readonly minSourceUsers: number
  /** Against the last complete run; beyond that, deletes are held. */
  readonly maxSourceShrinkPercent: number
  /** Users whose id seems to belong to another person now. No limit if left out. */
  readonly maxMovedIds?: number
}
