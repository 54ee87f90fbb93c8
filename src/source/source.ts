import type { Kind } from '../directory/entry.ts'
import type { Sighting, SourceSnapshot } from '../directory/snapshot.ts'

/** Where the truth lives: an LDAP server or CSV files. */
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
}

/** `ok` was proved, `info` is only told, `warn` works and somebody should look at it. */
export type ProbeLevel = 'ok' | 'info' | 'warn'

export interface ProbeLine {
  /** One or two words, such as `tls`. */
  readonly label: string
  readonly detail: string
  readonly level: ProbeLevel
}
