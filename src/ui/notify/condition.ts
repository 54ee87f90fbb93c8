import type { StoredCondition } from '../../store/notifications.ts'

/** What goes on until it ends. */
export type Lasting = 'held' | 'failing' | 'withheld' | 'quarantine' | 'token'

/**
 * Something that goes on, and what was told of it. `amount` is how much there was of it when somebody was told last, or
 * less if it has become less.
 */
export interface Condition extends StoredCondition {
  readonly event: Lasting
}

/** Why a person is told: it has begun, there is much more of it, or it goes on. */
export type Why = 'new' | 'more' | 'reminder'
