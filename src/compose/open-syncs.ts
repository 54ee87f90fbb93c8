import type { SyncConfig } from '../config/config.ts'
import type { ChangedSync, ReloadReport } from '../operations/reload.ts'
import { changedKeys } from '../core/plan/configuration.ts'

export type SyncChanges = Pick<ReloadReport, 'added' | 'changed' | 'removed'>

interface Opened {
  readonly config: SyncConfig
  readonly parts: AsyncDisposable
}

export class OpenSyncs implements AsyncDisposable {
  readonly #open: (sync: SyncConfig) => Promise<AsyncDisposable>
  readonly #opened = new Map<string, Opened>()
  /** Syncs that are being changed; each promise resolves when that is done. */
  readonly #changing = new Map<string, Promise<void>>()

  constructor(open: (sync: SyncConfig) => Promise<AsyncDisposable>) {
    this.#open = open
  }

  async begin(syncs: readonly SyncConfig[]): Promise<void> {
    const { failures } = await this.change(syncs)
    if (failures.length > 0) throw failures[0]
  }

  async settled(sync: string): Promise<void> {
    await this.#changing.get(sync)
  }

  /**
   * Changes only the syncs that differ. All of those are closed before one is opened, because they may have exchanged
   * their directories. The next call retries a failed opening.
   */
  async change(
    syncs: readonly SyncConfig[],
  ): Promise<{ changes: SyncChanges; failures: readonly unknown[] }> {
    const changes = compareSyncs(
      [...this.#opened.values()].map(({ config }) => config),
      syncs,
    )
    const touched = [...changes.added, ...changes.removed, ...changes.changed.map(({ sync }) => sync)]
    const done = Promise.withResolvers<void>()
    for (const name of touched) this.#changing.set(name, done.promise)
    try {
      await this.#closeAll(touched)
      return { changes, failures: await this.#openAll(syncs) }
    } finally {
      for (const name of touched) this.#changing.delete(name)
      done.resolve()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closeAll([...this.#opened.keys()])
  }

  async #closeAll(names: readonly string[]): Promise<void> {
    await Promise.all(
      names.map(async (name) => {
        await this.#opened.get(name)?.parts[Symbol.asyncDispose]()
        this.#opened.delete(name)
      }),
    )
  }

  async #openAll(syncs: readonly SyncConfig[]): Promise<readonly unknown[]> {
    const failures: unknown[] = []
    for (const config of syncs) {
      if (this.#opened.has(config.name)) continue
      try {
        this.#opened.set(config.name, { config, parts: await this.#open(config) })
      } catch (error) {
        failures.push(error)
      }
    }
    return failures
  }
}

function compareSyncs(before: readonly SyncConfig[], now: readonly SyncConfig[]): SyncChanges {
  const old = new Map(before.map((sync) => [sync.name, sync]))
  const names = new Set(now.map(({ name }) => name))
  const changed = now.flatMap(({ name: sync, written }): ChangedSync[] => {
    const keys = changedKeys(old.get(sync)?.written ?? written, written)
    return keys.length === 0 ? [] : [{ sync, keys }]
  })
  return {
    added: now.flatMap(({ name }) => (old.has(name) ? [] : [name])),
    changed,
    removed: before.flatMap(({ name }) => (names.has(name) ? [] : [name])),
  }
}
