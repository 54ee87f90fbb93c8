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
  type DeliveryKey,
  forgetNotifications,
  keepDelivery,
  lookAndStore,
  settleDelivery,
  waitingDeliveries,
} from '../store/notifications.ts'
import { type Route, routesOf } from './routes.ts'
import { type Site, watchedSyncs } from './site.ts'

/** A job only wakes whoever delivers: the store has what is to be delivered. */
interface DeliverJob {
  /** The key of a route. */
  readonly channel: string
}

type Told = Delivered & { readonly attempts: number }

const QUEUE = 'notifications'

/** As long as changes in flight have, when the process is to end. */
const GRACE_MS = 3000

/** Looks for what a person is to be told of, and delivers it. */
export class Notifier implements AsyncDisposable {
  readonly #site: Site
  readonly #config: () => Config
  readonly #wanted: Config['notifications']
  readonly #stack = new AsyncDisposableStack()
  readonly #routes = new Map<string, Route & { readonly opened: Channel }>()
  readonly #closing: AbortSignal
  /** Aborted when a delivery under way has had the time to end: it is made again, and may arrive twice. */
  readonly #cut = new AbortController()
  readonly #delivering = new Set<Promise<void>>()
  /** When each route tries again. */
  readonly #timers = new Map<string, NodeJS.Timeout>()
  /** The routes of which the queue is being told. */
  readonly #waking = new Set<string>()
  #queue: Queue<DeliverJob> | undefined
  #looking: Promise<void> | undefined
  #again = false

  /**
   * @param wanted the channels, which stay those of the start
   * @param config gives the syncs as they are now
   * @param signal aborted when nothing more is to be delivered; what is under way then has `GRACE_MS` to end
   */
  constructor(site: Site, wanted: Config['notifications'], config: () => Config, signal: AbortSignal) {
    this.#site = site
    this.#wanted = wanted
    this.#config = config
    this.#closing = signal
  }

  /** Does nothing where nobody wants to be told. */
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

  /** Looks in the background; while a look is under way, once more after it. */
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

  /** While Redis is away this takes until it is back, so nobody waits for it. */
  #wake(key: string): void {
    if (this.#queue === undefined || this.#waking.has(key)) return
    this.#waking.add(key)
    this.#queue
      .add('deliver', { channel: key })
      .catch(() => undefined)
      .finally(() => this.#waking.delete(key))
  }

  /** A look finds what is due, too, where this process ends before or the queue is away. */
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

  /** Delivers what a route has not delivered, one after the other, until one has to wait. */
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
    // An address is for nobody's log: the number is that of the list in the configuration.
    const about = { channel, recipient: recipient?.number, notification: id, event, attempts, reason: detail }
    if (state === 'delivered') log.info(about, 'a notification is delivered')
    else if (state === 'given-up') log.error(about, 'a notification could not be delivered')
    else log[attempts === 1 ? 'warn' : 'info'](about, 'a notification waits to be delivered')
  }

  /** While an attempt takes its time, as with a mail server that looks for viruses, nobody else makes it too. */
  async #keeping<T>(of: DeliveryKey, attempt: () => Promise<T>): Promise<T> {
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

/** Why the store did not take it, with names that a log may hold, which leaves out what a sentence quotes. */
function refusalOf(error: unknown): object {
  const { code, table, constraint } = Object(error) as Readonly<
    Record<'code' | 'table' | 'constraint', unknown>
  >
  return { error: sentence(error), code, table, constraint }
}
