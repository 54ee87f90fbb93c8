import type { Times, Usage } from './contender.ts'
import type { Side } from './processes.ts'

/** Options of the command line. */
export interface BenchOptions {
  /** Replaces the default number of each benchmark. */
  readonly repetitions: number | undefined
  /** Replaces the numbers of users of each benchmark. */
  readonly people: number | undefined
}

/** What a line of the table is about (see README.md). */
export interface Subject {
  readonly title: string
  readonly floorTitle: string
  /** The service that both sides use: none, an in-memory stand-in, or the real service. */
  readonly service: 'none' | 'instant' | 'real'
  /** Entries, changes, jobs or requests of a repetition. */
  readonly count: number
}

/** One line of the table: our code and its floor. */
export interface Comparison extends Subject {
  readonly ours: Figures
  readonly floor: Figures
  /** Median time of our code divided by that of the floor. */
  readonly ratio: number
  /** The same of the CPU time of the two processes. */
  readonly cpuRatio: number
  /** Other results, one sentence each. */
  readonly notes?: readonly string[]
}

export interface Figures extends Usage {
  /** Milliseconds of each repetition in order, without the warm-up. */
  readonly ms: readonly number[]
  readonly medianMs: number
  readonly medianCpuMs: number
  readonly perSecond: number
}

export interface ComparisonOptions extends Subject {
  readonly ours: Side
  readonly floor: Side
  /** Called before each repetition of either side; its time is not measured. */
  readonly before?: () => Promise<unknown>
  readonly repetitions: number
  /** Without a warm-up, also what the first repetition costs more is measured. True by default. */
  readonly warmUp?: boolean
}

/** Runs both sides alternately, after one warm-up repetition each, and closes both. */
export async function compare(options: ComparisonOptions): Promise<Comparison> {
  const { ours, floor, before = async () => undefined, repetitions, warmUp = true, ...subject } = options
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
  return comparisonOf(
    subject,
    figuresOf(times.ours, subject.count, await ours.close()),
    figuresOf(times.floor, subject.count, await floor.close()),
  )
}

export function comparisonOf(subject: Subject, ours: Figures, floor: Figures): Comparison {
  const ratio = ours.medianMs / floor.medianMs
  const cpuRatio = ours.medianCpuMs / floor.medianCpuMs
  return { ...subject, ours, floor, ratio, cpuRatio }
}

export function figuresOf(times: readonly Times[], count: number, usage: Usage): Figures {
  const ms = times.map((each) => each.ms)
  const medianMs = median(ms)
  const medianCpuMs = median(times.map(({ cpuMs }) => cpuMs))
  return { ms, medianMs, medianCpuMs, perSecond: count / (medianMs / 1000), ...usage }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}
