import { type Kysely, sql } from 'kysely'
import type { Op } from '../../core/plan/change.ts'
import type { Fenced, FencedRun } from '../../store/fenced-run.ts'
import { NAME_OF_CHANGE } from '../../store/quarantine.ts'
import { stopRun } from '../../store/runs.ts'
import type { Tables } from '../../store/tables.ts'
import { neverAccepted, type RefusedOp } from './refusals.ts'
import { allWaitingIn, MOST_REFUSALS, type Stage } from './stage.ts'

type Db = Kysely<Tables>

/**
 * Decides about the changes that were refused in both stages. Where the service accepted others of the operation, the
 * refusal is about the content. Otherwise it is about the token, and the run stops.
 */
export async function decideRefused({ db, fenced }: DecideDeps, stage: Stage): Promise<void> {
  const { run } = fenced
  for (const op of await undecidedOps(db, run, stage)) {
    if (await hasSucceeded(db, run, op)) {
      await fenced.write((trx) => quarantineUndecided(trx, run, stage, op))
      continue
    }
    const acceptedOthers = await hasSucceeded(db, run)
    const why = neverAccepted(await refusedOp(db, run, op), { acceptedOthers })
    await fenced.write((trx) => stopRun(trx, run, 'scope-missing', why))
  }
}

interface DecideDeps {
  readonly db: Db
  readonly fenced: FencedRun
}

async function refusedOp(db: Db, run: number, op: Op): Promise<RefusedOp> {
  const row = await db
    .selectFrom('dirsyncd.changes')
    .where('run', '=', run)
    .where('op', '=', op)
    .where('state', '=', 'pending')
    .where('refusals', '>', 0)
    .select(['entry_id', 'detail', ({ fn }) => fn.countAll<string>().over().as('changes')])
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return { op, changes: Number(row?.changes ?? 0), id: row?.entry_id ?? '', answer: row?.detail ?? '' }
}

async function hasSucceeded(db: Db, run: number, op?: Op): Promise<boolean> {
  let query = db
    .selectFrom('dirsyncd.changes')
    .select('number')
    .where('run', '=', run)
    .where('state', '=', 'applied')
  if (op !== undefined) query = query.where('op', '=', op)
  const row = await query.limit(1).executeTakeFirst()
  return row !== undefined
}

/** The operations with changes that were refused twice and wait for the decision. */
async function undecidedOps(db: Db, run: number, stage: Stage): Promise<readonly Op[]> {
  const rows = await allWaitingIn(db, run, stage)
    .select('op')
    .where('refusals', '>=', MOST_REFUSALS)
    .groupBy('op')
    .orderBy('op')
    .execute()
  return rows.map(({ op }) => op)
}

async function quarantineUndecided(trx: Fenced, run: number, stage: Stage, op: Op): Promise<void> {
  await sql`
    WITH refused AS (
      UPDATE dirsyncd.changes SET state = 'quarantined', unsure = false
      WHERE run = ${run} AND phase = ${stage.phase} AND retry = ${stage.retry} AND op = ${op}
        AND state = 'pending' AND refusals >= ${MOST_REFUSALS}
      RETURNING run, op, entry_id, fingerprint, detail, change
    )
    INSERT INTO dirsyncd.quarantine (sync, target, fingerprint, op, entry_id, name, params)
    SELECT DISTINCT ON (fingerprint) r.sync, r.target, fingerprint, op, entry_id, ${NAME_OF_CHANGE},
      jsonb_build_object('answer', COALESCE(detail, ''))
    FROM refused JOIN dirsyncd.runs AS r ON r.run = refused.run
    ON CONFLICT (sync, target, fingerprint) DO UPDATE
    SET code = 'quarantined', name = EXCLUDED.name, params = EXCLUDED.params, tried_at = now()`.execute(trx)
}
