import type { Kind } from '../directory/entry.ts'
import type { Notice } from '../directory/snapshot.ts'
import type { Change, Op } from '../plan/change.ts'
import type { PlannedChange } from '../plan/changes.ts'
import type { LaterAttempt } from '../plan/undo/later-attempts.ts'
import type { FencedRun } from './fenced-run.ts'
import { DONE, type Ram } from './ram.ts'
import type { ChangeState } from './run-types.ts'

export interface DoneChange {
  readonly change: Change
  readonly wasThere: boolean
}

export async function storePlan(
  fenced: FencedRun,
  { changes }: { readonly changes: Iterable<PlannedChange> },
  approved: ReadonlySet<string>,
): Promise<void> {
  await fenced.write(async (ram, run) => {
    const rows = ram.rowsOf(run.run)
    ram.changes.set(run.run, rows)
    for (const planned of changes) {
      const { change, fingerprint } = planned
      rows.push({
        ...planned,
        op: change.op,
        entry_id: change.id,
        approved: approved.has(fingerprint),
        state: 'pending',
        refusals: 0,
        wasThere: false,
        unsure: false,
        createdBefore: false,
      })
    }
    run.storedChanges = rows.length
    const isUnknown = new Set(
      ram
        .recentWrites()
        .flatMap(({ outcome, op, entry_id: id }) => (outcome === 'unknown' ? [entryOf(op, id)] : [])),
    )
    if (isUnknown.size > 0)
      for (const row of rows) row.unsure ||= isUnknown.has(entryOf(row.op, row.entry_id))
  })
}

function entryOf(op: Op, id: string): string {
  return `${op.endsWith('-user') ? 'user' : 'group'} ${id}`
}

export async function storeNotices(
  ram: Ram,
  run: number,
  notices: readonly Notice[],
  _start: number,
): Promise<void> {
  ram.notices.set(run, [...(ram.notices.get(run) ?? []), ...notices])
}

/** Only apply stores notices about lists. */
export async function listNotices(_ram: Ram, _run: number): Promise<readonly Notice[]> {
  return []
}

export async function refusedInLastRun(ram: Ram, _of: unknown, _ids?: unknown): Promise<ReadonlySet<string>> {
  const last = ram.runs.findLast(
    ({ mode, only_entries, state, storedChanges }) =>
      mode === 'sync' &&
      only_entries === null &&
      (state === 'done' || state === 'failed') &&
      storedChanges > 0,
  )
  const refused = (last === undefined ? [] : ram.rowsOf(last.run)).filter(
    ({ state, refusals, op }) =>
      (state === 'pending' || state === 'unknown') &&
      refusals > 0 &&
      (op === 'update-user' || op === 'delete-user'),
  )
  return new Set(refused.map(({ entry_id: id }) => id))
}

export async function unfinishedChanges(ram: Ram, run: number) {
  const rows = ram.rowsOf(run).filter(({ state }) => !DONE.has(state))
  return rows.map(({ op, entry_id: id, fingerprint }) => ({ op, id, fingerprint }))
}

export async function outcomesAtEnd(ram: Ram, run: number): Promise<Partial<Record<ChangeState, number>>> {
  const outcomes: Partial<Record<ChangeState, number>> = {}
  for (const { state } of ram.rowsOf(run)) {
    const end = state === 'pending' ? 'dropped' : state
    outcomes[end] = (outcomes[end] ?? 0) + 1
  }
  return outcomes
}

export async function countThereBefore(ram: Ram, run: number): Promise<Record<Kind, number>> {
  const count = (wanted: Op) => ram.rowsOf(run).filter(({ op, wasThere }) => op === wanted && wasThere).length
  return { user: count('create-user'), group: count('create-group') }
}

const MAY_HAVE_CHANGED: ReadonlySet<ChangeState> = new Set(['applied', 'found', 'unknown'])

export async function* doneChanges(ram: Ram, run: number): AsyncGenerator<readonly DoneChange[], undefined> {
  yield ram.rowsOf(run).filter(({ state }) => MAY_HAVE_CHANGED.has(state))
  return undefined
}

export async function laterAttempts(ram: Ram, run: number): Promise<readonly LaterAttempt[]> {
  const first = ram.journal.find((write) => write.run === run)
  if (first === undefined) return []
  return ram.journal.flatMap(({ run: by, op, entry_id: id, at, outcome }) => {
    const isCreate = op.startsWith('create-')
    const mayBeDone = DONE.has(outcome) || (isCreate && outcome === 'unknown')
    if (by === run || at <= first.at || !mayBeDone || !(isCreate || op.startsWith('delete-'))) return []
    const kind = op.slice(7) as Kind
    return [
      { kind, id, run: by, does: isCreate ? 'create' : 'delete', undoes: ram.run(by).undo?.run ?? null },
    ]
  })
}
