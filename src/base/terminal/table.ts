import { textWidth } from './text.ts'

/** Columns are two blanks apart; numbers are aligned right. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const columns = head.map((title, column) => {
    const cells = rows.map((row) => row[column] ?? '')
    return {
      width: cells.reduce((widest, cell) => Math.max(widest, textWidth(cell)), textWidth(title)),
      right: cells.length > 0 && cells.every((cell) => /^[\d,.]*$/.test(cell)),
    }
  })
  return [head, ...rows].map((row) =>
    columns
      .map(({ width, right }, column) => pad(row[column] ?? '', width, right))
      .join('  ')
      .trimEnd(),
  )
}

function pad(cell: string, width: number, right: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - textWidth(cell)))
  return right ? blanks + cell : cell + blanks
}
