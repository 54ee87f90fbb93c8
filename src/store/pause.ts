import { sql } from 'kysely'
import type { Log } from '../base/log/log.ts'
import type { Db } from './tables.ts'

/** No pause is longer, in milliseconds: one that seems to be was set by a clock that was set back since. */
export const LONGEST_MS = 15 * 60_000

/** For a time nothing is sent to a target. */
export interface Pause {
  /** In milliseconds from now. */
  readonly leftMs: number
  readonly ends: Date
  /** `limited`: the service asked for it with 429. `outage`: it does not answer. */
  readonly why: 'limited' | 'outage'
}

/**
 * Whether the pause of a row of `targets` holds now. A clock that was set back makes no pause longer than the longest.
 */
export const isInForce = sql<boolean>`not_before > clock_timestamp()
  AND not_before <= clock_timestamp() + make_interval(secs => ${LONGEST_MS / 1000})`

export async function pauseOf(db: Db, target: string): Promise<Pause | undefined> {
  return (await pausesOf(db, [target])).get(target)
}

export async function pausesOf(db: Db, targets: readonly string[]): Promise<ReadonlyMap<string, Pause>> {
  if (targets.length === 0) return new Map()
  const { rows } = await sql<Pause & { target: string }>`SELECT target, why, not_before AS ends,
      extract(epoch FROM not_before - clock_timestamp())::float8 * 1000 AS "leftMs"
    FROM dirsyncd.targets WHERE target = ANY(${targets}::text[]) AND ${isInForce}`.execute(db)
  return new Map(rows.map(({ target, ...pause }) => [target, pause]))
}

/** Keeps every process from sending to the target for a time. A pause that ends later stays. */
export async function pauseFor(db: Db, target: string, ms: number): Promise<void> {
  await setPause(db, target, sql`${Math.min(ms, LONGEST_MS)}::float8`, 'limited')
}

/**
 * The next pause after an outage: twice as long as the one before, up to `lastMs`. What several chunks report before
 * its end is one outage.
 */
export async function pauseForOutage(
  db: Db,
  target: string,
  { firstMs, lastMs }: { readonly firstMs: number; readonly lastMs: number },
): Promise<void> {
  if ((await pauseOf(db, target))?.why === 'outage') return
  const ms = sql`least(${lastMs}::float8, ${firstMs}::float8 * 2 ^ least(20, COALESCE((SELECT outages
    FROM dirsyncd.targets WHERE target = ${target}), 0)))`
  await setPause(db, target, ms, 'outage')
}

async function setPause(
  db: Db,
  target: string,
  ms: ReturnType<typeof sql>,
  why: Pause['why'],
): Promise<void> {
  const longest = sql`clock_timestamp() + make_interval(secs => ${LONGEST_MS / 1000})`
  const more = why === 'outage' ? 1 : 0
  await sql`INSERT INTO dirsyncd.targets AS t (target, not_before, why, outages)
    VALUES (${target}, clock_timestamp() + ${ms} * interval '1 millisecond', ${why}, ${more})
    ON CONFLICT (target) DO UPDATE SET
      not_before = CASE WHEN t.not_before > ${longest} THEN excluded.not_before
        ELSE greatest(t.not_before, excluded.not_before) END,
      why = CASE WHEN t.not_before > excluded.not_before AND t.not_before <= ${longest} THEN t.why ELSE excluded.why END,
      outages = t.outages + ${more}`.execute(db)
}

/** The target answers: the next outage begins anew. */
export async function forgetOutages(db: Db, target: string): Promise<void> {
  await sql`UPDATE dirsyncd.targets SET outages = 0 WHERE target = ${target}`.execute(db)
}

/** Pauses from this length on, in milliseconds, are worth a line for an operator; from the second on also in a quiet log. */
const NOTABLE_MS = 10_000
const LONG_MS = 60_000

/** Logs once that the service asked for a pause, however many requests find out. */
export function createPauseLog(log: Log): (pause: Pause) => void {
  let endsAt = 0
  return ({ leftMs, ends }) => {
    const now = performance.now()
    const begins = now >= endsAt
    endsAt = Math.max(endsAt, now + leftMs)
    const level = leftMs >= LONG_MS ? 'warn' : leftMs >= NOTABLE_MS ? 'info' : 'debug'
    if (begins) log[level]({ until: ends.toISOString() }, 'the service asks for a pause (429); requests wait')
  }
}
