import type { FactsOf } from '../block.ts'
import type { Kind } from '../entries/entry.ts'
import type { Absence, RunFacts } from './check.ts'

/** Until when an absent entry stays, or for how many more reads. */
type Delay = FactsOf<'grace'>

/** How long a second read has to lack the entry. `undefined` where enough reads lacked the entry. */
export function untilConfirmed(
  { confirmAfterMs: ms }: RunFacts['grace'],
  { since, reads }: Absence,
  now: Date,
): Delay | undefined {
  if (ms === undefined || (reads > 0 && now.getTime() - since.getTime() >= ms)) return undefined
  return { since: since.toISOString(), until: after(since, ms) }
}

/** `undefined` where the grace period is over. */
export function untilDue(
  { deleteAfter }: RunFacts['grace'],
  kind: Kind,
  { since, reads }: Absence,
  now: Date,
): Delay | undefined {
  const rule = deleteAfter[kind]
  if (rule === undefined) return undefined
  if ('runs' in rule) {
    const missing = rule.runs - reads - 1
    return missing <= 0 ? undefined : { since: since.toISOString(), reads: missing }
  }
  if (now.getTime() - since.getTime() >= rule.ms) return undefined
  return { since: since.toISOString(), until: after(since, rule.ms) }
}

function after(since: Date, ms: number): string {
  return new Date(since.getTime() + ms).toISOString()
}
