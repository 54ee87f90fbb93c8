import type { Kind } from './entries/entry.ts'
import type { Fact } from './facts.ts'
import type { Examples, UnconfirmedRemoval } from './notice.ts'

export type Guarded = 'users' | 'groups' | 'memberships'

interface OfKind {
  readonly kind: Guarded
}

/** `leftFilter` and `newIds`: deletes that are often mistakes, of a changed filter and of a changed id attribute. */
interface Deletes extends OfKind {
  readonly deletes: number
  readonly leftFilter: number
  readonly newIds: number
}

/** Of this many entries in the directory. */
interface Share {
  readonly of: number
}

interface Limit {
  readonly limit: number
}

interface Updates extends OfKind {
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

/** Why a group shows no member although members may be there. */
export type EmptiedReason =
  | UnconfirmedRemoval
  | { readonly code: 'attribute-not-read'; readonly params: { readonly attributes: readonly string[] } }

/** `removals` of `groups`; a user may be in several of them. */
export interface Removals {
  readonly removals: number
  readonly groups: Examples
}

export type GroupEmptied =
  | {
      readonly how: 'no-members'
      readonly group: string
      readonly had: number
      readonly reason: EmptiedReason | null
    }
  /** The attributes of the group with this DN listed members in the last complete run. */
  | ({
      readonly how: 'attribute-empty'
      readonly list: string
      readonly attributes: readonly string[]
      readonly why: 'not-read' | 'not-shown' | 'not-shown-by-any-group'
    } & Removals)
  | ({ readonly how: 'since-earlier-run' } & Removals)
  | { readonly how: 'absent'; readonly group: string }

/** The absent group is in the lists of others, or one of their unresolved members may be its new DN. */
export interface NestedGroupAbsent extends Removals {
  readonly group: string
  readonly how: 'still-listed' | 'perhaps-renamed'
  readonly listedBy: Examples
  readonly unresolved: Examples
}

export type BlockParams = {
  // guards: they stop the plan
  readonly 'first-contact': {
    readonly deletes: Readonly<Record<Guarded, number>>
    /** Deletes of later runs that this one would start. */
    readonly later: number
  }
  readonly 'min-source-users': { readonly users: number } & Limit
  readonly 'max-moved-ids': { readonly users: number } & Limit
  readonly 'configuration-changed': Deletes &
    Updates &
    Share &
    Limit & { readonly since: number; readonly keys: readonly string[]; readonly isLater: boolean }
  /** `by`: the operator who approved the rest of the plan of `run`. */
  readonly 'left-out': { readonly by: string; readonly run: number }
  readonly 'undo-deletes': { readonly run: number; readonly users: number; readonly groups: number }
  // anomalies: they block the changes that they name
  readonly 'server-not-newer': NotNewer
  /** `leftFilter` of the absent entries are in the source, outside the sync's filter. */
  readonly 'container-emptied': {
    readonly kind: Kind
    readonly container: string
    readonly absent: number
    readonly leftFilter: number
    readonly wasFound: boolean
  }
  /** No group of the source lists a member; so many did in the last complete run. */
  readonly 'members-gone': { readonly before: number }
  readonly 'group-emptied': GroupEmptied
  readonly 'nested-group-absent': NestedGroupAbsent
  readonly 'members-unproved': { readonly groups: number; readonly reason: UnconfirmedRemoval }
  /** This sync deleted them within the last day. */
  readonly reborn: { readonly kind: Kind; readonly entries: number }
} & Readonly<
  Record<`empty-directory-${'users' | 'groups'}`, { readonly kind: Kind; readonly before: number }>
> &
  Readonly<
    Record<
      `source-shrunk-${'users' | 'groups'}`,
      { readonly kind: 'users' | 'groups'; readonly now: number; readonly before: number } & Limit
    >
  > &
  Readonly<Record<`max-deletes-${Guarded}` | `max-delete-percent-${Guarded}`, Deletes & Share & Limit>> &
  Readonly<Record<`max-deletes-per-day-${Guarded}`, OfKind & { deletes: number; lastDay: number } & Limit>> &
  Readonly<Record<`max-updates-${Guarded}`, Updates & Limit>> &
  Readonly<Record<`max-update-percent-${Guarded}`, Updates & Share & Limit>>

export type BlockCode = keyof BlockParams

export type BlockReason = Fact<BlockParams>

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

export type NoStateReason =
  | { readonly how: 'other-server'; readonly difference: Difference }
  | { readonly how: 'was-other-server'; readonly at: string }
  | { readonly how: 'several-addresses'; readonly addresses: number }
  | { readonly how: 'perhaps-several' }

/** Why a read of the server may change what it may. */
export type ServerState = Fact<ServerParams>
