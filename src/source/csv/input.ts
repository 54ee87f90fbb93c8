import type { RE2JS } from 're2js'
import type { Faulty } from '../../core/notice.ts'
import type { Lookup } from '../mapping.ts'
import type { CsvFormat } from './options.ts'

export interface CsvListener {
  /** `from` returns the file and its row, such as "users.csv, row 17". */
  onRow(row: { readonly from: () => string; readonly cells: Lookup }): void
  /** A row that cannot be understood. */
  onUnreadable(row: Faulty): void
  /** Text that looks wrong, mostly for another encoding; called once for each kind of damage of a file. */
  onDoubt?(text: Faulty): void
  /** Called for each file, before its header. */
  onFile?(file: CsvFileFacts): void
  onHeader?(columns: readonly string[]): void
}

export interface CsvFileFacts {
  readonly path: string
  /** The WHATWG's name, such as `windows-1250`. */
  readonly encoding: string
  readonly zipped: boolean
  /** In milliseconds since 1970. */
  readonly writtenMs: number
}

export interface CsvTotals {
  /** Rows with content, without header and trailer. */
  readonly rows: number
  /** In the order of the (first) file. */
  readonly columns: readonly string[]
}

/** `key` names the input in the configuration. */
export interface CsvInput extends Omit<CsvFormat, 'encoding' | 'trailer'> {
  /** `auto`, or the WHATWG's name; UTF-8 when it is left out. */
  readonly encoding?: string
  readonly trailer?: RE2JS
  readonly columns: readonly string[]
  readonly idColumns?: readonly string[]
  readonly key: string
  readonly groupColumn?: string
}
