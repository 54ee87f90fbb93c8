import type { Fact } from '../../../../src/core/facts.ts'
import type { NoticeParams } from '../../../../src/core/notice.ts'
import type { Op } from '../../../../src/core/plan/change.ts'

/** A change that the service does not take. */
export type Refusal = Fact<Pick<NoticeParams, 'quarantined' | 'does-not-converge'>> & {
  readonly op: Op
  readonly id: string
  /** Of the change: with another value it is tried again at once. */
  readonly digest: string
}
