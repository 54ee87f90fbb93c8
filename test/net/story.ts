/**
 * A story is all that happens in one world, as plain data: what the source shows to each run, what the service does, and
 * what operators decide. It knows no decider and no store.
 */
export interface Story {
  readonly seed: number
  readonly theme: string
  readonly service: ServiceStart
  readonly steps: readonly Step[]
}

export type Kind = 'user' | 'group'

export interface ServiceStart {
  readonly users: readonly ServiceUser[]
  readonly groups: readonly ServiceGroup[]
}

export interface ServiceUser {
  readonly id: string
  readonly name: string | null
  readonly email: string | null
}

export interface ServiceGroup {
  readonly id: string
  readonly name: string
  readonly members: readonly string[]
}

/** One run of the schedule with what comes before and after it. */
export interface Step {
  readonly rules: Rules
  readonly seen: Seen
  /** What the recheck says of ids; `gone` of all others. */
  readonly recheck: Readonly<Record<Kind, ReadonlyMap<string, Sighting>>>
  readonly losses: Losses
  /** The ids of entries by DN. */
  readonly idsAt: ReadonlyMap<string, readonly string[]>
  /** What other clients do to the service before the run. */
  readonly others: readonly OtherWrite[]
  readonly listing: Listing
  readonly fates: ReadonlyMap<string, Fate>
  readonly ends: 'well' | 'crash-before-keep' | 'crash-after-keep' | 'crash-in-apply' | 'error-in-apply'
  readonly mode: 'sync' | 'plan'
  /** Set where the run is of single entries. */
  readonly only: { readonly users: readonly string[]; readonly groups: readonly string[] } | undefined
  readonly decides: readonly Decides[]
  readonly undo: { readonly back: number; readonly part: Part } | undefined
  /** The time to the next step, in milliseconds. */
  readonly ahead: number
}

/** The options of the sync as the decider gets them. */
export interface Rules {
  readonly policy: 'mirror' | 'upsert' | 'create-only'
  readonly membership: 'write' | 'report' | 'off'
  readonly allowedDomains: readonly string[]
  readonly dropBadEmails: boolean
  readonly emails: 'unique' | 'shared'
  readonly entries: Partial<Record<'users' | 'groups', Lists>>
  readonly limits: Limits
  readonly grace: Grace
  readonly options: Readonly<Record<string, string>>
  readonly holdMs: number
}

export interface Lists {
  readonly include?: readonly (string | { readonly from: string })[]
  readonly exclude?: readonly (string | { readonly from: string })[]
  readonly protected?: readonly string[]
}

export interface Limits {
  readonly users: KindLimits
  readonly groups: KindLimits
  readonly memberships: KindLimits
  readonly minSourceUsers: number
  readonly maxSourceShrinkPercent: number
  readonly maxMovedIds?: number
}

export interface KindLimits {
  readonly maxDeletes: number
  readonly maxDeletePercent: number
  readonly maxDeletesPerDay: number
  readonly maxUpdates: number | null
  readonly maxUpdatePercent: number | null
}

export interface Grace {
  readonly deleteAfter: Partial<Record<Kind, { readonly ms: number } | { readonly runs: number }>>
  readonly confirmAfterMs: number
  readonly hidesServers: boolean
}

/** One read of the source. */
export interface Seen {
  readonly users: readonly SeenUser[]
  readonly groups: readonly SeenGroup[]
  /** Ids that were read and whose entries are not used, with the notice about each. */
  readonly skipped: readonly { readonly kind: Kind; readonly id: string; readonly code: SkipCode }[]
  readonly unreadable: number
  readonly covers: { readonly groups: boolean; readonly members: boolean }
  readonly server: Server | undefined
  /** The attributes that are read as lists of members. */
  readonly memberAttributes: readonly string[]
  /** LDAP has places of entries, rechecks of removals and nested groups; CSV has not. */
  readonly isLdap: boolean
}

export type SkipCode = 'disabled' | 'no-name' | 'duplicate-id' | 'members-hidden'

export interface SeenUser {
  readonly id: string
  readonly name: string | undefined
  readonly email: string | undefined
  readonly employeeId: string | undefined
  readonly container: string
}

export interface SeenGroup {
  readonly id: string
  readonly dn: string
  readonly name: string
  readonly container: string
  /** A group outside of the filter is no group of the sync, but its members count in groups around it. */
  readonly isInFilter: boolean
  readonly lists: readonly MemberList[]
}

/** What a group lists in one attribute. */
export interface MemberList {
  readonly attribute: string
  readonly users: readonly string[]
  /** DNs of groups. */
  readonly nested: readonly string[]
  /** DNs that are no entry of the read. */
  readonly unresolved: readonly string[]
}

export interface Server {
  readonly url: string
  readonly address: string
  readonly addresses: number
  readonly database: string | undefined
  readonly position: Readonly<Record<string, string>> | undefined
  readonly positionAtStart?: Readonly<Record<string, string>>
  readonly hints: Readonly<Record<string, string>>
}

export type Sighting = 'gone' | 'left-filter' | 'disabled' | 'present'

/** What the recheck of groups that would lose members says. */
export interface Losses {
  /** Users who are members after all. */
  readonly renamed: ReadonlySet<string>
  /** Groups whose removals are not proved; of some, only those of these users. */
  readonly unproved: ReadonlyMap<string, readonly string[] | 'all'>
  readonly provedEmpty: ReadonlySet<string>
}

export interface Listing {
  readonly hiddenUsers: ReadonlySet<string>
  readonly hiddenGroups: ReadonlySet<string>
  /** Lists that are empty and have no total. */
  readonly empty: readonly Kind[]
  /** Ids that several entries of the service have. */
  readonly shared: readonly string[]
  readonly isMoved: boolean
}

export type OtherWrite =
  | { readonly does: 'put-user'; readonly user: ServiceUser }
  | { readonly does: 'delete-user'; readonly id: string }
  | { readonly does: 'put-group'; readonly group: ServiceGroup }
  | { readonly does: 'add-member' | 'remove-member'; readonly group: string; readonly user: string }

/**
 * What the service does with changes of an entry: refuses them for their content, accepts them without effect, refuses
 * them for now, or makes them with an answer that cannot be read.
 */
export type Fate = 'refused' | 'forgotten' | 'busy' | 'garbled'

export interface Part {
  readonly names?: readonly ('creates' | 'updates' | 'deletes' | 'members')[]
  readonly kinds?: readonly Kind[]
  readonly ids?: readonly string[]
}

/** What an operator does with the newest hold. `only` names one of its checks by its place. */
export type Decides =
  | { readonly does: 'approve' | 'reject'; readonly only?: number }
  | { readonly does: 'approve-part'; readonly part: Part }
