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

export const MIN_MASS_UPDATES = 20

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

/** Compares in whole numbers, without rounding. An empty directory (`whole` is 0) has no percentage to exceed. */
export function exceeds(part: number, whole: number, limitPercent: number): boolean {
  return part > 0 && whole > 0 && part * 100 > whole * limitPercent
}
