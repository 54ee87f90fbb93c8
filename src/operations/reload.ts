import type { Options } from '../core/plan/configuration.ts'

/** What a daemon did with a configuration that it read while it was running. */
export interface ReloadReport {
  /** The file, absolute. */
  readonly file: string
  readonly added: readonly string[]
  readonly changed: readonly ChangedSync[]
  readonly removed: readonly string[]
  /** Options outside of the syncs that were changed and hold from now on. */
  readonly applied: readonly string[]
  /** Options that were changed and are still as before: they need a restart. */
  readonly needRestart: readonly string[]
}

/** A sync as a process has read it. */
export interface WrittenSync {
  readonly name: string
  readonly written: Options
}

export interface ChangedSync {
  readonly sync: string
  /** Its options that were changed. */
  readonly keys: readonly string[]
}
