import type { ServiceAdmin } from '../admin/open.ts'
import type { Session } from './context.ts'
import { renderTable } from '../../base/terminal/table.ts'

export async function withService<Result>(
  { config, log, openAdmin }: Session,
  work: (admin: ServiceAdmin) => Promise<Result>,
): Promise<Result> {
  await using admin = await openAdmin(config.service, log)
  return await work(admin)
}

/** Objects for machines, a table for operators. */
export function printRows<Row>(
  session: Session,
  rows: readonly Row[],
  table: {
    readonly head: readonly string[]
    readonly cells: (row: Row) => readonly string[]
    readonly none: string
  },
): void {
  if (session.json) for (const row of rows) session.printJson(row)
  else if (rows.length === 0) session.print(table.none)
  else session.print(...renderTable(table.head, rows.map(table.cells)))
}

/** An object for machines, a sentence for operators. */
export function printResult(
  session: Pick<Session, 'json' | 'print' | 'printJson'>,
  value: object,
  sentence: string,
): void {
  if (session.json) session.printJson(value)
  else session.print(sentence)
}
