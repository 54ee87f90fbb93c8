import type { ServerEvidence } from '../core/entries/position.ts'
import type { Kind } from '../core/entries/entry.ts'
import type { EntryNow, Recheck } from '../core/entries/recheck.ts'
import type { SourceSnapshot } from '../core/entries/snapshot.ts'
import type { UserTable } from '../core/entries/user-table.ts'
import type { TraceStep } from './mapping/trace.ts'

/** The server of the last good read, which is asked first. */
export type PreferredServer = Pick<ServerEvidence, 'url' | 'address'>

export interface ReadOptions {
  readonly preferred?: PreferredServer | undefined
  /** An operator waits for the result, so a refused login is tried again at once. */
  readonly isAsked?: boolean
  /** The result is only shown, so a source does not wait until its files settle. */
  readonly isForDisplay?: boolean
  /** By default the users get a table of their own. */
  readonly table?: UserTable
}

/** An LDAP server, CSV files or the output of a program. */
export interface Source {
  /** A complete snapshot, never a part. Throws `source-unreachable`, `source-refused` or `source-incomplete`. */
  read(signal: AbortSignal, options?: ReadOptions): Promise<SourceSnapshot>
  /** Rechecks ids, ignoring the sync's filter. The result has an entry for each of them. Throws like `read`. */
  readIds(kind: Kind, ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Recheck>>
  /**
   * The entries at these normal DNs, without those that the source does not show. Throws like `read`. Only sources
   * whose groups list DNs have it.
   */
  readDns?(dns: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, EntryNow>>
  /** The facts that `dirsyncd check` shows: connection, identity and limits, each with a level. */
  probe(signal: AbortSignal): Promise<readonly ProbeLine[]>
  /** Looks for entries also outside of the sync's filter. Throws like `read`. */
  find(wanted: Wanted, signal: AbortSignal): Promise<Found>
}

export interface Wanted {
  /** An id, an e-mail, a name, or the origin of an entry (`FoundEntry.from`). */
  readonly who: string
  readonly kinds: readonly Kind[]
}

export interface Found {
  /** If an id or an origin matches, only its entries. Entries with the same id are all here. */
  readonly entries: readonly FoundEntry[]
  /**
   * If the entries have one id: what a read makes of them, and of other users with the same e-mail. It may contain
   * further users, or not, and an LDAP source leaves out the members of groups.
   */
  readonly snapshot: SourceSnapshot
  /** Every user of the source, as in a read; only where everything was read. */
  readonly everybody?: SourceSnapshot['users']
  /** Where the source looked, such as `at and below ou=people,dc=example,dc=org`. */
  readonly searched: string
  /** The URL of the server that answered, where the source has servers. */
  readonly server: string | undefined
}

export interface FoundEntry {
  readonly kind: Kind
  /** All values of the id attribute. */
  readonly ids: readonly string[]
  /** A DN, or a file and a row. */
  readonly from: string
  /** `undefined` for sources that have no filter. */
  readonly standing: Standing | undefined
  /** Of an entry that is no user and no group: such as `a container (objectClass organizationalUnit)`. */
  readonly container?: string | undefined
  readonly fields: readonly FieldTrace[]
  /** The number of listed members; `undefined` where the group does not list them itself. */
  readonly members: number | undefined
}

/** Whether an entry is within the configured bases and filter, and is no disabled account. */
export interface Standing {
  readonly bases: readonly string[]
  readonly inBase: boolean
  readonly filter: string
  readonly inFilter: boolean
  /** The rule by which the account is disabled, and the sync's option for disabled accounts. */
  readonly disabled: { readonly rule: string; readonly action: 'delete' | 'skip' } | undefined
}

export interface FieldTrace {
  readonly field: 'email' | 'name' | 'employee_id'
  readonly value: string | undefined
  /** In order; the last one is the result. */
  readonly steps: readonly TraceStep[]
}

/** `ok` was tested, `info` is only reported, `warn` works but the operator should check it. */
export type ProbeLevel = 'ok' | 'info' | 'warn'

export interface ProbeLine {
  /** One or two words, such as `tls`. */
  readonly label: string
  readonly detail: string
  readonly level: ProbeLevel
}
