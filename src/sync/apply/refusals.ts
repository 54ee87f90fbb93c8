import type { RefusedOp } from './refused-changes.ts'

/** The 403 answers of a run since the last success. A success that was sent before a refusal does not count. */
export interface Refusals {
  /** Changes that were refused for the first time. */
  readonly inRow: number
  /** Refusals of changes that were sent alone. */
  readonly probes: number
}

/** After so many refused changes in a row, the others are sent one by one. */
export const REFUSED_IN_ROW = 4
/** So many changes are sent one by one; when all of them are refused, the run stops. */
const MOST_PROBES = 20

/**
 * How the other changes of a run are sent after refusals with 403: `together` as usual; `one-by-one` to find out
 * whether the service accepts any; `stop` because the token or its rights are wrong.
 */
export function howToGoOn({ inRow, probes }: Refusals): 'together' | 'one-by-one' | 'stop' {
  if (inRow < REFUSED_IN_ROW) return 'together'
  return probes < MOST_PROBES ? 'one-by-one' : 'stop'
}

const TRIED_AGAIN = 'These changes were not put into quarantine; the next run tries them again.'
const ONE_TRIED_AGAIN = 'This change was not put into quarantine; the next run tries it again.'

/** `answer` is that of the service to the last refused change. */
export function refusedInRow(inRow: number, answer: string): string {
  return (
    `The service refused ${inRow} changes in a row with 403 and accepted none between them, so the token or its rights ` +
    `are wrong, or a proxy refuses, and it is not about the entries. ${answer} ${TRIED_AGAIN}`
  )
}

export function neverAccepted(
  { op, changes, id, answer }: RefusedOp,
  { acceptedOthers }: { readonly acceptedOthers: boolean },
): string {
  const isOne = changes === 1
  const what = isOne ? `${op} of "${id}"` : `${changes} changes of the kind ${op}`
  const others = acceptedOthers
    ? ', although it accepted other changes in this run'
    : ', nor any other change in this run'
  const list = `entries.${op.endsWith('-user') ? 'users' : 'groups'}.${op.startsWith('delete-') ? 'protected' : 'exclude'}`
  return (
    `The service refused ${what} with 403 and accepted ${isOne ? 'no other' : 'none'} of this kind${others}. The ` +
    `token may not do this, or a proxy does not let it through, or the service protects ` +
    `${isOne ? 'the entry' : 'the entries'}: then put ${isOne ? 'the id' : 'the ids'} on the list ${list} of the sync. ` +
    `${answer} ${isOne ? ONE_TRIED_AGAIN : TRIED_AGAIN}`
  )
}
