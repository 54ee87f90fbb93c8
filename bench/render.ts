import type { BudgetFigures } from './budget.ts'
import type { Comparison, Figures } from './compare.ts'
import type { LoopDelay } from './contender.ts'
import type { ExplainFigures } from './explain.ts'
import type { PageFigures } from './pages.ts'
import type { IdleCpu, IdleFigures } from './idle.ts'
import type { Machine } from './machine.ts'

/** The results as a Markdown table, which reads well on a terminal too. */
export function render(machine: Machine, comparisons: readonly Comparison[]): string {
  const rows = [
    [
      'measured',
      'service',
      'time',
      'a second',
      'peak memory',
      'loop delay',
      'floor',
      'time',
      'a second',
      'peak memory',
      'ratio',
      'of CPU',
    ],
    ...comparisons.map((each) => [
      each.title,
      each.service,
      ...cells(each.ours),
      delay(each.ours.loopDelay),
      each.floorTitle,
      ...cells(each.floor),
      each.ratio.toFixed(2),
      each.cpuRatio.toFixed(2),
    ]),
  ]
  const notes = comparisons.flatMap(({ title, notes: seen = [] }) => seen.map((note) => `${title}: ${note}`))
  return [nameOf(machine), '', ...tableOf(rows), '', ...notes, ''].join('\n')
}

function delay({ p999Ms, maxMs, gcMs }: LoopDelay): string {
  return `${Math.round(p999Ms)} ms, at most ${Math.round(maxMs)}, garbage collection ${Math.round(gcMs)}`
}

/** What `benchBudget` measured, as a Markdown table. */
export function renderBudget(machine: Machine, figures: readonly BudgetFigures[]): string {
  const head = [
    'shared on',
    'limit',
    'processes',
    'used',
    '429 by a token bucket',
    '429 by a sliding window',
    'CPU',
  ]
  const rows = figures.map((each) => [
    each.place,
    `${each.perSecond} a second`,
    String(each.processes),
    percent(each.used, 1),
    percent(each.refused.tokenBucket, 2),
    percent(each.refused.slidingWindow, 2),
    `${Math.round(each.cpuMicros)} µs`,
  ])
  return [nameOf(machine), '', ...tableOf([head, ...rows]), ''].join('\n')
}

/** What `benchIdle` measured, as a Markdown table. */
export function renderIdle(machine: Machine, figures: readonly IdleFigures[]): string {
  const head = ['measured', 'CPU', 'CPU an hour', 'floor', 'CPU', 'CPU an hour', 'ratio']
  const rows = figures.map(({ people, seconds, ours, floor, ratio }) => [
    `a daemon without work, ${people} users`,
    ...idleCells(ours, seconds),
    'a BullMQ worker on an embedded store',
    ...idleCells(floor, seconds),
    ratio.toFixed(2),
  ])
  return [nameOf(machine), '', ...tableOf([head, ...rows]), ''].join('\n')
}

/** What `benchExplain` measured, as a Markdown table. */
export function renderExplain(machine: Machine, figures: readonly ExplainFigures[]): string {
  const head = ['dirsyncd explain', 'people', 'source', 'beside a daemon', 'alone']
  const rows = figures.map(({ who, people, source, besideDaemonMs, aloneMs }) => [
    who,
    String(people),
    source,
    `${Math.round(besideDaemonMs)} ms`,
    `${Math.round(aloneMs)} ms`,
  ])
  return [nameOf(machine), '', ...tableOf([head, ...rows]), ''].join('\n')
}

/** What `benchPages` measured, as a Markdown table. */
export function renderPages(machine: Machine, figures: readonly PageFigures[]): string {
  const head = ['page', 'changes in the run', 'size', 'median', '95 %', 'ratio to /healthz']
  const rows = figures.map(({ page, people, bytes, medianMs, p95Ms, ratio }) => [
    page,
    String(people),
    `${(bytes / 1000).toFixed(1)} kB`,
    `${medianMs.toFixed(1)} ms`,
    `${p95Ms.toFixed(1)} ms`,
    ratio.toFixed(1),
  ])
  return [nameOf(machine), '', ...tableOf([head, ...rows]), ''].join('\n')
}

function idleCells({ cpuMs, cpuSecondsPerHour }: IdleCpu, seconds: number): string[] {
  return [`${Math.round(cpuMs)} ms in ${seconds} s`, `${cpuSecondsPerHour.toFixed(1)} s`]
}

function percent(share: number, digits: number): string {
  return `${(share * 100).toFixed(digits)} %`
}

/** The machine in a line. */
export function nameOf({ cpu, cores, memoryGb, system, node, date }: Machine): string {
  return `${date}, ${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node ${node}`
}

/** The lines of a Markdown table whose first row is the head. */
export function tableOf(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = line(widths.map((width) => '-'.repeat(width)))
  const [head = [], ...body] = rows
  return [line(head), rule, ...body.map(line)]
}

function cells({ medianMs, perSecond, peakBytes }: Figures): string[] {
  return [time(medianMs), String(Math.round(perSecond)), megabytes(peakBytes)]
}

export function time(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MB`
}
