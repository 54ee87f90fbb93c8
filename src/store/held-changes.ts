import { type Kysely, type Selectable, sql } from 'kysely'
import { addAll, listAt } from '../base/lists.ts'
import { forEachInSteps, type Steps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import {
  type BreachSummary,
  countUndecided,
  type HeldGroup,
  type RecordedBreach,
} from '../core/plan/decide.ts'
import type { RunState } from './run-types.ts'
import type { HeldChangesTable, Tables } from './tables.ts'

type Db = Kysely<Tables>

const FINGERPRINTS_PER_ROW = 5000

/** The breaches as their run keeps them. */
export function summaries(breaches: readonly RecordedBreach[]): readonly BreachSummary[] {
  return breaches.map((breach) => ({ ...breach, changes: breach.changes.length }))
}

/** Rows of the table `held_changes`, without their run. */
export type HeldRows = readonly Omit<Selectable<HeldChangesTable>, 'run'>[]

/** Which changes the breaches of a hold name. Several guards often name the same ones, so each is stored once. */
export function* heldRows(breaches: readonly RecordedBreach[]): Steps<HeldRows> {
  const places = new Map<string, string>()
  for (const [place, { changes }] of breaches.entries())
    yield* forEachInSteps(changes, (change) => {
      const known = places.get(change)
      if (known === undefined) places.set(change, `${place}`)
      else if (known !== `${place}` && !known.endsWith(`,${place}`)) places.set(change, `${known},${place}`)
    })
  const groups = new Map<string, string[]>()
  yield* forEachInSteps(places, ([change, named]) => listAt(groups, named).push(change))
  const rows: { part: number; breaches: number[]; count: number; fingerprints: string[] }[] = []
  for (const [named, all] of groups) {
    for (let start = 0; start < all.length; start += FINGERPRINTS_PER_ROW) {
      const fingerprints = all.slice(start, start + FINGERPRINTS_PER_ROW)
      const of = named.split(',').map(Number)
      rows.push({ part: rows.length, breaches: of, count: fingerprints.length, fingerprints })
    }
  }
  return rows
}

export async function storeHeldChanges(db: Db, run: number, rows: HeldRows): Promise<void> {
  for (const row of rows)
    await db
      .insertInto('dirsyncd.held_changes')
      .values({ run, ...row })
      .execute()
}

/** The breaches of an open or rejected hold with the changes that they name. */
export async function heldBreaches(
  db: Db,
  run: number,
  breaches: readonly BreachSummary[],
): Promise<readonly RecordedBreach[]> {
  const parts = await db
    .selectFrom('dirsyncd.held_changes')
    .select(['breaches', 'fingerprints'])
    .where('run', '=', run)
    .orderBy('part')
    .execute()
  const changes = await inTurns(changesOf(parts, breaches.length))
  return breaches.map((breach, place) => ({ ...breach, changes: changes[place]! }))
}

function* changesOf(
  rows: readonly Pick<HeldChangesTable, 'breaches' | 'fingerprints'>[],
  breaches: number,
): Steps<readonly string[][]> {
  const changes = Array.from({ length: breaches }, (): string[] => [])
  for (const row of rows) {
    for (const place of row.breaches) addAll(changes[place]!, row.fingerprints)
    yield
  }
  return changes
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
