import type { Op } from '../plan/change.ts'
import type { Refusals } from '../store/refusals.ts'

/** After so many changes that were refused in a row, the others are tried one by one. */
export const REFUSED_IN_ROW = 4
/** So many changes are tried one by one; when all of them are refused, the run stops. */
const MOST_PROBES = 20

/**
 * How the other changes of a run are tried after some were refused with 403: `together` as usual, `one-by-one` to find
 * out whether the service accepts anything, or not at all, because the token or its rights are wrong.
 */
export function howToGoOn({ inRow, probes }: Refusals): 'together' | 'one-by-one' | 'stop' {
  if (inRow < REFUSED_IN_ROW) return 'together'
  return probes < MOST_PROBES ? 'one-by-one' : 'stop'
}

const NOBODY = 'Nobody was put into quarantine for it; the next run tries them again.'

/** Why a run stops; `answer` is what the service said of the last change that it refused. */
export function refusedInRow(inRow: number, answer: string): string {
  return (
    `The service refused ${inRow} changes in a row with 403 and accepted none between them, so the token or its rights ` +
    `are wrong, not the entries. ${answer} ${NOBODY}`
  )
}

/** Why a run stops in which no change of an operation was accepted. */
export function neverAccepted(op: Op, answer: string): string {
  return `The service answered 403 and accepted no ${op} in this run, so the token may lack the scope. ${answer} ${NOBODY}`
}
