import type { Kind } from '../directory/entry.ts'
import type { Guarded } from '../plan/guards.ts'
import type { Ram } from './ram.ts'
import type { ChangeState } from './run-types.ts'

const MAY_BE_DONE: ReadonlySet<ChangeState> = new Set(['applied', 'found', 'unknown'])

export async function deletedLastDay(ram: Ram, _of: unknown): Promise<Readonly<Record<Guarded, number>>> {
  const counts = { users: 0, groups: 0, memberships: 0 }
  const isTriedAgain = (print: string, at: number) =>
    ram.journal.some((each) => each.fingerprint === print && MAY_BE_DONE.has(each.outcome) && each.at > at)
  for (const { op, fingerprint, outcome, removes, approved, at } of ram.recentWrites()) {
    if (removes === 0 || approved || !MAY_BE_DONE.has(outcome)) continue
    if (outcome !== 'unknown' || !isTriedAgain(fingerprint, at)) counts[ram.core.GUARDED[op]] += removes
  }
  return counts
}

export async function deletedIdsLastDay(
  ram: Ram,
  _of: unknown,
): Promise<Readonly<Record<Kind, ReadonlySet<string>>>> {
  const deleted = { user: new Set<string>(), group: new Set<string>() }
  for (const { op, entry_id: id, outcome } of ram.recentWrites())
    if (op.startsWith('delete-') && (MAY_BE_DONE.has(outcome) || outcome === 'already'))
      deleted[op.slice(7) as Kind].add(id)
  return deleted
}
