import type { Queue } from 'bullmq'
import type { SyncConfig } from '../config/config.ts'
import {
  type RepeatOptions,
  restoreSchedules,
  setSchedule,
  setSchedules,
  type WakeJob,
} from '../queue/runs.ts'
import { repeatOptions } from '../sync/schedule.ts'

/** The wanted schedules of the queue. */
export class Schedules {
  readonly #queue: Queue<WakeJob>
  #wanted: ReadonlyMap<string, RepeatOptions> = new Map()
  /** Syncs whose schedule is missing in the queue because of an outage. */
  readonly #unset = new Set<string>()
  /** Sequential, so that an older schedule never replaces a newer one. */
  #setting = Promise.resolve()

  constructor(queue: Queue<WakeJob>) {
    this.#queue = queue
  }

  /** Schedules of other syncs are removed. */
  async begin(syncs: readonly SyncConfig[]): Promise<void> {
    this.#wanted = schedulesOf(syncs)
    await setSchedules(this.#queue, this.#wanted)
  }

  /** Sets what differs from before; after an outage, `restore` does. */
  async change(syncs: readonly SyncConfig[]): Promise<void> {
    const before = this.#wanted
    this.#wanted = schedulesOf(syncs)
    for (const sync of new Set([...before.keys(), ...this.#wanted.keys()])) {
      if (JSON.stringify(before.get(sync)) !== JSON.stringify(this.#wanted.get(sync))) this.#unset.add(sync)
    }
    await this.#setUnset()
  }

  /** Sets the schedules that the queue has lost. */
  async restore(): Promise<void> {
    await this.#setUnset()
    await restoreSchedules(this.#queue, this.#wanted)
  }

  #setUnset(): Promise<void> {
    const next = this.#setting.then(() => this.#set())
    this.#setting = next.catch(() => undefined)
    return next
  }

  async #set(): Promise<void> {
    for (const sync of this.#unset) {
      const repeat = this.#wanted.get(sync)
      if (repeat === undefined) await this.#queue.removeJobScheduler(sync)
      else await setSchedule(this.#queue, sync, repeat)
      this.#unset.delete(sync)
    }
  }
}

function schedulesOf(syncs: readonly SyncConfig[]): ReadonlyMap<string, RepeatOptions> {
  const schedules = new Map<string, RepeatOptions>()
  for (const { name, schedule } of syncs) {
    if (schedule !== undefined) schedules.set(name, repeatOptions(schedule, name))
  }
  return schedules
}
