import type { Kind } from '../entries/entry.ts'
import { deleteOf, wholeOf } from '../keys.ts'
import type { RunFacts } from './run-facts.ts'

/** Blocks that keep an absent entry for another reason than that its delete is not due, or not proved yet. */
const KEPT_FOR_ANOTHER_REASON: ReadonlySet<string> = new Set([
  'policy',
  'protected',
  'unreadable',
  'seen-again',
  'rejected',
])

/** Whether an absent entry will be deleted once what blocks it ends. */
export function isDeletedLater({ blocks }: RunFacts, kind: Kind, id: string): boolean {
  const key = deleteOf(kind, id)
  const whole = wholeOf(key)
  return !blocks.some(
    ({ code, keys }) => KEPT_FOR_ANOTHER_REASON.has(code) && (keys.has(key) || keys.has(whole)),
  )
}
