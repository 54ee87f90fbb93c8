import type { Kind } from '../entries/entry.ts'
import type { Baseline } from '../plan/baseline.ts'
import type { Options } from '../plan/configuration.ts'
import type { ServerMemory } from '../plan/server.ts'
import type { Contributors } from './group-contributors.ts'

/** Since when an entry is absent, and in how many complete reads before this one. */
export interface Absence {
  readonly since: Date
  readonly reads: number
}

/** What checks keep for the next run, by check; left out where there is nothing yet. */
export interface States {
  readonly grace?: Readonly<Record<Kind, ReadonlyMap<string, Absence>>>
  readonly server?: ServerMemory
  /** Where the entries of the last complete run were. */
  readonly containers?: Readonly<Partial<Record<Kind, Baseline>>>
  /** What the members of each group came from in the last complete run. */
  readonly groups?: Contributors
  /** The source in the last complete run. */
  readonly size?: { readonly users: number; readonly groups: number }
  readonly configuration?: { readonly run: number; readonly options: Options }
}
