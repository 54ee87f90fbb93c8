import type { Memory } from './contender.ts'
import type { Opponent } from './processes.ts'

/** One line of the table: something of ours beside its floor. */
export interface Comparison {
  /** Names it in JSON. */
  readonly id: string
  /** What was measured, in words. */
  readonly title: string
  /** What it is measured against, in words. */
  readonly floorTitle: string
  /** Which service both talk to: none, one that costs next to nothing, or the real one on PostgreSQL. */
  readonly service: 'none' | 'instant' | 'real'
  /** How many entries, changes or jobs one repetition handles. */
  readonly count: number
  readonly ours: Figures
  readonly floor: Figures
  /** How many times as long ours took. */
  readonly ratio: number
  /** What else was seen, a sentence each. */
  readonly notes?: readonly string[]
}

export interface Figures extends Memory {
  /** Milliseconds of each repetition, in the order in which they were made; the warm-up is not among them. */
  readonly ms: readonly number[]
  readonly medianMs: number
  readonly perSecond: number
}

export interface Contest {
  readonly id: string
  readonly title: string
  readonly floorTitle: string
  readonly service: Comparison['service']
  readonly count: number
  readonly ours: Opponent
  readonly floor: Opponent
  /** Made before each repetition of either side, and not measured. */
  readonly before?: () => Promise<unknown>
  readonly repetitions: number
}

/** Lets the two run by turns, after a turn each to warm up, and ends both. */
export async function compare(contest: Contest): Promise<Comparison> {
  const { ours, floor, before = async () => undefined, repetitions, count } = contest
  const times: { ours: number[]; floor: number[] } = { ours: [], floor: [] }
  for (let turn = 0; turn <= repetitions; turn++) {
    await before()
    const floorMs = await floor.run()
    await before()
    const oursMs = await ours.run()
    if (turn === 0) continue
    times.floor.push(floorMs)
    times.ours.push(oursMs)
  }
  const figures = {
    ours: figuresOf(times.ours, count, await ours.close()),
    floor: figuresOf(times.floor, count, await floor.close()),
  }
  const { id, title, floorTitle, service } = contest
  const ratio = figures.ours.medianMs / figures.floor.medianMs
  return { id, title, floorTitle, service, count, ...figures, ratio }
}

function figuresOf(ms: readonly number[], count: number, memory: Memory): Figures {
  const medianMs = median(ms)
  return { ms, medianMs, perSecond: count / (medianMs / 1000), ...memory }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}
