import type { Steps } from '../../base/steps.ts'
import type { FactKey, Key } from '../keys.ts'
import type { Facts } from '../judge.ts'

/**
 * What ends a block: an operator's decision, time, a better read of the source, another configuration, or the service.
 * An approval lifts only the first two.
 */
export type Until = 'decision' | 'time' | 'read' | 'configuration' | 'service'

/** The keys that a block names; of many only a test and the way to find them. */
export interface BlockedKeys extends Iterable<Key> {
  has(key: Key): boolean
}

/** Why changes are not made now. */
export interface Block {
  readonly code: string
  readonly params?: unknown
  readonly keys: BlockedKeys
  readonly until: Until
  /** Set where the whole plan stops: only approved keys are made. */
  readonly stops?: 'plan' | undefined
  /** The fact that the operator is asked about, where it is not the keys. */
  readonly asks?: FactKey | undefined
}

export interface Check<F extends Facts = Facts> {
  readonly name: string
  judge(facts: F): Steps<readonly Block[]>
  /** The keys that it cannot judge on a partial read. */
  readonly concerns?: ((key: Key) => boolean) | undefined
}
