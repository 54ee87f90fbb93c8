import type { Kind } from '../directory/entry.ts'
import { amount, pointInTime } from '../directory/wording.ts'
import type { DeleteWait } from './inputs.ts'

/** For how long, or in how many good reads, an entry must be absent before it is deleted. */
export type DeleteAfter = { readonly ms: number } | { readonly runs: number }

/** Since when an entry is absent, and in how many good reads before this one. */
export interface Absence {
  readonly since: Date
  readonly reads: number
}

/** The absent entries by id. */
export type Absences = Readonly<Record<Kind, ReadonlyMap<string, Absence>>>

export interface Grace {
  /** Left out: deleted at once. */
  readonly deleteAfter: Readonly<Partial<Record<Kind, DeleteAfter>>>
  /**
   * For servers that do not show how new their data is: an absence counts only when two good reads found it that are
   * this many milliseconds apart.
   */
  readonly confirmAfterMs: number
  /** Whether one address may lead to several servers, so that every absence needs a second read. */
  readonly hidesServers: boolean
}

/** The rules of one run. `confirmAfterMs` is set where this run's deletes need a second read that confirms them. */
export interface GraceRule extends Pick<Grace, 'deleteAfter'> {
  readonly confirmAfterMs: number | undefined
}

/** Why the delete of an absent entry waits, and until when; `undefined` when its time has come. */
export function whyDeleteWaits(
  { deleteAfter, confirmAfterMs }: GraceRule,
  absences: Absences,
  now: Date,
  kind: Kind,
  id: string,
): DeleteWait | undefined {
  const { since, reads } = absences[kind].get(id) ?? { since: now, reads: 0 }
  const absentFor = now.getTime() - since.getTime()
  if (confirmAfterMs !== undefined && (reads === 0 || absentFor < confirmAfterMs)) {
    const detail =
      `absent since ${inWords(since)}; deleted if a read after ${inWords(since, confirmAfterMs)} does not ` +
      'find it either, because the server does not show how new its data is'
    return { code: 'unproved', detail }
  }
  const rule = deleteAfter[kind]
  if (rule === undefined) return undefined
  const begun = `absent since ${inWords(since)}; deleted`
  if ('runs' in rule) {
    const missing = rule.runs - reads - 1
    if (missing <= 0) return undefined
    return {
      code: 'in-grace',
      detail: `${begun} if ${amount(missing, 'more run')} in a row ${missing === 1 ? 'does' : 'do'} not find it`,
    }
  }
  if (absentFor >= rule.ms) return undefined
  return { code: 'in-grace', detail: `${begun} after ${inWords(since, rule.ms)}` }
}

function inWords(since: Date, afterMs = 0): string {
  return pointInTime(new Date(since.getTime() + afterMs).toISOString())
}
