import type { Queue } from 'bullmq'
import type { Config } from '../config/config.ts'
import { sentence } from '../base/errors.ts'
import { configuredTexts } from '../base/log/people.ts'
import type { Channel } from '../ui/notify/channel.ts'
import type { Condition } from '../ui/notify/condition.ts'
import { evaluate } from '../ui/notify/evaluate.ts'
import { type DeliveryAttempt, tryDelivery } from '../ui/notify/deliver.ts'
import type { Delivered, NotificationEvent } from '../ui/notify/notification.ts'
import { figuresOf } from '../store/figures.ts'
import {
  claimDelivery,
  forgetNotifications,
  keepDelivery,
  lookAndStore,
  settleDelivery,
  waitingDeliveries,
} from '../operations/notifications.ts'
import { type Route, routesOf } from './routes.ts'
import { type Site, watchedSyncs } from './site.ts'

/** Only wakes a worker: the store has the notifications. */
interface DeliverJob {
  readonly channel: string
}

type Told = Delivered & { readonly attempts: number }

const QUEUE = 'notifications'

/** As for changes in flight at shutdown; in milliseconds. */
const GRACE_MS = 3000

export class Notifier implements AsyncDisposable {
  readonly #site: Site
  readonly #config: () => Config
  readonly #wanted: Config['notifications']
  readonly #stack = new AsyncDisposableStack()
  readonly #routes = new Map<string, Route & { readonly opened: Channel }>()
  readonly #closing: AbortSignal
  /** Aborted when a delivery's time at shutdown is over: it is repeated later, and may arrive twice. */
  readonly #cut = new AbortController()
  readonly #delivering = new Set<Promise<void>>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  readonly #waking = new Set<string>()
  #queue: Queue<DeliverJob> | undefined
  #looking: Promise<void> | undefined
  #again = false

  /**
   * @param wanted the channels, fixed at the start
   * @param config the syncs as they are now
   * @param signal aborted at shutdown; a delivery in flight then has `GRACE_MS` to end
   */
  constructor(site: Site, wanted: Config['notifications'], config: () => Config, signal: AbortSignal) {
    this.#site = site
    this.#wanted = wanted
    this.#config = config
    this.#closing = signal
  }

  /** Does nothing without channels. */
  start(): void {
    const { channels } = this.#wanted
    if (channels.length === 0) return
    const { backend, times } = this.#site
    for (const route of channels.flatMap(routesOf))
      this.#routes.set(route.key, { ...route, opened: this.#stack.use(route.open()) })
    this.#queue = backend.createQueue<DeliverJob>(QUEUE)
    backend.createWorker<DeliverJob>(QUEUE, (job) => this.#work(job.data.channel), {
      concurrency: this.#routes.size,
    })
    const timer = setInterval(() => this.look(), times.notify.look)
    this.#stack.defer(() => clearInterval(timer))
    const onClosing = () => setTimeout(() => this.#cut.abort(new Error('the process ends')), GRACE_MS).unref()
    this.#closing.addEventListener('abort', onClosing, { once: true })
    this.look()
  }

