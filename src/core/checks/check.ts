import type { Block } from '../block.ts'
import type { Decisions } from '../decisions.ts'
import type { Differences } from '../diff/differences.ts'
import type { Left } from '../without.ts'
import type { Steps } from '../../base/steps.ts'
import type { BlockedKeys, Field } from '../keys.ts'
import type { Kind } from '../entries/entry.ts'
import type { States } from './states.ts'

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

/** What a tier of checks sees. */
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
  /** What would be left without the stop. */
  readonly waiting: Left
}
