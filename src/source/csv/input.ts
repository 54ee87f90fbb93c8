import type { RE2JS } from 're2js'
import type { Lookup } from '../mapping.ts'
import type { CsvFormat } from './options.ts'

export interface CsvListener {
  /** `from` says the file with its row, such as "users.csv, row 17". */
  onRow(row: { readonly from: () => string; readonly cells: Lookup }): void
  /** A row that cannot be understood; the sentence names file, row and column. */
  onUnreadable(detail: string): void
  /** Text that was read and looks as if the encoding were another; once for each sort of damage of a file. */
  onDoubt?(detail: string): void
  /** A file, before its first row. */
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

/** A file and the columns that are wanted of it; `key` names it in the configuration. */
export interface CsvInput extends Omit<CsvFormat, 'encoding' | 'trailer'> {
  /** `auto`, or as the WHATWG calls it; UTF-8 when it is left out. */
  readonly encoding?: string
  readonly trailer?: RE2JS
  readonly columns: readonly string[]
  /** Those among them that hold ids. */
  readonly idColumns?: readonly string[]
  readonly key: string
  /** The one of the columns that names the groups, where there is one. */
  readonly groupColumn?: string
}
