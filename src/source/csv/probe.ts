import type { ProbeLine } from '../source.ts'
import type { CsvInput } from './input.ts'
import { readCsv } from './read-csv.ts'

/** What `dirsyncd check` shows of each file; reads them to their ends. */
export async function probe(inputs: readonly CsvInput[], signal: AbortSignal): Promise<ProbeLine[]> {
  const lines: ProbeLine[] = []
  for (const input of inputs) {
    const { rows, columns } = await readCsv(input, signal, {
      onRow: () => undefined,
      onUnreadable: () => undefined,
    })
    lines.push({
      label: input.key,
      detail: `${input.path}: ${rows} rows with the columns ${columns.join(', ')}`,
      level: 'ok',
    })
  }
  return lines
}
