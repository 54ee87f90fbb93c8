import type { Config } from '../config/config.ts'
import { sentence } from '../base/errors.ts'
import type { Metrics, Sample } from '../ui/metrics/metrics.ts'
import type { LabelsOf, NameOf } from '../ui/metrics/table.ts'
import { waitingDeliveries } from '../operations/notifications.ts'
import { figuresOf, hasTimeAgain, storeBytes, type SyncFigures } from '../store/figures.ts'
import { dueOf } from './readiness.ts'
import { channelOfKey } from './routes.ts'
import { type Site, watchedSyncs } from './site.ts'
import { withinTime } from '../base/within-time.ts'

/** In milliseconds: Prometheus waits for 10 seconds. */
const PATIENCE_MS = 5000

/** How long one result answers all scrapes, in milliseconds. */
const FRESH_MS = 1000

type Add = <N extends NameOf<'gauge'>>(name: N, labels: LabelsOf<N>, value: number) => void

export class DaemonFigures {
  readonly #site: Site
  readonly #metrics: Metrics
  readonly #config: () => Config
  #reading: Promise<void> | undefined

  constructor(site: Site, metrics: Metrics, config: () => Config) {
    this.#site = site
    this.#metrics = metrics
    this.#config = config
  }

  /** During an outage of the store, only the outage is reported. */
  read(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      setTimeout(() => (this.#reading = undefined), FRESH_MS).unref()
    })
    return this.#reading
  }

  async #read(): Promise<void> {
    const { store, log } = this.#site
    const samples: Sample[] = []
    const add: Add = (name, labels, value) => samples.push({ name, labels, value })
    try {
      await withinTime(addStore(this.#site, this.#config(), add), PATIENCE_MS)
      this.#metrics.set('dirsyncd_store_up', { store: store.kind }, 1)
    } catch (error) {
      this.#metrics.set('dirsyncd_store_up', { store: store.kind }, 0)
      log.debug({ error: sentence(error) }, 'the store could not be asked for metrics')
    }
    this.#metrics.setAll(samples)
  }
}

async function addStore({ store }: Site, { syncs, notifications }: Config, add: Add): Promise<void> {
  const all = await figuresOf(store.db, watchedSyncs(syncs))
  for (const [index, figures] of all.entries()) {
    const due = dueOf(syncs[index]!, figures, new Date())
    if (due !== undefined && !hasTimeAgain(figures, due))
      add('dirsyncd_sync_due_timestamp_seconds', { sync: figures.sync }, due.getTime() / 1000)
    addRuns(figures, add)
    addBlocked(figures, add)
    addDirectory(figures, add)
  }
  const waiting = Map.groupBy(await waitingDeliveries(store.db), (each) => channelOfKey(each.channel))
  for (const { name: channel } of notifications.channels)
    add('dirsyncd_notifications_waiting', { channel }, sum(waiting.get(channel) ?? []))
  add('dirsyncd_store_bytes', { store: store.kind }, await storeBytes(store.db))
}

/** Of all routes of a channel. */
function sum(routes: readonly { readonly waiting: number }[]): number {
  return routes.reduce((total, { waiting }) => total + waiting, 0)
}

function seconds(time: Date | null): number {
  return time === null ? 0 : time.getTime() / 1000
}

function addRuns({ sync, planned, ...figures }: SyncFigures, add: Add): void {
  add('dirsyncd_sync_last_attempt_timestamp_seconds', { sync }, seconds(figures.lastAttempt))
  add('dirsyncd_sync_last_full_read_timestamp_seconds', { sync }, seconds(figures.lastFullRead))
  add('dirsyncd_sync_last_success_timestamp_seconds', { sync }, seconds(figures.lastSuccess))
  add('dirsyncd_sync_failures', { sync }, figures.failures)
  add('dirsyncd_sync_paused', { sync }, figures.isPaused ? 1 : 0)
  add('dirsyncd_quarantined_changes', { sync }, figures.quarantined)
  add('dirsyncd_pending_changes', { sync }, figures.pending)
  add('dirsyncd_oldest_pending_change_seconds', { sync }, figures.pendingSeconds)
  if (planned === null) return
  const { sourceUsers, sourceGroups, directoryUsers, directoryGroups, notices, ...counts } = planned.counts
  add('dirsyncd_entries', { sync, side: 'source', kind: 'user' }, sourceUsers)
  add('dirsyncd_entries', { sync, side: 'source', kind: 'group' }, sourceGroups)
  add('dirsyncd_entries', { sync, side: 'directory', kind: 'user' }, directoryUsers)
  add('dirsyncd_entries', { sync, side: 'directory', kind: 'group' }, directoryGroups)
  for (const [op, count] of Object.entries(counts.planned))
    add('dirsyncd_planned_changes', { sync, op }, count)
  for (const [code, count] of Object.entries(notices)) add('dirsyncd_notices', { sync, code }, count)
}

function addBlocked({ sync, asking, planned }: SyncFigures, add: Add): void {
  add('dirsyncd_open_questions', { sync }, asking?.questions ?? 0)
  if (planned === null) return
  const { rejected, lastRejection } = planned.counts
  for (const [op, count] of Object.entries(rejected)) add('dirsyncd_rejected_changes', { sync, op }, count)
  if (lastRejection !== null)
    add('dirsyncd_last_rejection_timestamp_seconds', { sync }, seconds(new Date(lastRejection.at)))
  for (const [code, blocks] of Map.groupBy(planned.blocks, (block) => block.code)) {
    const changes = blocks.reduce((all, block) => all + block.changes, 0)
    add('dirsyncd_blocked_changes', { sync, code, until: blocks[0]!.until }, changes)
  }
}

function addDirectory({ sync, pause, outages, token }: SyncFigures, add: Add): void {
  for (const reason of ['limited', 'outage'] as const)
    add('dirsyncd_api_wait_seconds', { sync, reason }, pause?.why === reason ? pause.leftMs / 1000 : 0)
  add('dirsyncd_api_outages', { sync }, outages)
  if (token === null) return
  add('dirsyncd_token_left_seconds', { sync }, token.secondsLeft)
  add('dirsyncd_token_expiring', { sync }, token.isSoon ? 1 : 0)
}
