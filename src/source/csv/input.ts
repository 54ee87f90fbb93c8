import type { Lookup } from '../mapping.ts'

export interface CsvListener {
  /** `from` is the file with its row, such as "users.csv, row 17". */
  onRow(row: { readonly from: string; readonly cells: Lookup }): void
  /** A row that cannot be understood; the sentence names file, row and column. */
  onUnreadable(detail: string): void
}

export interface CsvTotals {
  /** Rows with content, without the header. */
  readonly rows: number
  /** The columns that the file has, in its order. */
  readonly columns: readonly string[]
}

/** A file and the columns that are wanted of it; `key` names it in the configuration. */
export interface CsvInput {
  readonly path: string
  readonly delimiter: string
  readonly columns: readonly string[]
  readonly key: string
}
