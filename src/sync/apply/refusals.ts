import type { Op } from '../../core/plan/change.ts'

/** Answers 403 in a row, with no success between them, that are about the token or its rights, and stop the run. */
export const REFUSED_IN_ROW = 20

export interface RefusedOp {
  readonly op: Op
  readonly changes: number
  readonly id: string
  readonly answer: string
}

const TRIED_AGAIN = 'These changes were not put into quarantine; the next run tries them again.'
const ONE_TRIED_AGAIN = 'This change was not put into quarantine; the next run tries it again.'

/** `answer` is that of the service to the last refused change. */
export function manyRefused(inRow: number, answer: string): string {
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
