import type { KeyFacts } from '../block.ts'
import type { Fact } from '../facts.ts'
import type { Op } from '../plan/change.ts'

/** The service refused a change for its content, or accepted it twice without effect. */
export type RefusalReason = Fact<Pick<KeyFacts, 'quarantine' | 'not-persisted'>>

/** A change that the service does not take. */
export type Refusal = RefusalReason & {
  readonly op: Op
  readonly id: string
  /** Of the change: with another value it is tried again at once. */
  readonly digest: string
}
