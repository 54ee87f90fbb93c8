import type { Kind } from '../directory/entry.ts'
import type { Sighting, SourceSnapshot } from '../directory/snapshot.ts'
import type { TraceStep } from './mapping/trace.ts'

/** Where the truth lives: an LDAP server, CSV files or what a program prints. */
export interface Source {
  /**
   * Reads everything once. Resolves with a complete snapshot or throws a `DirsyncdError`
   * (`source-unreachable`, `source-refused`, `source-incomplete`); half a read is never returned.
   */
  read(signal: AbortSignal): Promise<SourceSnapshot>
  /**
   * The second look: asks for these ids again, without the sync's filter. The answer has every id that was asked
   * for. Throws like `read`.
   */
  lookAgain(kind: Kind, ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Sighting>>
  /** What `dirsyncd check` shows of a source: connection, identity and limits, each fact with what to think of it. */
  probe(signal: AbortSignal): Promise<readonly ProbeLine[]>
  /** How one entry's fields came about; `undefined` where the source has no such entry. Throws like `read`. */
  explain?(kind: Kind, id: string, signal: AbortSignal): Promise<EntryTrace | undefined>
}

/** How one entry came to be what it is. */
export interface EntryTrace {
  readonly kind: Kind
  readonly id: string
  readonly from: string
  readonly fields: readonly FieldTrace[]
}

export interface FieldTrace {
  readonly field: 'email' | 'name' | 'employee_id'
  readonly value: string | undefined
  /** In the order in which they happened; the last one is the result. */
  readonly steps: readonly TraceStep[]
}

/** `ok` was proved, `info` is only told, `warn` works and somebody should look at it. */
export type ProbeLevel = 'ok' | 'info' | 'warn'

export interface ProbeLine {
  /** One or two words, such as `tls`. */
  readonly label: string
  readonly detail: string
  readonly level: ProbeLevel
}
