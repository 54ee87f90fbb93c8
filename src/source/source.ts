import type { Kind } from '../directory/entry.ts'
import type { Sighting, SourceSnapshot } from '../directory/snapshot.ts'
import type { TraceStep } from './mapping/trace.ts'

/** Where users and groups are read from: an LDAP server, CSV files or the output of a program. */
export interface Source {
  /**
   * Reads everything once. Resolves with a complete snapshot or throws a `DirsyncdError`
   * (`source-unreachable`, `source-refused`, `source-incomplete`), but never with a part.
   */
  read(signal: AbortSignal): Promise<SourceSnapshot>
  /**
   * The second look: reads these ids again, ignoring the sync's filter. The result has an entry for each of the ids.
   * Throws like `read`.
   */
  lookAgain(kind: Kind, ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Sighting>>
  /** The facts that `dirsyncd check` shows: connection, identity and limits, each with a level. */
  probe(signal: AbortSignal): Promise<readonly ProbeLine[]>
  /** Explains how one entry's fields get their values; `undefined` if there is no such entry. Throws like `read`. */
  explain?(kind: Kind, id: string, signal: AbortSignal): Promise<EntryTrace | undefined>
}

/** How the fields of one entry get their values. */
export interface EntryTrace {
  readonly kind: Kind
  readonly id: string
  readonly from: string
  readonly fields: readonly FieldTrace[]
}

export interface FieldTrace {
  readonly field: 'email' | 'name' | 'employee_id'
  readonly value: string | undefined
  /** In order; the last one is the result. */
  readonly steps: readonly TraceStep[]
}

/** `ok` was tested, `info` is only reported, `warn` works but a person should check it. */
export type ProbeLevel = 'ok' | 'info' | 'warn'

export interface ProbeLine {
  /** One or two words, such as `tls`. */
  readonly label: string
  readonly detail: string
  readonly level: ProbeLevel
}
