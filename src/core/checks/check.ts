import type { Steps } from '../../base/steps.ts'
import type { BlockedKeys, FactKey, Field, Key } from '../keys.ts'
import type { Facts } from '../judge.ts'

/**
 * What ends a block: an operator's decision, time, a better read of the source, another configuration, or the service.
 * An approval lifts only the first two.
 */
export type Until = 'decision' | 'time' | 'read' | 'configuration' | 'service'

/** Why changes are not made now. */
export interface Block {
  readonly code: string
  readonly params?: unknown
  /** What is true of one key alone, such as until when it waits. */
  readonly of?: ((key: Key) => unknown) | undefined
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
  /** The fields of the keys that it cannot judge on a partial read. */
  readonly concerns?: readonly Field[] | undefined
}
