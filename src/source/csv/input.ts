import type { RE2JS } from 're2js'
import type { Lookup } from '../mapping.ts'
import type { CsvFormat } from './options.ts'

export interface CsvListener {
  /** `from` returns the file and its row, such as "users.csv, row 17". */
  onRow(row: { readonly from: () => string; readonly cells: Lookup }): void
  /** A row that cannot be understood; the sentence names file, row and column. */
  onUnreadable(detail: string): void
  /** Text that looks wrong, mostly for another encoding; called once for each kind of damage of a file. */
  onDoubt?(detail: string): void
  /** Called for each file, before its first row. */
  onFile?(file: CsvFileFacts): void
}

export interface CsvFileFacts {
  readonly path: string
  /** As the WHATWG calls it, such as `windows-1250`. */
  readonly encoding: string
  readonly zipped: boolean
  /** When it was last written, in milliseconds since 1970. */
  readonly writtenMs: number
}

export interface CsvTotals {
  /** Rows with content, without header and trailer. */
  readonly rows: number
  /** The columns that the file has, in its order; of several files the first one's. */
  readonly columns: readonly string[]
}

/** Files and the columns that are wanted from them; `key` names them in the configuration. */
export interface CsvInput extends Omit<CsvFormat, 'encoding' | 'trailer'> {
  /** `auto`, or as the WHATWG calls it; UTF-8 when it is left out. */
  readonly encoding?: string
  readonly trailer?: RE2JS
  readonly columns: readonly string[]
  /** Those among them that hold ids. */
  readonly idColumns?: readonly string[]
  readonly key: string
  /** The column that names the groups, if there is one. */
  readonly groupColumn?: string
}
