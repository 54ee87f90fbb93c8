import { type Kysely, sql } from 'kysely'
import type { Options } from '../core/plan/configuration.ts'
import type { MemberLists, Nesting } from '../core/plan/evidence/finding.ts'
import type { ServerMemory } from '../core/plan/server.ts'
import type { RunRecord } from './runs.ts'
import { storableJson } from './storable.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/** What the last good run read from the source. */
export interface LastGood {
  readonly users: number
  readonly groups: number
  /** How many groups listed a member. */
  readonly groupsWithMembers: number | undefined
  readonly nesting: Nesting
  readonly memberLists: MemberLists
  /** The ids of the groups whose members wait for a person. */
  readonly waitingGroups: ReadonlySet<string>
  /** The server that was read, where the source has servers. */
  readonly server: ServerMemory | undefined
}

/** Of the last completed full run of this sync on this target. */
export async function lastGood(db: Db, sync: string, target: string): Promise<LastGood | undefined> {
  const row = await db
    .selectFrom('dirsyncd.last_good')
    .selectAll()
    .where('sync', '=', sync)
    .where('target', '=', target)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { source_users: users, source_groups: groups, groups_with_members: listing } = row
  return {
    users,
    groups,
    groupsWithMembers: listing ?? undefined,
    nesting: {
      ids: new Map(Object.entries(row.nested_groups)),
      strangers: new Map(Object.entries(row.nested_strangers)),
    },
    memberLists: new Map(Object.entries(row.member_lists)),
    waitingGroups: new Set(row.waiting_groups),
    server: row.server ?? undefined,
  }
}

/** With which options the last completed full run of this sync was made, on whichever target. */
export async function lastOptions(
  db: Db,
  sync: string,
): Promise<{ readonly run: number; readonly options: Options } | undefined> {
  const row = await db
    .selectFrom('dirsyncd.last_good')
    .select(['run', 'options'])
    .where('sync', '=', sync)
    .orderBy('run', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row
}

export async function storeLastGood(
  db: Db,
  run: RunRecord,
  { users, groups, groupsWithMembers, nesting, memberLists, waitingGroups, server }: LastGood,
  options: Options,
): Promise<void> {
  const values = {
    run: run.run,
    source_users: users,
    source_groups: groups,
    groups_with_members: groupsWithMembers ?? null,
    waiting_groups: storableJson([...waitingGroups]),
    server: server === undefined ? null : JSON.stringify(server),
    options: JSON.stringify(options),
  }
  await db
    .insertInto('dirsyncd.last_good')
    .values({ sync: run.sync, target: run.target, ...values })
    .onConflict((conflict) => conflict.columns(['sync', 'target']).doUpdateSet(values))
    .execute()
  // These are long and seldom change, so they are written only when they do.
  const ids = storableJson(Object.fromEntries(nesting.ids))
  const strangers = storableJson(Object.fromEntries(nesting.strangers))
  const lists = storableJson(Object.fromEntries(memberLists))
  await sql`UPDATE dirsyncd.last_good SET nested_groups = ${ids}::jsonb, nested_strangers = ${strangers}::jsonb,
      member_lists = ${lists}::jsonb
    WHERE sync = ${run.sync} AND target = ${run.target} AND (nested_groups <> ${ids}::jsonb
      OR nested_strangers <> ${strangers}::jsonb OR member_lists <> ${lists}::jsonb)`.execute(db)
}

/** Adds groups to those that wait for a person. */
export async function addWaitingGroups(db: Db, run: RunRecord, groups: readonly string[]): Promise<void> {
  if (groups.length === 0) return
  await db
    .updateTable('dirsyncd.last_good')
    .set({
      waiting_groups: sql`(SELECT jsonb_agg(DISTINCT id)
        FROM jsonb_array_elements(waiting_groups || ${storableJson(groups)}::jsonb) AS id)`,
    })
    .where('sync', '=', run.sync)
    .where('target', '=', run.target)
    .execute()
}

/** Stores only what is known of the server, after a run whose read is no measure of the source. */
export async function storeServer(db: Db, run: RunRecord, server: ServerMemory): Promise<void> {
  await db
    .updateTable('dirsyncd.last_good')
    .set({ server: JSON.stringify(server) })
    .where('sync', '=', run.sync)
    .where('target', '=', run.target)
    .execute()
}
