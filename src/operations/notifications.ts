import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely'
import { recordedDecision } from '../store/ledgers.ts'
import type { RecordedDecision } from '../store/run-types.ts'
import { storable } from '../store/storable.ts'
import type { Db, Tables } from '../store/tables.ts'

type NewNotification = Pick<
  Selectable<Tables['dirsyncd.notifications']>,
  'event' | 'sync' | 'run' | 'subject' | 'text'
>

export interface StoredCondition {
  readonly sync: string
  readonly event: string
  readonly since: Date
  readonly amount: number
  readonly toldAt: Date
  /** Of runs that failed, since when they do not fail any more. */
  readonly endsAt: Date | null
}

export interface DecisionOfRun extends RecordedDecision {
  readonly sync: string
  readonly run: number
}

/** What the store knows from the last look, and what came since. */
interface Seen {
  readonly conditions: readonly StoredCondition[]
  readonly decisions: readonly DecisionOfRun[]
  /** The store's time. */
  readonly now: Date
}

interface Outcome {
  readonly conditions: readonly StoredCondition[]
  readonly notifications: readonly NewNotification[]
}

/**
 * Looks at what was told before of these syncs, has `evaluate` say what goes on now, and stores that with a delivery for
 * each channel that wants it. One process at a time, so that two daemons do not tell the same; and all of it is what
 * the store had at one moment, so that a hold is not missed while the next run takes it over.
 */
export async function lookAndStore(
  db: Db,
  syncs: readonly string[],
  wantedBy: (event: string) => readonly string[],
  evaluate: (trx: Db, seen: Seen) => Promise<Outcome>,
): Promise<void> {
  await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      await sql`LOCK TABLE dirsyncd.conditions IN SHARE ROW EXCLUSIVE MODE`.execute(trx)
      const { conditions, notifications } = await evaluate(trx, await lookBack(trx, syncs))
      await sql`DELETE FROM dirsyncd.conditions WHERE sync = ANY(${syncs}::text[])`.execute(trx)
      if (conditions.length > 0)
        await trx.insertInto('dirsyncd.conditions').values(conditions.map(asRow)).execute()
      for (const notification of notifications) await add(trx, notification, wantedBy(notification.event))
    })
}

function asRow({ toldAt, endsAt, ...condition }: StoredCondition): Insertable<Tables['dirsyncd.conditions']> {
  return { ...condition, told_at: toldAt, ends_at: endsAt }
}

/** Up to which decision of a sync everything is told: a setting for each. */
const toldDecisions = (sync: RawBuilder<unknown>) => sql`'notified-decisions ' || ${sync}`

async function lookBack(trx: Db, syncs: readonly string[]): Promise<Seen> {
  const conditions = await trx
    .selectFrom('dirsyncd.conditions')
    .select(['sync', 'event', 'since', 'amount', 'told_at as toldAt', 'ends_at as endsAt'])
    .where('sync', 'in', syncs)
    .execute()
  const { rows: clock } = await sql<{ now: Date }>`SELECT now() AS now`.execute(trx)
  const { now } = clock[0]!
  // What was decided before notifications were wanted is no news.
  await sql`INSERT INTO dirsyncd.settings (name, value)
    SELECT ${toldDecisions(sql.ref('w.sync'))}, COALESCE((SELECT max(decision) FROM dirsyncd.decisions), 0)::text
    FROM unnest(${syncs}::text[]) AS w (sync) ON CONFLICT DO NOTHING`.execute(trx)
  const { rows: decisions } = await sql<Selectable<Tables['dirsyncd.decisions']>>`
    SELECT d.* FROM dirsyncd.decisions AS d
    JOIN dirsyncd.settings AS told ON told.name = ${toldDecisions(sql.ref('d.sync'))}
    WHERE d.sync = ANY(${syncs}::text[]) AND d.decision > told.value::bigint ORDER BY d.decision`.execute(trx)
  for (const { sync, decision } of decisions)
    await sql`UPDATE dirsyncd.settings SET value = ${decision}
      WHERE name = ${toldDecisions(sql.val(sync))}`.execute(trx)
  const recorded = decisions.map((row) => ({ sync: row.sync, run: row.run, ...recordedDecision(row) }))
  return { conditions, decisions: recorded, now }
}

