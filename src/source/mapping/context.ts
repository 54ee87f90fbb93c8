import { attributeStep, type TraceStep } from './trace.ts'
import type { Value } from './value.ts'

/** All values of an entry's attribute, in any order; an empty list when it has none. */
export type Lookup = (attribute: string) => readonly string[]

export interface Context {
  lookup: Lookup
  /** Only the values of an attribute with the highest rank count; `undefined` where all are equal. */
  readonly rankOf: Rank | undefined
  /** `undefined`: no trace. */
  readonly steps: TraceStep[] | undefined
  /** The current items of the list methods being evaluated, the innermost last. */
  items: readonly string[]
  /** The units that are left; reading one character costs about one unit. */
  budget: number
}

export type Rank = (value: string) => number

/** Why a value cannot be computed for one entry. Its message is part of a notice. */
export class Fault extends Error {
  override readonly name = 'Fault'
}

/** In characters. */
const MAX_TEXT = 32_768

const MAX_LIST = 10_000

const BUDGET = 4_000_000

const NO_ITEMS: readonly string[] = []

export function createContext(rankOf?: Rank, steps?: TraceStep[]): Context {
  return { lookup: () => NO_ITEMS, rankOf, steps, items: NO_ITEMS, budget: BUDGET }
}

/** Reuses the context for another entry. One serves all entries, because evaluations never overlap. */
export function begin(context: Context, lookup: Lookup): Context {
  context.lookup = lookup
  context.items = NO_ITEMS
  context.budget = BUDGET
  return context
}

/** Where steps are added; `undefined` within a list method, too, which would add one for each item. */
export function stepsOf({ steps, items }: Context): TraceStep[] | undefined {
  return steps !== undefined && items.length === 0 ? steps : undefined
}

/** Throws a `Fault` when the budget is used up. */
export function charge(context: Context, units: number): void {
  context.budget -= units
  if (context.budget < 0) throw new Fault('it takes too long to compute for this entry')
}

/** Charges for a text or a list and returns it; throws a `Fault` when it is too long. */
export function bounded(context: Context, value: Value): Value {
  if (typeof value === 'string') {
    charge(context, value.length + 1)
    if (value.length > MAX_TEXT)
      throw new Fault(`a text of ${value.length} characters is too long; the limit is ${MAX_TEXT}`)
  } else if (typeof value === 'object' && value !== null) {
    if (value.length > MAX_LIST)
      throw new Fault(`a list of ${value.length} values is too long; the limit is ${MAX_LIST}`)
    for (const text of value) bounded(context, text)
  }
  return value
}

/** By code unit, of the highest rank: servers return values in any order, and each run needs the same one. */
export function readFirst(context: Context, attribute: string): string | null {
  const values = context.lookup(attribute)
  const rankOf = values.length > 1 ? context.rankOf : undefined
  let first: string | null = null
  let highest = 0
  for (const value of values) {
    charge(context, value.length + 1)
    const text = value.trim()
    if (text === '') continue
    const rank = rankOf?.(text) ?? 0
    if (first !== null && (rank === highest ? text >= first : rank < highest)) continue
    first = text
    highest = rank
  }
  stepsOf(context)?.push(attributeStep(attribute, values, first))
  return first
}

/** All values of an attribute, trimmed, without blank ones and duplicates, sorted by code unit. */
export function readAll(context: Context, attribute: string): Value {
  const values = context.lookup(attribute)
  const texts = values.map((value) => value.trim()).filter((text) => text !== '')
  const list = bounded(context, [...new Set(texts)].toSorted())
  stepsOf(context)?.push(attributeStep(attribute, values, null))
  return list
}