  /** Runs in the background; a call during an evaluation causes one more. */
  readonly look = (): void => {
    if (this.#queue === undefined || this.#closing.aborted) return
    if (this.#looking !== undefined) {
      this.#again = true
      return
    }
    this.#looking = this.#look()
      .catch((error: unknown) => {
        const { store, log } = this.#site
        if (!store.outage.explains(error)) log.error(refusalOf(error), 'nobody could be notified')
      })
      .finally(() => {
        this.#looking = undefined
        if (!this.#again) return
        this.#again = false
        this.look()
      })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    await this.#looking
    await Promise.allSettled(this.#delivering)
    await this.#stack.disposeAsync()
  }

  async #look(): Promise<void> {
    const { store } = this.#site
    const config = this.#config()
    const { syncs, retention } = config
    const { channels, failuresInRow: failures } = this.#wanted
    const watched = watchedSyncs(syncs)
    const names = watched.map(({ sync }) => sync)
    if (names.length === 0) return
    const wantedBy = (event: string) =>
      channels
        .filter(({ events }) => events.includes(event as NotificationEvent))
        .flatMap(routesOf)
        .map(({ key }) => key)
    await lookAndStore(store.db, names, wantedBy, async (trx, { conditions, decisions, now }) =>
      evaluate(
        conditions as readonly Condition[],
        { figures: await figuresOf(trx, watched), decisions, now },
        { failures, settledMs: this.#site.times.notify.settled, isConfigured: configuredTexts(config) },
      ),
    )
    await forgetNotifications(store.db, [...this.#routes.keys()], retention.timeMs)
    for (const { channel, waitMs } of await waitingDeliveries(store.db)) {
      if (waitMs <= 0) this.#wake(channel)
      else this.#wakeLater(channel, waitMs)
    }
  }

  /** Not awaited: during an outage of Redis this takes until it is back. */
  #wake(key: string): void {
    if (this.#queue === undefined || this.#waking.has(key)) return
    this.#waking.add(key)
    this.#queue
      .add('deliver', { channel: key })
      .catch(() => undefined)
      .finally(() => this.#waking.delete(key))
  }

  /** An evaluation also finds due deliveries, where this process ends before or the queue is away. */
  #wakeLater(key: string, ms: number): void {
    clearTimeout(this.#timers.get(key))
    const timer = setTimeout(() => this.#wake(key), ms)
    this.#timers.set(key, timer.unref())
  }

  async #work(key: string): Promise<void> {
    const work = this.#deliver(key)
    this.#delivering.add(work)
    await work.finally(() => this.#delivering.delete(work))
  }

  /** Delivers a route's notifications in order, until one has to wait. */
  async #deliver(key: string): Promise<void> {
    const { store, times, metrics, deviceId } = this.#site
    const route = this.#routes.get(key)
    if (route === undefined) return
    while (!this.#closing.aborted) {
      const claimed = await claimDelivery(store.db, key, times.notify.claim)
      if (claimed === undefined) return
      if ('waitMs' in claimed) return this.#wakeLater(key, claimed.waitMs)
      const { notification, event, attempts } = claimed
      const delivered = { ...claimed, id: `${deviceId}-${notification}`, event: event as NotificationEvent }
      const of = { notification, channel: key }
      const attempt = await this.#keeping(of, () =>
        tryDelivery(route.opened, { ...delivered, attempts }, times.notify, this.#cut.signal),
      )
      await settleDelivery(store.db, of, attempt)
      metrics?.count('dirsyncd_notifications_total', { channel: route.channel, delivery: attempt.delivery })
      this.#log(route, delivered, attempt)
      if (attempt.state === 'waiting') return this.#wakeLater(key, attempt.waitMs ?? 0)
    }
  }

  #log(
    { channel, recipient }: Route,
    { id, event, attempts }: Told,
    { state, detail }: DeliveryAttempt,
  ): void {
    const { log } = this.#site
    // A log must not have the address: the number is the place in the configured list.
    const about = { channel, recipient: recipient?.number, notification: id, event, attempts, reason: detail }
    if (state === 'delivered') log.info(about, 'a notification is delivered')
    else if (state === 'given-up') log.error(about, 'a notification could not be delivered')
    else log[attempts === 1 ? 'warn' : 'info'](about, 'a notification waits to be delivered')
  }

  /** Claims the delivery during a long attempt, so that no other process repeats it. */
  async #keeping<T>(of: Parameters<typeof keepDelivery>[1], attempt: () => Promise<T>): Promise<T> {
    const { store, times } = this.#site
    let keeping: Promise<void> = Promise.resolve()
    const keep = () => {
      keeping = keepDelivery(store.db, of, times.notify.claim).catch(() => undefined)
    }
    const timer = setInterval(keep, times.notify.claim / 3)
    try {
      return await attempt()
    } finally {
      clearInterval(timer)
      await keeping
    }
  }
}

/** The refusal of the store, logged without quoted texts. */
function refusalOf(error: unknown): object {
  const { code, table, constraint } = Object(error) as Readonly<
    Record<'code' | 'table' | 'constraint', unknown>
  >
  return { error: sentence(error), code, table, constraint }
}
