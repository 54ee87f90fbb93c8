import type { RefusedOp } from './refused-changes.ts'

/**
 * The 403 answers to the changes of a run since the last success. A change that was sent before another one was refused
 * is no success after it.
 */
export interface Refusals {
  /** How many changes were refused for the first time. */
  readonly inRow: number
  /** How often a change was refused that was tried alone. */
  readonly probes: number
}

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

const TRIED_AGAIN = 'These changes were not put into quarantine; the next run tries them again.'
const ONE_TRIED_AGAIN = 'This change was not put into quarantine; the next run tries it again.'

/** Why a run stops; `answer` is what the service said of the last change that it refused. */
export function refusedInRow(inRow: number, answer: string): string {
  return (
    `The service refused ${inRow} changes in a row with 403 and accepted none between them, so the token or its rights ` +
    `are wrong, or a proxy refuses, and it is not about the entries. ${answer} ${TRIED_AGAIN}`
  )
}

/** Why a run stops in which no change of an operation was accepted. */
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
