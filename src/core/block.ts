import type { BlockedKeys, FactKey, Key } from './keys.ts'
import type { Kind } from './entries/entry.ts'
import type { Examples, Fact, UnconfirmedRemoval } from './notice.ts'
import type { DiffRules } from './diff/rules.ts'

export type Guarded = 'users' | 'groups' | 'memberships'

interface Limit {
  readonly limit: number
}

/**
 * `of`: the entries in the directory. `leftFilter` and `newIds`: deletes that are often mistakes, of a changed filter and
 * of a changed id attribute.
 */
interface Deletes extends Limit {
  readonly kind: Guarded
  readonly deletes: number
  readonly leftFilter: number
  readonly newIds: number
  readonly of: number
}

interface Updates extends Limit {
  readonly kind: Guarded
  readonly updates: number
}

/** A value of the server's replication state, at the last complete run and now. */
export interface Difference {
  readonly key: string
  readonly known: string | null
  readonly seen: string | null
}

/**
 * The server is not as new as the last complete read, of the server `last`. Times are ISO 8601: since when, and from
 * when on an operator decides.
 */
export interface NotNewer {
  readonly how: 'hidden' | 'older' | 'other-database' | 'diverged' | 'lacks-additions'
  readonly server: string
  readonly last: string
  readonly difference: Difference
  readonly since: string
  readonly until: string
  readonly needsApproval: boolean
}

/** What the members of a group came from, and shows none now: the whole group, one of its attributes, or a group within it. */
export type SilentHow = 'no-members' | 'not-read' | 'not-shown-by-any-group' | 'not-shown' | 'group-absent'

type NoParams = Readonly<Record<string, never>>

export type BlockParams = {
  // rules: whether a change may be made at all
  readonly rejected: NoParams
  readonly policy: Pick<DiffRules, 'policy'>
  readonly protected: NoParams
  /** So many entries of the source could not be understood. */
  readonly unreadable: { readonly entries: number }
  readonly grace: NoParams
  /** The server shows no replication state, so a second read has to lack the entry. */
  readonly 'absence-unconfirmed': NoParams
  readonly quarantine: NoParams
  readonly 'not-persisted': NoParams
  readonly 'partial-read': { readonly check: string }
  // anomalies: what the read shows is suspicious
  readonly 'seen-again': NoParams
  readonly 'server-not-newer': NotNewer
  /**
   * `leftFilter` of the absent entries are in the source, outside the sync's filter. Not `isEmpty`: an earlier run found
   * the container without entries, and asked; this one finds some.
   */
  readonly 'container-emptied': {
    readonly kind: Kind
    readonly container: string
    readonly absent: number
    readonly leftFilter: number
    readonly isEmpty: boolean
  }
  /** `lists`: DNs of what shows no member now. A user may be in several of the groups. */
  readonly 'group-emptied': {
    readonly how: SilentHow
    readonly groups: Examples
    readonly lists: Examples
    readonly attributes: readonly string[]
    readonly removals: number
  }
  readonly 'removals-not-confirmed': NoParams
  readonly 'recently-deleted': NoParams
  // guards: they stop the plan
  readonly asked: NoParams
  readonly 'kept-membership': NoParams
  readonly 'first-contact': {
    readonly deletes: Readonly<Record<Guarded, number>>
    /** Deletes of later runs that this one would start. */
    readonly later: number
  }
  readonly 'min-source-users': { readonly users: number } & Limit
  readonly 'max-moved-ids': { readonly users: number } & Limit
  readonly 'configuration-changed': Deletes &
    Updates & { readonly since: number; readonly keys: readonly string[]; readonly isLater: boolean }
  readonly 'undo-deletes': { readonly run: number; readonly users: number; readonly groups: number }
} & Readonly<
  Record<`empty-directory-${'users' | 'groups'}`, { readonly kind: Kind; readonly before: number }>
> &
  Readonly<
    Record<
      `source-shrunk-${'users' | 'groups'}`,
      { readonly kind: 'users' | 'groups'; readonly now: number; readonly before: number } & Limit
    >
  > &
  Readonly<Record<`max-deletes-${Guarded}` | `max-delete-percent-${Guarded}`, Deletes>> &
  Readonly<
    Record<
      `max-deletes-per-day-${Guarded}`,
      { readonly kind: Guarded; readonly deletes: number; readonly lastDay: number } & Limit
    >
  > &
  Readonly<Record<`max-updates-${Guarded}`, Updates>> &
  Readonly<Record<`max-update-percent-${Guarded}`, Updates & { readonly of: number }>>

export type BlockCode = keyof BlockParams

export type BlockReason = Fact<BlockParams>

/** Times are ISO 8601. How long a delete still waits: until a time, or for so many more reads. */
type Delay = { readonly since: string } & ({ readonly until: string } | { readonly reads: number })

/** What is true of one blocked key alone. */
export interface KeyFacts {
  readonly rejected: {
    readonly run: number
    readonly by: string
    readonly at: string
    readonly reason: string
  }
  readonly grace: Delay
  readonly 'absence-unconfirmed': Delay
  readonly quarantine: { readonly answer: string }
  readonly 'not-persisted': {
    readonly how: 'not-listed' | 'not-kept' | 'missing-but-listed' | 'not-deleted' | 'not-changed'
  }
  readonly 'removals-not-confirmed': UnconfirmedRemoval
  /** The DN of what listed `had` members, and the attribute. */
  readonly 'group-emptied': {
    readonly how: SilentHow
    readonly dn: string
    readonly attribute: string | null
    readonly had: number
  }
  readonly asked: { readonly codes: readonly string[] }
  readonly 'kept-membership': { readonly user: string; readonly group: string }
}

/** By code; none where a block says all. */
export type FactsOf<Code extends BlockCode> = Code extends keyof KeyFacts ? KeyFacts[Code] : never

export interface ServerParams {
  readonly 'first-read': { readonly server: string }
  /** It has all that the last complete run read. */
  readonly current: { readonly server: string }
  readonly accepted: { readonly server: string }
  readonly 'only-server': { readonly server: string }
  /** It shows no replication state, so a second read has to confirm a delete. */
  readonly 'no-state': { readonly server: string; readonly why: NoStateReason }
  readonly 'not-newer': NotNewer
}

type NoStateReason =
  | { readonly how: 'other-server'; readonly difference: Difference }
  | { readonly how: 'was-other-server'; readonly at: string }
  | { readonly how: 'several-addresses'; readonly addresses: number }
  | { readonly how: 'perhaps-several' }

/** Why a read of the server may change what it may. */
export type ServerState = Fact<ServerParams>

/**
 * What ends a block: an operator's decision, time, a better read of the source, another configuration, or the service.
 * An approval lifts only the first two.
 */
export type Until = 'decision' | 'time' | 'read' | 'configuration' | 'service'

export type Block<Code extends BlockCode = BlockCode> = Code extends BlockCode ? BlockOf<Code> : never

interface BlockOf<Code extends BlockCode> {
  readonly code: Code
  readonly params: BlockParams[Code]
  /** What is true of one key alone, such as until when it waits. */
  readonly of?: ((key: Key) => FactsOf<Code> | undefined) | undefined
  readonly keys: BlockedKeys
  readonly until: Until
  /** Set where the whole plan stops: only approved keys are made. */
  readonly stops?: 'plan' | undefined
  /** The fact that the operator is asked about, where it is not the keys. */
  readonly asks?: FactKey | undefined
}
