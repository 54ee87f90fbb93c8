import { sql } from 'kysely'
import type { Fenced } from '../../store/fenced-run.ts'
import { NAME_OF_CHANGE } from '../../store/quarantine.ts'
import { MOST_REFUSALS, type Stage } from './stage.ts'

/** Answers 403 in a row, with no success between them, that are about the token or its rights, and stop the run. */
export const REFUSED_IN_ROW = 20

/** `answer` is that of the service to the last refused change. */
export function manyRefused(inRow: number, answer: string): string {
  return (
    `The service refused ${inRow} changes in a row with 403 and accepted none between them, so the token or its rights ` +
    `are wrong, or a proxy refuses, and it is not about the entries. ${answer} These changes were not put into ` +
    `quarantine; the next run tries them again.`
  )
}

/**
 * At the end of the retry stage, changes that were refused twice go into quarantine: the run was not stopped, so it is
 * about their entries. Before, more refusals might have shown that it is about the token.
 */
export async function quarantineRefused(trx: Fenced, run: number, { phase, retry }: Stage): Promise<void> {
  await sql`
    WITH refused AS (
      UPDATE dirsyncd.changes SET state = 'quarantined', unsure = false
      WHERE run = ${run} AND phase = ${phase} AND retry = ${retry}
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
