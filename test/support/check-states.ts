import type { Kysely } from 'kysely'
import type { Absence, States } from '../../src/core/checks/check.ts'
import { loadStates, packStates } from '../../src/store/check-states.ts'
import type { SyncTarget } from '../../src/store/run-types.ts'
import type { Tables } from '../../src/store/tables.ts'

/** Changes what checks keep for the next run. */
export async function changeStates(
  db: Kysely<Tables>,
  of: SyncTarget,
  change: (states: States) => Partial<States>,
): Promise<void> {
  await (
    await packStates(change(await loadStates(db, of)))
  )(db, of)
}

/** Entries are absent for so much longer. */
export function absentFor(ms: number): (states: States) => Partial<States> {
  const aged = (absences: ReadonlyMap<string, Absence>) =>
    new Map(
      [...absences].map(([id, { since, reads }]) => [id, { since: new Date(since.getTime() - ms), reads }]),
    )
  return ({ grace }) =>
    grace === undefined ? {} : { grace: { user: aged(grace.user), group: aged(grace.group) } }
}
