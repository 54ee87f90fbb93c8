import type { Kind } from '../directory/entry.ts'
import type { Change } from '../plan/change.ts'
import { DONE, type Ram, type Row } from './ram.ts'
import type { RunRecord } from './runs.ts'

export type Unjudged = 'all' | Readonly<Record<Kind, readonly string[]>>

function formsIn(ram: Ram, { wish, change }: Row): readonly string[] {
  return [...(wish === undefined ? [] : [wish]), ...ram.core.partFingerprints(change)]
}

export function formsOf(ram: Ram, run: number, prints: readonly string[]): readonly string[] {
  const some = new Set(prints)
  return ram.rowsOf(run).flatMap((row) => (some.has(row.fingerprint) ? formsIn(ram, row) : []))
}

/** An approved change takes its rejected parts with it; other forms lose an earlier decision. */
export function approveForms(ram: Ram, run: number, prints: readonly string[], by: string): void {
  for (const form of formsOf(ram, run, prints)) {
    const before = ram.decisions.get(form)
    if (before === undefined || before.decision === 'approved') continue
    if (before.run === run && before.decision === 'rejected')
      ram.decisions.set(form, { decision: 'approved', run, by })
    else if (before.decision === 'left-out' || before.run < run) ram.decisions.delete(form)
  }
}

export async function forgetOtherDecisions(
  ram: Ram,
  _of: unknown,
  wanted: readonly string[],
  unjudged: () => Unjudged,
  stillAsked: (change: Change) => readonly string[],
): Promise<void> {
  const want = new Set(wanted)
  const others = [...ram.decisions].filter(([print]) => !want.has(print))
  const refusing = others.filter(([, { decision }]) => decision !== 'approved')
  const runs = [...new Set(refusing.map(([, { run }]) => run))]
  const ids = runs.length === 0 ? { user: [], group: [] } : unjudged()
  const kept = ids === 'all' ? [] : runs.flatMap((run) => keptOf(ram, run, ids, stillAsked))
  const stays = new Set(ids === 'all' ? refusing.map(([print]) => print) : kept)
  for (const [print, { decision }] of others)
    if (decision === 'approved' || !stays.has(print)) ram.decisions.delete(print)
}

/** The fingerprints of a run's changes that a run could not judge, or whose decision is still asked for. */
function keptOf(
  ram: Ram,
  run: number,
  ids: Exclude<Unjudged, 'all'>,
  stillAsked: (change: Change) => readonly string[],
): readonly string[] {
  const users = new Set(ids.user)
  const groups = new Set(ids.group)
  const isUnjudged = ({ op, entry_id: id, change }: Row): boolean => {
    if (op.endsWith('-user')) return users.has(id)
    const members = change.op === 'set-members' ? [...change.have, ...change.want] : []
    return groups.has(id) || members.some((member) => users.has(member))
  }
  return ram.rowsOf(run).flatMap((row) => {
    const decided = ram.decisions.get(row.fingerprint)
    const isRefused = decided?.run === run && decided.decision !== 'approved'
    const asked = isRefused ? stillAsked(row.change) : []
    const wish = asked.length === 0 || row.wish === undefined ? [] : [row.wish]
    const own = isUnjudged(row) ? [row.fingerprint, ...formsIn(ram, row)] : []
    return [...own, ...asked, ...wish]
  })
}

export async function spendApprovals(ram: Ram, { run }: RunRecord): Promise<void> {
  for (const { state, fingerprint } of ram.rowsOf(run))
    if (DONE.has(state) && ram.decisions.get(fingerprint)?.decision === 'approved')
      ram.decisions.delete(fingerprint)
}

/** An undo takes back what was approved for its run, also where the run did not do it. */
export function takeBackApprovals(ram: Ram, { run, approval_of: hold }: RunRecord): void {
  const prints = new Set(ram.rowsOf(run).map(({ fingerprint }) => fingerprint))
  for (const [print, decided] of ram.decisions)
    if (decided.decision === 'approved' && (decided.run === hold || prints.has(print)))
      ram.decisions.delete(print)
}
