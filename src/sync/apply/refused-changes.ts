import { sql } from 'kysely'
import type { Op } from '../../core/plan/change.ts'
import type { Fenced, FencedRun } from '../../store/fenced-run.ts'
import { NAME_OF_CHANGE } from '../../store/quarantine.ts'
import { stopRun } from '../../store/runs.ts'
import type { Db } from '../../store/tables.ts'
import { allWaitingIn, MOST_REFUSALS, type Stage } from './stage.ts'

/** Answers 403 in a row, with no success between them, that are about the token or its rights, and stop the run. */
export const REFUSED_IN_ROW = 20

const TRIED_AGAIN = 'These changes were not put into quarantine; the next run tries them again.'
const ONE_TRIED_AGAIN = 'This change was not put into quarantine; the next run tries it again.'

/** `answer` is that of the service to the last refused change. */
export function manyRefused(inRow: number, answer: string): string {
  return (
    `The service refused ${inRow} changes in a row with 403 and accepted none between them, so the token or its rights ` +
    `are wrong, or a proxy refuses, and it is not about the entries. ${answer} ${TRIED_AGAIN}`
  )
}

export function neverAccepted(
  { op, changes, id, answer }: Awaited<ReturnType<typeof refusedOp>>,
  { acceptedOthers }: { readonly acceptedOthers: boolean },
): string {
  const isOne = changes === 1
  const what = isOne ? `${op} of "${id}"` : `${changes} changes of the kind ${op}`
  const others = acceptedOthers
    ? ', although it accepted other changes in this run'
    : ', nor any other change in this run'
  const list = `entries.${op.endsWith('-user') ? 'users' : 'groups'}.${op.startsWith('delete-') ? 'protected' : 'exclude'}`
  return (
    `The service refused ${what} with 403 and accepted ${isOne ? 'no other' : 'none'} of this kind${others}. The ` +
    `token may not do this, or a proxy does not let it through, or the service protects ` +
    `${isOne ? 'the entry' : 'the entries'}: then put ${isOne ? 'the id' : 'the ids'} on the list ${list} of the sync. ` +
    `${answer} ${isOne ? ONE_TRIED_AGAIN : TRIED_AGAIN}`
  )
}

/**
 * Decides about the changes that were refused in both stages. Where the service accepted others of the operation, the
 * refusal is about the content. Otherwise it is about the token, and the run stops.
 */
export async function decideRefused(
  { db, fenced }: { readonly db: Db; readonly fenced: FencedRun },
  stage: Stage,
): Promise<void> {
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

async function refusedOp(db: Db, run: number, op: Op) {
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
  const applied = db.selectFrom('dirsyncd.changes').where('run', '=', run).where('state', '=', 'applied')
  const query = op === undefined ? applied : applied.where('op', '=', op)
  return (await query.select('number').limit(1).executeTakeFirst()) !== undefined
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
