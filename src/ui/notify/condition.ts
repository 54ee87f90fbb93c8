import type { StoredCondition } from '../../operations/notifications.ts'

export type Lasting = 'asking' | 'failing' | 'blocked' | 'quarantine' | 'token'

/** `amount`: of the last notification, or less if it has decreased since. */
export interface Condition extends StoredCondition {
  readonly event: Lasting
}

export type Why = 'new' | 'more' | 'reminder'
