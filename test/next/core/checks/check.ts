import type { Steps } from '../../../../src/base/steps.ts'
import type { BlockedKeys, FactKey, Field, Key } from '../keys.ts'
import type { Kind } from '../../../../src/core/entries/entry.ts'
import type { Facts } from '../judge.ts'
import type { States } from './states.ts'

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

/** When a check says what the next run has to know: with the plan, before the first request, and at the end. */
export type Moment =
  | { readonly at: 'begun' }
  | {
      readonly at: 'end'
      readonly end: 'applied' | 'held' | 'failed'
      /** Ids of the entries that the run deleted. */
      readonly deleted: Readonly<Record<Kind, ReadonlySet<string>>>
    }

export interface Check<F extends Facts = Facts> {
  readonly name: string
  judge(facts: F): Steps<readonly Block[]>
  /** The states to save; what it leaves out stays as it is. */
  next?(facts: F, moment: Moment): Steps<Partial<States>>
  /** The fields of the keys that it cannot judge on a partial read. */
  readonly concerns?: readonly Field[] | undefined
}
