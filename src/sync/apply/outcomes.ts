import { sql } from 'kysely'
import { isAway } from '../../base/database/outage.ts'
import type { ErrorCode } from '../../base/errors.ts'
import type { VerificationResult } from '../../core/plan/verification.ts'
import type { Op } from '../../core/plan/change.ts'
import type { Times } from '../../queue/times.ts'
import { storeVerdict } from '../../store/verifications.ts'
import { type Fenced, type FencedRun, type LockedRun, Overtaken } from '../../store/fenced-run.ts'
import type { ChangeState } from '../../store/run-types.ts'
import { storeBatchNotice } from '../../store/plans.ts'
import { NAME_OF_CHANGE } from '../../store/quarantine.ts'
import { stopRun } from '../../store/runs.ts'
import { storable, storableJson } from '../../store/storable.ts'
import { forgetOutages, pauseFor, pauseForOutage, pauseOf } from '../../store/pause.ts'
import { manyRefused, REFUSED_IN_ROW } from './refused-changes.ts'
import { allowRemovals, MOST_REFUSALS } from './stage.ts'

export interface Settled {
  readonly number: number
  /** `pending` where the change is retried. */
  readonly state: Exclude<ChangeState, 'dropped' | 'unknown'>
  readonly attempts: number
  readonly refusals: number
  /** This attempt was refused with 403, and the reason is not decided. */
  readonly isRefusal?: boolean
  /** In the retry stage, now or before. */
  readonly retry: boolean
  readonly unsure: boolean
  /** The delay before the retry, in milliseconds. */
  readonly waitMs?: number
  readonly status?: number | undefined
  readonly requests?: number
  /** One sentence without personal data beyond the entry's own. */
  readonly detail?: string
  readonly wasThere?: boolean
}

interface Stop {
  readonly code: ErrorCode
  readonly detail: string
  /** The operation whose batches failed: its next changes are read back again. */
  readonly failed?: Op
}

/** What the answers to changes mean for the run and the target. */
export interface Findings {
  stop?: Stop | undefined
  pause?: { readonly why: 'limited'; readonly ms: number } | { readonly why: 'outage' } | undefined
  answers?: true
  notice?: VerificationResult['notices'][number]
}

interface Flush {
  readonly chunk: string
  readonly worker: string
  readonly retry: boolean
  readonly settled: readonly Settled[]
  readonly findings: Findings
  /** No request of the chunk is in flight any more. */
  readonly isLast: boolean
  readonly times: Pick<Times, 'outage' | 'limited'>
}

/** Another process took the worker for dead and gave its changes to other workers, which find out the outcomes. */
export class Reclaimed extends Error {
  override readonly name = 'Reclaimed'
}

/** Another process has the run or the chunk, or the store is away: no fault of what was written. */
export function isPassing(error: unknown): boolean {
  return error instanceof Overtaken || error instanceof Reclaimed || isAway(error)
}

/**
 * Writes a group of outcomes in one transaction: states, journal, quarantine, counters. Returns the state after it;
 * `written` lacks the changes whose outcomes the store already had. Throws `Overtaken` or `Reclaimed` without having written anything.
 */
export async function flush(fenced: FencedRun, group: Flush) {
  return fenced.write(async (trx, run) => {
    const intentAt = await beat(trx, group.chunk)
    const written = await journal(trx, fenced.run, run, { ...group, intentAt })
    const refusedInRow = await count(trx, fenced.run, { ...group, settled: written })
    const stop = group.findings.stop ?? tooManyRefusals(refusedInRow, written)
    await report(trx, fenced.run, run, { ...group, findings: { ...group.findings, stop } })
    if (group.isLast) await trx.deleteFrom('dirsyncd.chunks').where('chunk', '=', group.chunk).execute()
    const isStopped = stop !== undefined || run.stop_code !== null
    return { isStopped, refusedInRow, written, pause: await pauseOf(trx, run.target) }
  })
}

async function beat(trx: Fenced, chunk: string): Promise<Date> {
  const row = await trx
    .updateTable('dirsyncd.chunks')
    .set({ heartbeats: sql<number>`heartbeats + 1` })
    .where('chunk', '=', chunk)
    .returning('intent_at')
    .executeTakeFirst()
  if (row === undefined) throw new Reclaimed(`chunk ${chunk}`)
  return row.intent_at
}

