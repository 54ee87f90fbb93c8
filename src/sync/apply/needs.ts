import { sql } from 'kysely'
import { type Change, fingerprint, kindOf, type Op } from '../../core/plan/change.ts'
import { type Unmet, type UnmetNeeds, withoutUnmet } from '../../core/plan/needs.ts'
import type { Fenced } from '../../store/fenced-run.ts'
import { storableJson } from '../../store/storable.ts'
import type { Claimed } from './job.ts'
import { MOST_REFUSALS, type Stage } from './stage.ts'

/**
 * Takes the keys out of claimed changes whose needs were not met; the store has the smaller change, with its own
 * fingerprint, before it is sent. What it leaves out, the next run adds. Members are sent with the name to which the run
 * has renamed their group.
 */
export async function meetNeeds(
  trx: Fenced,
  run: number,
  stage: Stage,
  claimed: readonly Claimed[],
): Promise<readonly Claimed[]> {
  if (stage.phase !== 'take-emails' && stage.phase !== 'members') return claimed
  const isMembers = stage.phase === 'members'
  const unmet = isMembers ? await unmetCreates(trx, run, stage) : await unmetOwners(trx, run, stage, claimed)
  const names = isMembers ? await newNames(trx, run, claimed) : new Map<string, string>()
  const met = claimed.map((each) => meet(each, unmet, names))
  await save(
    trx,
    run,
    met.filter((each, at) => each.change !== claimed[at]!.change),
  )
  return met
}

function meet(claimed: Claimed, unmet: UnmetNeeds, names: ReadonlyMap<string, string>): Claimed {
  const left = withoutUnmet(claimed.change, unmet)
  if (typeof left === 'string') return { ...claimed, unmet: left }
  const name = left.op === 'set-members' ? names.get(left.id) : undefined
  const change = name === undefined ? left : ({ ...left, name } as Change)
  return change === claimed.change ? claimed : { ...claimed, change, fingerprint: fingerprint(change) }
}

async function save(trx: Fenced, run: number, smaller: readonly Claimed[]): Promise<void> {
  if (smaller.length === 0) return
  const rows = smaller.map(({ number, change, fingerprint: print }) => ({ number, change, print }))
  await sql`UPDATE dirsyncd.changes AS c SET change = s.change, fingerprint = s.print
    FROM jsonb_to_recordset(${storableJson(rows)}::jsonb) AS s(number integer, change jsonb, print text)
    WHERE c.run = ${run} AND c.number = s.number`.execute(trx)
}

interface Needed {
  readonly op: Op
  readonly id: string
  readonly unmet: Unmet
}

/** The condition of an index, in its words. */
const MAY_DECIDE = sql`(op = 'update-group' OR was_there OR state IN ('quarantined', 'failed'))`

/** In the retry stage nothing waits any more: what is pending before a later phase waits for a decision. */
function pendingIn({ retry }: Stage): Unmet {
  return retry ? 'not-made' : 'waits'
}

async function unmetCreates(trx: Fenced, run: number, stage: Stage): Promise<UnmetNeeds> {
  const { rows } = await sql<Needed>`SELECT op, entry_id AS id, 'not-made' AS unmet FROM dirsyncd.changes
      WHERE run = ${run} AND op IN ('create-user', 'create-group') AND ${MAY_DECIDE}
        AND state IN ('quarantined', 'failed')
    UNION ALL SELECT op, entry_id, ${pendingIn(stage)} FROM dirsyncd.changes
      WHERE run = ${run} AND op IN ('create-user', 'create-group') AND state = 'pending'
        AND phase IN ('users', 'take-emails', 'groups')`.execute(trx)
  const creates = { user: new Map<string, Unmet>(), group: new Map<string, Unmet>() }
  for (const { op, id, unmet } of rows) creates[kindOf(op)].set(id, unmet)
  return { creates, owners: new Map() }
}

/** In a circle, none can be first, so an owner who is sent in the same stage meets the need. */
async function unmetOwners(
  trx: Fenced,
  run: number,
  stage: Stage,
  claimed: readonly Claimed[],
): Promise<UnmetNeeds> {
  const takes = claimed.flatMap(({ change }) => ('takes' in change && change.takes) || [])
  const inCircle = takes.flatMap(({ from, after }) => (after === null ? from : []))
  const { rows } = await sql<Needed>`SELECT entry_id AS id,
      CASE WHEN state = 'pending' AND refusals < ${MOST_REFUSALS} THEN ${pendingIn(stage)} ELSE 'not-made' END AS unmet
    FROM dirsyncd.changes WHERE run = ${run} AND phase IN ('free-emails', 'take-emails')
      AND entry_id = ANY(${takes.map(({ from }) => from)}::text[])
      AND (state IN ('pending', 'quarantined', 'failed') OR op <> 'delete-user' AND NOT change -> 'want' ? 'email')
      AND NOT (state = 'pending' AND refusals < ${MOST_REFUSALS} AND retry = ${stage.retry}
        AND entry_id = ANY(${inCircle}::text[]))`.execute(trx)
  const owners = new Map(rows.map(({ id, unmet }) => [id, unmet]))
  if (await hasShortList(trx, run)) for (const { from } of takes) owners.set(from, 'undecided')
  return { creates: { user: new Map(), group: new Map() }, owners }
}

/** A new user existed already: the list of the directory did not show all users. */
async function hasShortList(trx: Fenced, run: number): Promise<boolean> {
  const { rows } = await sql`SELECT FROM dirsyncd.changes
    WHERE run = ${run} AND op = 'create-user' AND ${MAY_DECIDE} AND was_there LIMIT 1`.execute(trx)
  return rows.length > 0
}

async function newNames(
  trx: Fenced,
  run: number,
  claimed: readonly Claimed[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{
    id: string
    name: string
  }>`SELECT entry_id AS id, change #>> '{want,name}' AS name
    FROM dirsyncd.changes WHERE run = ${run} AND op = 'update-group' AND ${MAY_DECIDE}
      AND entry_id = ANY(${claimed.map(({ change }) => change.id)}::text[])
      AND state IN ('applied', 'found')`.execute(trx)
  return new Map(rows.map(({ id, name }) => [id, name]))
}