async function add(trx: Db, notification: NewNotification, channels: readonly string[]): Promise<void> {
  if (channels.length === 0) return
  const { subject, text, event, sync, run } = notification
  const row = await trx
    .insertInto('dirsyncd.notifications')
    .values({ event, sync, run, subject: storable(subject), text: storable(text) })
    .returning('notification')
    .executeTakeFirstOrThrow()
  await trx
    .insertInto('dirsyncd.deliveries')
    .values(channels.map((channel) => ({ notification: row.notification, channel })))
    .execute()
}

interface ClaimedDelivery extends NewNotification {
  readonly notification: string
  readonly createdAt: Date
  /** How often it was tried, this time included. */
  readonly attempts: number
}

/**
 * Claims the oldest notification that a channel has not delivered, for `claimMs`: then somebody else tries, because this
 * process seems to be gone. Where it may not be tried yet, says in how many milliseconds.
 */
export async function claimDelivery(
  db: Db,
  channel: string,
  claimMs: number,
): Promise<ClaimedDelivery | { readonly waitMs: number } | undefined> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ notification: string; waitMs: number }>`SELECT notification,
        extract(epoch FROM next_at - clock_timestamp())::float8 * 1000 AS "waitMs"
      FROM dirsyncd.deliveries WHERE channel = ${channel} AND state = 'waiting'
      ORDER BY notification LIMIT 1 FOR UPDATE`.execute(trx)
    const [oldest] = rows
    if (oldest === undefined) return undefined
    if (oldest.waitMs > 0) return { waitMs: oldest.waitMs }
    const { notification } = oldest
    const claimed = await updateDelivery(trx, { notification, channel })
      .set({ attempts: sql<number>`attempts + 1`, next_at: inFuture(claimMs) })
      .returning('attempts')
      .executeTakeFirstOrThrow()
    const row = await trx
      .selectFrom('dirsyncd.notifications')
      .selectAll()
      .where('notification', '=', notification)
      .executeTakeFirstOrThrow()
    return { ...row, ...claimed, createdAt: row.created_at }
  })
}

interface DeliveryKey {
  readonly notification: string
  readonly channel: string
}

/** Claims a delivery for so long again, while its attempt goes on. */
export async function keepDelivery(db: Db, key: DeliveryKey, claimMs: number): Promise<void> {
  await updateDelivery(db, key)
    .set({ next_at: inFuture(claimMs) })
    .execute()
}

function updateDelivery(db: Db, { notification, channel }: DeliveryKey) {
  return db
    .updateTable('dirsyncd.deliveries')
    .where('notification', '=', notification)
    .where('channel', '=', channel)
}

function inFuture(ms: number) {
  return sql<Date>`clock_timestamp() + ${ms} * interval '1 millisecond'`
}

/** What came of an attempt; `waitMs` is set where it is tried again. */
interface Attempt {
  readonly state: 'waiting' | 'delivered' | 'given-up'
  readonly waitMs?: number
  readonly detail?: string
}

export async function settleDelivery(
  db: Db,
  key: DeliveryKey,
  { state, waitMs = 0, detail }: Attempt,
): Promise<void> {
  await updateDelivery(db, key)
    .set({ state, detail: detail === undefined ? null : storable(detail), next_at: inFuture(waitMs) })
    .execute()
}

interface WaitingDeliveries {
  readonly channel: string
  readonly waiting: number
  /** In how many milliseconds the oldest one may be tried; 0 or less: now. */
  readonly waitMs: number
}

/** The channels that have not delivered everything. */
export async function waitingDeliveries(db: Db): Promise<readonly WaitingDeliveries[]> {
  const { rows } = await sql<WaitingDeliveries>`SELECT DISTINCT ON (channel) channel,
      (count(*) OVER (PARTITION BY channel))::int AS waiting,
      extract(epoch FROM next_at - clock_timestamp())::float8 * 1000 AS "waitMs"
    FROM dirsyncd.deliveries WHERE state = 'waiting' ORDER BY channel, notification`.execute(db)
  return rows
}

/** Forgets what was told so long ago, and what waits for channels that are not there any more. */
export async function forgetNotifications(db: Db, channels: readonly string[], ms: number): Promise<void> {
  await sql`DELETE FROM dirsyncd.deliveries
    WHERE state = 'waiting' AND channel <> ALL(${channels}::text[])`.execute(db)
  await sql`DELETE FROM dirsyncd.notifications
    WHERE created_at < now() - ${ms} * interval '1 millisecond'`.execute(db)
}
