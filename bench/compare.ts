import type { Memory, Times } from './contender.ts'
import type { ContenderProcess } from './processes.ts'

/** One line of the table: our code and its floor (see README.md). */
export interface Comparison {
  /** Identifies the comparison in the JSON output. */
  readonly id: string
  /** What was measured, as text. */
  readonly title: string
  /** What the floor does, as text. */
  readonly floorTitle: string
  /** The service that both sides use: none, an in-memory stand-in, or the real service on PostgreSQL. */
  readonly service: 'none' | 'instant' | 'real'
  /** Entries, changes or jobs per repetition. */
  readonly count: number
  readonly ours: Figures
  readonly floor: Figures
  /** Median time of our code divided by that of the floor. */
  readonly ratio: number
  /** The same of the CPU time of the two processes. */
  readonly cpuRatio: number
  /** Other results, one sentence each. */
  readonly notes?: readonly string[]
}

export interface Figures extends Memory {
  /** Milliseconds of each repetition in order, without the warm-up. */
  readonly ms: readonly number[]
  readonly medianMs: number
  readonly medianCpuMs: number
  readonly perSecond: number
}

export interface ComparisonOptions {
  readonly id: string
  readonly title: string
  readonly floorTitle: string
  readonly service: Comparison['service']
  readonly count: number
  readonly ours: ContenderProcess
  readonly floor: ContenderProcess
  /** Called before each repetition of either side; its time is not measured. */
  readonly before?: () => Promise<unknown>
  readonly repetitions: number
  /** Without a warm-up, also what the first repetition costs more is measured. True by default. */
  readonly warmUp?: boolean
}

/** Runs both sides alternately, after one warm-up repetition each, and closes both. */
export async function compare(options: ComparisonOptions): Promise<Comparison> {
  const { ours, floor, before = async () => undefined, repetitions, count, warmUp = true } = options
  const times: { ours: Times[]; floor: Times[] } = { ours: [], floor: [] }
  for (let turn = warmUp ? 0 : 1; turn <= repetitions; turn++) {
    await before()
    const floorTimes = await floor.run()
    await before()
    const oursTimes = await ours.run()
    if (turn === 0) continue
    times.floor.push(floorTimes)
    times.ours.push(oursTimes)
  }
  const figures = {
    ours: figuresOf(times.ours, count, await ours.close()),
    floor: figuresOf(times.floor, count, await floor.close()),
  }
  const { id, title, floorTitle, service } = options
  const ratio = figures.ours.medianMs / figures.floor.medianMs
  const cpuRatio = figures.ours.medianCpuMs / figures.floor.medianCpuMs
  return { id, title, floorTitle, service, count, ...figures, ratio, cpuRatio }
}

function figuresOf(times: readonly Times[], count: number, memory: Memory): Figures {
  const ms = times.map((each) => each.ms)
  const medianMs = median(ms)
  const medianCpuMs = median(times.map(({ cpuMs }) => cpuMs))
  return { ms, medianMs, medianCpuMs, perSecond: count / (medianMs / 1000), ...memory }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}
