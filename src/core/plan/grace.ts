import type { Kind } from '../entries/entry.ts'
import type { DeleteWait } from './inputs.ts'

/** For how long, or in how many good reads, an entry must be absent before it is deleted. */
export type DeleteAfter = { readonly ms: number } | { readonly runs: number }

/** Since when an entry is absent, and in how many good reads before this one. */
export interface Absence {
  readonly since: Date
  readonly reads: number
}

export type Absences = Readonly<Record<Kind, ReadonlyMap<string, Absence>>>

export interface Grace {
  /** Left out: deleted at once. */
  readonly deleteAfter: Readonly<Partial<Record<Kind, DeleteAfter>>>
  /** Without a replication state, an absence counts only when two good reads, so many milliseconds apart, found it. */
  readonly confirmAfterMs: number
  /** Whether one address may lead to several servers, so that every absence needs a second read. */
  readonly hidesServers: boolean
}

/** The rules of one run. `confirmAfterMs` is set where this run's deletes need a second read. */
export interface GraceRule extends Pick<Grace, 'deleteAfter'> {
  readonly confirmAfterMs: number | undefined
}

/** `undefined` when the delete is due. */
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
    const params = { since: since.toISOString(), after: after(since, confirmAfterMs) }
    return { code: 'unproved', params: { wait: { code: 'absence-unconfirmed', params } } }
  }
  const rule = deleteAfter[kind]
  if (rule === undefined) return undefined
  if ('runs' in rule) {
    const missing = rule.runs - reads - 1
    if (missing <= 0) return undefined
    return { code: 'in-grace', params: { since: since.toISOString(), reads: missing } }
  }
  if (absentFor >= rule.ms) return undefined
  return { code: 'in-grace', params: { since: since.toISOString(), until: after(since, rule.ms) } }
}

function after(since: Date, ms: number): string {
  return new Date(since.getTime() + ms).toISOString()
}
