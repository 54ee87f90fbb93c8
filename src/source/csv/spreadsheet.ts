/** A long number in a spreadsheet (`1,23E+05`), and a failed formula in any language (`#NV`). */
const SHORTENED = /^\s*-?\d(?:[.,]\d+)?E\+\d+\s*$/i
const FAILED = /^\s*#(?:N\/?[ADV]|[\p{Lu}\d/]+[!?])\s*$/u

/** Why this text cannot be the original id; `undefined` when it can. */
export function spreadsheetProblem(id: string): string | undefined {
  if (SHORTENED.test(id))
    return `"${id}" is a long number that a spreadsheet has shortened; let it export the column as text`
  if (FAILED.test(id)) return `"${id}" is an error of a spreadsheet, not an id`
  return undefined
}

export function isSpreadsheetError(cell: string): boolean {
  return cell.includes('#') && FAILED.test(cell)
}

/** The delimiter in a first line that only Excel understands: `sep=;`. */
export function statedDelimiter(line: string): string | undefined {
  return /^sep=(.)$/iu.exec(line)?.[1]
}
