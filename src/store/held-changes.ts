import { type Kysely, sql } from 'kysely'
import {
  type BreachSummary,
  countUndecided,
  type HeldGroup,
  type RecordedBreach,
} from '../core/plan/decide.ts'
import type { RunState } from './run-types.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

const FINGERPRINTS_PER_ROW = 5000

/** The breaches as their run keeps them. */
export function summaries(breaches: readonly RecordedBreach[]): readonly BreachSummary[] {
  return breaches.map((breach) => ({ ...breach, changes: breach.changes.length }))
}

/**
 * Stores which changes the breaches of a hold name. Several guards often name the same ones, so each is stored once.
 */
export async function storeHeldChanges(
  db: Db,
  run: number,
  breaches: readonly RecordedBreach[],
): Promise<void> {
  const places = new Map<string, number[]>()
  for (const [place, { changes }] of breaches.entries()) {
    for (const change of new Set(changes)) {
      const known = places.get(change)
      if (known === undefined) places.set(change, [place])
      else known.push(place)
    }
  }
  let part = 0
  for (const group of Map.groupBy(places, ([, named]) => named.join()).values()) {
    for (let start = 0; start < group.length; start += FINGERPRINTS_PER_ROW) {
      const fingerprints = group.slice(start, start + FINGERPRINTS_PER_ROW).map(([change]) => change)
      const values = { run, part, breaches: group[0]![1], count: fingerprints.length, fingerprints }
      await db.insertInto('dirsyncd.held_changes').values(values).execute()
      part += 1
    }
  }
}

/** The breaches of an open or rejected hold with the changes that they name. */
export async function heldBreaches(
  db: Db,
  run: number,
  breaches: readonly BreachSummary[],
): Promise<readonly RecordedBreach[]> {
  const changes: string[][] = breaches.map(() => [])
  const parts = await db
    .selectFrom('dirsyncd.held_changes')
    .select(['breaches', 'fingerprints'])
    .where('run', '=', run)
    .orderBy('part')
    .execute()
  for (const part of parts) {
    for (const place of part.breaches) {
      for (const change of part.fingerprints) changes[place]!.push(change)
    }
  }
  return breaches.map((breach, place) => ({ ...breach, changes: changes[place]! }))
}

/** Forgets the changes of a hold on which nobody can decide any more. */
export async function dropHeldChanges(db: Db, run: number): Promise<void> {
  await db.deleteFrom('dirsyncd.held_changes').where('run', '=', run).execute()
}

/** How many changes nobody has decided on yet, for each of the runs that have a hold. */
export async function undecidedOf(db: Db, runs: readonly number[]): Promise<ReadonlyMap<number, number>> {
  if (runs.length === 0) return new Map()
  const { rows } = await sql<{
    run: number
    state: RunState
    breaches: readonly BreachSummary[]
    groups: readonly HeldGroup[]
  }>`SELECT r.run, r.state, r.breaches, jsonb_agg(jsonb_build_object('breaches', h.breaches, 'count', h.count)) AS groups
    FROM dirsyncd.runs AS r JOIN dirsyncd.held_changes AS h ON h.run = r.run
    WHERE r.run = ANY(${runs}::integer[])
    GROUP BY r.run`.execute(db)
  return new Map(rows.map((row) => [row.run, countUndecided(row, row.groups)]))
}
