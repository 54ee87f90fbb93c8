import { arch, cpus, totalmem } from 'node:os'
import type { Comparison, Figures } from './compare.ts'

/** The date and the machine in a line. */
export function thisMachine(): string {
  const all = cpus()
  const date = new Date().toISOString().slice(0, 10)
  const memory = Math.round(totalmem() / 1024 ** 3)
  const system = `${process.platform} ${arch()}, Node ${process.versions.node}`
  return `${date}, ${all[0]?.model.trim() ?? arch()}, ${all.length} cores, ${memory} GB, ${system}`
}

const FIGURES = ['time', 'a second', 'CPU', 'peak memory']
const HEAD = ['measured', 'service', ...FIGURES, 'loop delay', 'floor', ...FIGURES, 'ratio', 'of CPU']

/** The results as a Markdown table, which reads well on a terminal too. */
export function render(machine: string, comparisons: readonly Comparison[]): string {
  const rows = comparisons.map((each) => [
    each.title,
    each.service,
    ...cells(each.ours),
    delay(each.ours),
    each.floorTitle,
    ...cells(each.floor),
    each.ratio.toFixed(2),
    each.cpuRatio.toFixed(2),
  ])
  const notes = comparisons.flatMap(({ title, notes: seen = [] }) => seen.map((note) => `${title}: ${note}`))
  return [machine, '', ...tableOf([HEAD, ...rows]), '', ...notes, ''].join('\n')
}

function cells({ medianMs, perSecond, medianCpuMs, peakBytes }: Figures): string[] {
  return [time(medianMs), String(Math.round(perSecond)), time(medianCpuMs), megabytes(peakBytes)]
}

function delay({ loopDelay: { p999Ms, maxMs, gcMs } }: Figures): string {
  return `${Math.round(p999Ms)} ms, at most ${Math.round(maxMs)}, garbage collection ${Math.round(gcMs)}`
}

/** The lines of a Markdown table whose first row is the head. */
function tableOf(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = line(widths.map((width) => '-'.repeat(width)))
  const [head = [], ...body] = rows
  return [line(head), rule, ...body.map(line)]
}

function time(ms: number): string {
  if (ms < 100) return `${ms.toFixed(1)} ms`
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MB`
}
