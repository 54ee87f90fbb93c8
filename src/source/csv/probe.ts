import type { ProbeLine } from '../source.ts'
import type { CsvInput } from './input.ts'
import { findFiles, patternsOf } from './files.ts'
import { readCsv } from './read-csv.ts'

/** What `dirsyncd check` shows of each file; reads them to their ends. */
export async function probe(inputs: readonly CsvInput[], signal: AbortSignal): Promise<ProbeLine[]> {
  const lines: ProbeLine[] = []
  for (const input of inputs) {
    const { rows, columns } = await readCsv(input, signal, {
      onRow: () => undefined,
      onUnreadable: () => undefined,
      onDoubt: (detail) => lines.push({ label: input.key, detail, level: 'warn' }),
    })
    const files = await findFiles(input)
    const several = files.length > 1 ? ` in ${files.length} files` : ''
    lines.push({
      label: input.key,
      detail: `${patternsOf(input).join(', ')}: ${rows} rows${several} with the columns ${columns.join(', ')}`,
      level: 'ok',
    })
  }
  return lines
}
