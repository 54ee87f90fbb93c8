/** What a spreadsheet leaves of a long number (`1,23E+05`), and of a formula that fails, in whichever language (`#NV`). */
const SHORTENED = /^\s*-?\d(?:[.,]\d+)?E\+\d+\s*$/i
const FAILED = /^\s*#(?:N\/?[ADV]|[\p{Lu}\d/]+[!?])\s*$/u

/** Why this cannot be the id that it was; `undefined` for everything else. */
export function spreadsheetProblem(id: string): string | undefined {
  if (SHORTENED.test(id))
    return `"${id}" is what a spreadsheet leaves of a long number; let it export the column as text`
  if (FAILED.test(id)) return `"${id}" is the error of a spreadsheet, and no id`
  return undefined
}

/** The delimiter that a first line says which only Excel understands: `sep=;`. */
export function statedDelimiter(line: string): string | undefined {
  return /^sep=(.)$/iu.exec(line)?.[1]
}
