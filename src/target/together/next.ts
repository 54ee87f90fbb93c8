import type { ApiError } from '../../api/client/api-error.ts'
import type { Create } from '../../core/plan/batches.ts'

/**
 * What follows after a batch that was not answered with 2xx:
 *
 * - `share`: every entry failed
 * - `look`: the outcome is unknown, so each entry is looked up, and none is sent again now
 * - `look-and-go-on`: some entries existed before, and the service created none
 * - `look-at-ends`: the service refused an entry or the batch, and may have created some entries
 * - `halve`: the same, and it created none
 */
export type Next = 'share' | 'look' | 'look-and-go-on' | 'look-at-ends' | 'halve'

/** With these statuses the service refuses a request without reading it. */
const UNREAD: ReadonlySet<number | undefined> = new Set([undefined, 404, 413, 414, 415, 431])

/** `looked`: each entry was looked up in this attempt, and does not exist. */
export function nextAfter({ kind, status, maybeDone }: ApiError, looked: boolean): Next {
  if (kind === 'aborted' || kind === 'closed') return 'share'
  if (maybeDone) return 'look'
  if (kind === 'conflict') return looked ? 'look-at-ends' : 'look-and-go-on'
  if (kind !== 'refused' && kind !== 'not-found') return 'share'
  return UNREAD.has(status) ? 'halve' : 'look-at-ends'
}

export interface List {
  readonly changes: readonly Create[]
  /** Each was looked up in this attempt, and does not exist. */
  readonly looked: boolean
}

/** The second half first, for a stack. */
export function halvesOf({ changes, looked }: List): readonly List[] {
  const half = Math.ceil(changes.length / 2)
  return [
    { changes: changes.slice(half), looked },
    { changes: changes.slice(0, half), looked },
  ]
}