/** Returns what it wrote, without the changes whose outcomes the store already had. */
async function journal(
  trx: Fenced,
  run: number,
  { sync, target }: LockedRun,
  { chunk, worker, settled, intentAt }: Flush & { readonly intentAt: Date },
): Promise<readonly Settled[]> {
  if (settled.length === 0) return []
  const outcomes = Object.fromEntries(
    settled.map(({ number, detail, ...row }) => [
      number,
      { ...row, detail: detail === undefined ? null : storable(detail) },
    ]),
  )
  const numbers = settled.map(({ number }) => number)
  // Each row looks its outcome up by its number. PostgreSQL has no statistics yet of a chunk that was just claimed,
  // takes it for one row, and would join each row with all outcomes.
  const { rows: written } = await sql<{ number: number }>`WITH told AS (
      SELECT ${storableJson(outcomes)}::jsonb AS outcomes
    ), done AS (
      UPDATE dirsyncd.changes AS c
      SET (state, attempts, refusals, retry, unsure, next_at, status, detail, was_there, chunk) = (
        SELECT s.state, s.attempts, s.refusals, s.retry, s.unsure,
          clock_timestamp() + s."waitMs" * interval '1 millisecond', s.status, s.detail,
          COALESCE(s."wasThere", false), NULL::bigint
        FROM jsonb_to_record(told.outcomes -> c.number::text) AS s(state text, attempts int, refusals int,
          retry boolean, unsure boolean, "waitMs" float8, status int, detail text, "wasThere" boolean))
      FROM told WHERE c.run = ${run} AND c.number BETWEEN ${Math.min(...numbers)} AND ${Math.max(...numbers)}
        AND c.chunk = ${chunk} AND told.outcomes ? c.number::text
      RETURNING c.*, (told.outcomes -> c.number::text ->> 'requests')::int AS requests
    ), quarantined AS (
      INSERT INTO dirsyncd.quarantine (sync, target, fingerprint, op, entry_id, name, params)
      SELECT DISTINCT ON (fingerprint) ${sync}, ${target}, fingerprint, op, entry_id, ${NAME_OF_CHANGE},
        jsonb_build_object('answer', COALESCE(detail, ''))
      FROM done WHERE state = 'quarantined'
      ON CONFLICT (sync, target, fingerprint) DO UPDATE
      SET code = 'quarantined', name = EXCLUDED.name, params = EXCLUDED.params, tried_at = now()
    ), journaled AS (
      INSERT INTO dirsyncd.journal (run, number, sync, target, op, entry_id, fingerprint, attempt, worker, before,
        removes, intent_at, outcome, status, requests, detail, approved_by)
      SELECT ${run}, number, ${sync}, ${target}, op, entry_id, fingerprint, attempts, ${worker}, change -> 'have',
        removes, ${intentAt}, state, status, requests, detail, approved_by
      FROM done WHERE state <> 'pending'
    )
    SELECT number FROM done`.execute(trx)
  const stored = new Set(written.map(({ number }) => number))
  return settled.filter(({ number }) => stored.has(number))
}

/** Returns the answers 403 in a row. */
async function count(
  trx: Fenced,
  run: number,
  { settled, retry }: Pick<Flush, 'settled' | 'retry'>,
): Promise<number> {
  const ended: Record<string, number> = {}
  let left = 0
  for (const { state, ...change } of settled) {
    if (state !== 'pending') ended[state] = (ended[state] ?? 0) + 1
    if (state !== 'pending' || change.retry !== retry || change.refusals >= MOST_REFUSALS) left += 1
  }
  const row = refusedAtEnd(settled)
  const { rows } = await sql<{
    refusedInRow: number
  }>`UPDATE dirsyncd.applying SET pending = pending - ${left},
      refused_in_row = ${row.hasSuccess ? sql`0` : sql`refused_in_row`} + ${row.refused},
      outcomes = outcomes || (SELECT COALESCE(jsonb_object_agg(state, COALESCE((outcomes ->> state)::integer, 0)
        + ended::integer), '{}') FROM jsonb_each_text(${JSON.stringify(ended)}::jsonb) AS ended (state, ended))
    WHERE run = ${run} RETURNING refused_in_row AS "refusedInRow"`.execute(trx)
  return rows[0]?.refusedInRow ?? 0
}

/** The refusals at the end of a group of outcomes, and whether a success precedes them. */
function refusedAtEnd(settled: readonly Settled[]): { refused: number; hasSuccess: boolean } {
  const last = settled.findLastIndex(({ state }) => state === 'applied')
  const refused = settled.slice(last + 1).filter(({ isRefusal }) => isRefusal === true).length
  return { refused, hasSuccess: last >= 0 }
}

function tooManyRefusals(inRow: number, settled: readonly Settled[]): Stop | undefined {
  if (inRow < REFUSED_IN_ROW) return undefined
  const answer = settled.findLast(({ isRefusal }) => isRefusal === true)?.detail ?? ''
  return { code: 'scope-missing', detail: manyRefused(inRow, answer) }
}

async function report(
  trx: Fenced,
  number: number,
  { sync, target }: LockedRun,
  { findings: { stop, pause, answers, notice }, times }: Flush,
): Promise<void> {
  if (stop !== undefined) await stopRun(trx, number, stop.code, stop.detail)
  if (stop?.failed !== undefined)
    await storeVerdict(trx, { sync, target, run: number }, { op: stop.failed, inBatches: true }, 'failed')
  if (notice !== undefined) await storeBatchNotice(trx, number, notice)
  // Entries may come back during an outage.
  if (pause?.why === 'outage') await allowRemovals(trx, number, 0)
  if (answers === true) await forgetOutages(trx, target)
  if (pause?.why === 'limited') await pauseFor(trx, target, Math.min(pause.ms, times.limited.longest))
  const { firstProbe: firstMs, lastProbe: lastMs } = times.outage
  if (pause?.why === 'outage') await pauseForOutage(trx, target, { firstMs, lastMs })
}
