import type { GroupMap, UserMap, ValueExpression } from '../mapping.ts'

/** The format of one or several files of one kind, and the proofs that they are complete. */
export interface CsvFormat {
  /** Absolute; a file, a glob, or a list of these. */
  readonly path: string | readonly string[]
  /** One character. */
  readonly delimiter: string
  /** One character; `null` where quotes are ordinary characters. `"` when it is left out. */
  readonly quote?: string | null
  /** A WHATWG label, `utf16le` or `utf16be`. `auto`: UTF-16 by byte order mark or zero bytes, otherwise UTF-8. */
  readonly encoding: string
  /** An RE2 pattern of the last line of every file; its first group, if any, is the number of rows. */
  readonly trailer?: { readonly pattern: string }
  /** Beside every file is `<path>.rows`, which begins with the number of rows. */
  readonly rows?: boolean
  /** Beside every file is `<path>.sha256`, as sha256sum writes it. */
  readonly sha256?: boolean
  readonly maxAgeMs?: number
}

export interface CsvFile<M> extends CsvFormat {
  /** Attributes are the names of columns. */
  readonly map: M
}

/** Groups without a file: a column of the users names them. */
export interface GroupColumn {
  readonly column: string
  /** Between the groups of one user; without it a user has one group at most. */
  readonly separator?: string
  /** Makes the name of a group from its text in the column; by default the text itself. */
  readonly name?: ValueExpression
}

export interface MembersMap {
  readonly group: string
  readonly user: string
}

export interface CsvSourceOptions {
  /** Of several values of an attribute, one in these domains goes first. */
  readonly allowedDomains?: readonly string[]
  readonly users: CsvFile<UserMap>
  readonly groups?: CsvFile<Omit<GroupMap, 'members'>> | GroupColumn
  readonly members?: CsvFile<MembersMap>
  /** For a row that cannot be understood: `skip` it and delete nothing, or `refuse` the run. Default `skip`. */
  readonly badRows?: 'skip' | 'refuse'
  /** How long the files must be unchanged before the read, in milliseconds. Default 0. */
  readonly settleMs?: number
  readonly watch?: boolean
}
