import type { Comparison, Figures } from './compare.ts'
import type { Machine } from './machine.ts'

/** The results as a Markdown table, which reads well on a terminal too. */
export function render(machine: Machine, comparisons: readonly Comparison[]): string {
  const { cpu, cores, memoryGb, system, node, date } = machine
  const rows = [
    [
      'measured',
      'service',
      'time',
      'a second',
      'peak memory',
      'floor',
      'time',
      'a second',
      'peak memory',
      'ratio',
    ],
    ...comparisons.map((each) => [
      each.title,
      each.service,
      ...cells(each.ours),
      each.floorTitle,
      ...cells(each.floor),
      each.ratio.toFixed(2),
    ]),
  ]
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = line(widths.map((width) => '-'.repeat(width)))
  const [head = [], ...body] = rows
  const where = `${date}, ${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node ${node}`
  const notes = comparisons.flatMap(({ title, notes: seen = [] }) => seen.map((note) => `${title}: ${note}`))
  return [where, '', line(head), rule, ...body.map(line), '', ...notes, ''].join('\n')
}

function cells({ medianMs, perSecond, peakBytes }: Figures): string[] {
  const time = medianMs < 1000 ? `${Math.round(medianMs)} ms` : `${(medianMs / 1000).toFixed(2)} s`
  return [time, String(Math.round(perSecond)), `${Math.round(peakBytes / 1024 ** 2)} MB`]
}
