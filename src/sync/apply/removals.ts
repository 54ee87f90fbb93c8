import { sql } from 'kysely'
import { kindOf, type Op } from '../../core/plan/change.ts'
import type { ScopeIds } from '../../core/within.ts'
import type { Times } from '../../queue/times.ts'
import type { FencedRun } from '../../store/fenced-run.ts'
import type { Db } from '../../store/tables.ts'
import { openChunks } from './claim.ts'
import { allowRemovals, hasRemovals, type Stage } from './stage.ts'

interface Deps {
  readonly db: Db
  readonly fenced: FencedRun
  readonly times: Times
  /** Looks these entries up in the source again, and takes out of the plan what must stay. */
  readonly recheck: (waiting: ScopeIds) => Promise<void>
}

/**
 * Rechecks what waits to be removed, unless that was done a moment ago: in a long run, or after an outage, an entry may
 * be back. Returns whether it did.
 */
export async function recheckRemovals({ db, fenced, times, recheck }: Deps, stage: Stage): Promise<boolean> {
  if (!(await hasRemovals(db, fenced.run, stage, { lackRecheck: true }))) return false
  // A request under way may fail, and its change would then wait without a recheck.
  if ((await openChunks(db, fenced.run)).length > 0) return false
  const begun = performance.now()
  await recheck(await waitingRemovals(db, fenced.run))
  const { removals: ms } = times.fence
  const leftMs = Math.max(ms - (performance.now() - begun), ms / 3)
  await fenced.write((trx) => allowRemovals(trx, fenced.run, leftMs))
  return true
}

/** The entries to be deleted, and the groups that lose members. */
async function waitingRemovals(db: Db, run: number): Promise<ScopeIds> {
  const { rows } = await sql<{ op: Op; id: string }>`SELECT op, entry_id AS id FROM dirsyncd.changes
    WHERE run = ${run} AND state = 'pending' AND takes_away`.execute(db)
  const ids = { user: new Set<string>(), group: new Set<string>() }
  for (const { op, id } of rows) ids[kindOf(op)].add(id)
  return ids
}
