import { type Kysely, sql } from 'kysely'
import { amount } from '../base/wording.ts'
import { DirsyncdError } from '../base/errors.ts'
import { inTurns } from '../base/turns.ts'
import { chosenKeys, decided } from '../core/decide.ts'
import { leaseHolder } from '../store/lease.ts'
import { addDecision, countOpen, loadLedger, lockLedger, originOf } from '../store/ledgers.ts'
import { hasPart } from '../store/undoable.ts'
import { pauseSync } from '../store/paused-syncs.ts'
import { countChanges } from '../store/change-list.ts'
import { addRun, findRun, type RunRecord } from '../store/runs.ts'
import type { Tables } from '../store/tables.ts'
import type { UndoRequest } from './control.ts'
import { requireSameTarget } from './same-target.ts'
import { total } from './total.ts'

type Db = Kysely<Tables>

export interface UndoDeps {
  readonly db: Db
  readonly targets: ReadonlyMap<string, string>
  /** Ends the runs of dead processes, where no daemon does. */
  readonly endInterrupted?: ((sync: string) => Promise<void>) | undefined
}

/** Pauses the sync, except in mode `plan`. Throws `run-unknown` without anything to undo, or during a run. */
export async function addUndo(
  { db, targets, endInterrupted }: UndoDeps,
  { run: number, part, mode, by }: UndoRequest,
): Promise<{ readonly run: number; readonly sync: string }> {
  const asked = await findRun(db, number)
  if (asked !== undefined) await endInterrupted?.(asked.sync)
  const run = asked && (await findRun(db, number))
  if (run === undefined)
    throw refusal(`There is no run ${number}, or its history is not kept any more; see \`dirsyncd runs\`.`)
  requireSameTarget(run, targets, 'be undone')
  await requireIdle(db, run)
  await requireKeptChanges(db, run)
  if (!(await hasPart(db, number, part)))
    throw new DirsyncdError(
      'usage',
      `Run ${number} has no such change; dirsyncd runs ${number} --all shows them.`,
    )
  const { sync, target } = run
  if (mode === 'sync') {
    await pauseSync(db, { sync, by, reason: `undo of run ${number}` })
    await withdrawApprovals(db, run, by)
  }
  const added = await addRun(db, { sync, target, mode, trigger: 'demand', undo: { run: number, part } })
  return { run: added, sync }
}

/** The undo of a run ends the approvals that were given for it, unused ones too. */
async function withdrawApprovals(db: Db, undone: RunRecord, by: string): Promise<void> {
  const { run: started, sync, target } = undone
  const of = { sync, target, origin: originOf(undone) }
  const { rows } = await sql<{ run: number }>`SELECT DISTINCT run FROM dirsyncd.decisions
    WHERE (started = ${started} OR run = ${started}) AND does = 'approve' AND sync = ${sync} AND origin = ${of.origin}`.execute(
    db,
  )
  for (const { run } of rows)
    await db.transaction().execute(async (trx) => {
      await lockLedger(trx, of)
      const decision = { run, does: 'withdraw', selection: {}, by, reason: `undo of run ${started}` } as const
      const at = new Date()
      const { ledger } = await loadLedger(trx, of)
      const chosen = await inTurns(chosenKeys(ledger, decision, { run, codes: new Map(), waiting: [] }))
      if (chosen.size === 0) return
      const open = await countOpen(await inTurns(decided(ledger, { ...decision, at }, chosen)))
      await addDecision(trx, of, decision, { keys: chosen.size, open })
    })
}

/** Values of recreated entries that no request of the API can set. */
export function lostFor({ undo, counts }: Pick<RunRecord, 'undo' | 'counts'>): readonly string[] {
  if (undo === null) return []
  const count = (op: 'create-user' | 'create-group') =>
    (counts?.planned[op] ?? 0) + (counts?.blocked[op] ?? 0)
  const [users, groups] = [count('create-user'), count('create-group')]
  return [
    users > 0 &&
      `${amount(users, 'user')}: the numeric id (a new one is given), employee_id, subscriptions, and whatever else hung on the old account`,
    groups > 0 && `${amount(groups, 'group')}: what else hung on the old group than its name and members`,
  ].filter((line) => line !== false)
}

export function mayHaveChanged({ mode, counts }: Pick<RunRecord, 'mode' | 'counts'>): boolean {
  const { applied = 0, found = 0, unknown = 0 } = counts?.outcomes ?? {}
  return mode === 'sync' && applied + found + unknown > 0
}

/** Throws where the run applied nothing, or where some of its changes are no longer stored. */
async function requireKeptChanges(db: Db, run: RunRecord): Promise<void> {
  if (run.finished_at === null)
    throw refusal(`Run ${run.run} cannot be undone before it has ended; it is ${run.state}.`)
  const { planned = {} } = run.counts ?? {}
  if (!mayHaveChanged(run)) throw refusal(`Run ${run.run} changed nothing, so there is nothing to undo.`)
  const all = total(planned)
  const kept = await countChanges(db, { run: run.run, blocked_in: null })
  if (kept >= all) return
  throw refusal(
    `Run ${run.run} cannot be undone: of its ${amount(all, 'change')} only ${amount(kept, 'change')} are kept; ` +
      'the option retention says how much of the past is.',
  )
}

async function requireIdle(db: Db, { run, sync }: RunRecord): Promise<void> {
  const holder = await leaseHolder(db, sync)
  if (holder?.run === undefined) return
  throw new DirsyncdError(
    'run-unknown',
    `Run ${run} cannot be undone while run ${holder.run} of ${sync} is under way; wait for its end, or end it with dirsyncd pause ${sync}.`,
  )
}

function refusal(sentence: string): DirsyncdError {
  return new DirsyncdError('run-unknown', sentence)
}
