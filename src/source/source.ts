import type { LossLook, PreferredServer } from '../core/entries/evidence.ts'
import type { Kind } from '../core/entries/entry.ts'
import type { Sighting, SourceSnapshot } from '../core/entries/snapshot.ts'
import type { UserTable } from '../core/entries/user-table.ts'
import type { TraceStep } from './mapping/trace.ts'

export interface ReadOptions {
  /** The server to ask first, where there are several. */
  readonly preferred?: PreferredServer | undefined
  /** A person waits for the result, so a login that was refused is tried again at once. */
  readonly isAsked?: boolean
  /** The result is only shown, so a source does not wait until its files settle. */
  readonly isForDisplay?: boolean
  /** Where the users are kept; by default a table of their own. */
  readonly table?: UserTable
}

/** Where users and groups are read from: an LDAP server, CSV files or the output of a program. */
export interface Source {
  /**
   * Reads everything once. Resolves with a complete snapshot or throws a `DirsyncdError`
   * (`source-unreachable`, `source-refused`, `source-incomplete`), but never with a part.
   */
  read(signal: AbortSignal, options?: ReadOptions): Promise<SourceSnapshot>
  /**
   * The second look: reads these ids again, ignoring the sync's filter. The result has an entry for each of the ids.
   * Throws like `read`.
   */
  lookAgain(kind: Kind, ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Sighting>>
  /**
   * Looks again at groups that would lose members, because somebody may have been renamed while users and groups were
   * read one after the other. The result has an entry for each of the groups. Throws like `read`. A source that reads
   * everything at one moment does not have it.
   *
   * @param snapshot the result of `read` that the losses come from
   * @param losses for each id of a group, the ids of the users that it would lose
   */
  lookAtLosses?(
    snapshot: SourceSnapshot,
    losses: ReadonlyMap<string, readonly string[]>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, LossLook>>
  /**
   * The ids of the entries at these DNs, as those of groups are read; without the DNs whose entry or id the source does
   * not show. Looks at a thousand at most: of more, none are in the result. Throws like `read`.
   */
  idsAt?(dns: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, readonly string[]>>
  /** The facts that `dirsyncd check` shows: connection, identity and limits, each with a level. */
  probe(signal: AbortSignal): Promise<readonly ProbeLine[]>
  /** Looks for the entries that a person means, also outside of the sync's filter. Throws like `read`. */
  find(wanted: Wanted, signal: AbortSignal): Promise<Found>
}

/** Whom a person means. */
export interface Wanted {
  /** An id, an e-mail, a name, or where an entry was read (`FoundEntry.from`). */
  readonly who: string
  readonly kinds: readonly Kind[]
}

/** What a source has of whom a person means. */
export interface Found {
  /** If an id or a place fits, only its entries. Entries with the same id are all here. */
  readonly entries: readonly FoundEntry[]
  /**
   * If the entries have one id: what a read makes of them, and of other users with the same e-mail. It may hold
   * anybody else, or not, and an LDAP source leaves out the members of groups.
   */
  readonly snapshot: SourceSnapshot
  /** Every user of the source, as a read passes it on; only where everything was read. */
  readonly everybody?: SourceSnapshot['users']
  /** Where the source looked, such as `at and below ou=people,dc=example,dc=org`. */
  readonly searched: string
  /** The URL of the server that answered, where the source has servers. */
  readonly server: string | undefined
}

/** One entry, as the source has it. */
export interface FoundEntry {
  readonly kind: Kind
  /** All values of the id attribute. */
  readonly ids: readonly string[]
  /** A DN, or a file and a row. */
  readonly from: string
  /** What the sync's configuration makes of the entry; `undefined` for sources that have no filter. */
  readonly standing: Standing | undefined
  /**
   * What the entry is where it is outside of the filter and neither a person nor a group, such as `an organizational
   * unit (objectClass organizationalUnit)`.
   */
  readonly container?: string | undefined
  readonly fields: readonly FieldTrace[]
  /** How many members a group lists; `undefined` where the group does not list them itself. */
  readonly members: number | undefined
}

/** Whether an entry is within the configured bases and filter, and is no disabled account. */
export interface Standing {
  readonly bases: readonly string[]
  readonly inBase: boolean
  readonly filter: string
  readonly inFilter: boolean
  /** The rule that the account meets and so is disabled, and what the sync does with disabled accounts. */
  readonly disabled: { readonly rule: string; readonly action: 'delete' | 'skip' } | undefined
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
