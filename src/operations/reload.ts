import type { Options } from '../core/plan/configuration.ts'

export interface ReloadReport {
  /** Absolute. */
  readonly file: string
  readonly added: readonly string[]
  readonly changed: readonly ChangedSync[]
  readonly removed: readonly string[]
  /** Changed options outside of the syncs that are now in effect. */
  readonly applied: readonly string[]
  readonly needRestart: readonly string[]
}

export interface WrittenSync {
  readonly name: string
  readonly written: Options
}

export interface ChangedSync {
  readonly sync: string
  readonly keys: readonly string[]
}
