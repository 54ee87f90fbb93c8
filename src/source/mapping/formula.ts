import type { TraceStep } from './trace.ts'

/** All values of an entry's attribute, in any order; an empty list when it has none. */
export type Lookup = (attribute: string) => readonly string[]

/** A text without a value is `null`; the other types always have a value. */
export type Value = string | null | boolean | number | readonly string[]

export interface Formula {
  /** As written in the configuration. */
  readonly source: string
  /** The attributes that it may read, spelled as in the configuration; may have duplicates. */
  readonly attributes: readonly string[]
  /** Throws a `Fault`, and nothing else, when the value cannot be computed for this entry. */
  evaluate(context: Context): Value
}

export interface Context {
  lookup: Lookup
  /** The current items of the list methods being evaluated, the innermost last. */
  readonly items: string[]
  /** `undefined`: no trace. */
  readonly steps: TraceStep[] | undefined
  /** Of several values of an attribute those of the highest rank count; `undefined` where all are equal. */
  readonly rankOf: Rank | undefined
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

export function createContext({ steps, rankOf }: Partial<Pick<Context, 'steps' | 'rankOf'>> = {}): Context {
  return { lookup: () => [], items: [], steps, rankOf, budget: BUDGET }
}

/** Reuses the context for another entry. One serves all entries, because evaluations never overlap. */
export function begin(context: Context, lookup: Lookup): Context {
  context.lookup = lookup
  // Setting the length costs more than the rest, and only a fault leaves items behind.
  if (context.items.length > 0) context.items.length = 0
  context.budget = BUDGET
  return context
}

/** Throws a `Fault` when the budget is used up. */
export function charge(context: Context, units: number): void {
  context.budget -= units
  if (context.budget < 0) throw new Fault('it takes too long to compute for this entry')
}

/** Charges for a text and returns it; throws a `Fault` when it is too long. */
export function boundedText(context: Context, text: string): string {
  charge(context, text.length + 1)
  if (text.length <= MAX_TEXT) return text
  throw new Fault(`a text of ${text.length} characters is too long; the limit is ${MAX_TEXT}`)
}

/** Charges for a list and returns it; throws a `Fault` when it is too long. */
export function boundedList(context: Context, list: readonly string[]): readonly string[] {
  if (list.length > MAX_LIST)
    throw new Fault(`a list of ${list.length} values is too long; the limit is ${MAX_LIST}`)
  for (const text of list) boundedText(context, text)
  return list
}

export function present(text: string): string | null {
  return text.trim() === '' ? null : text
}

/** Adds a step to the trace, except within a list method, which would add one for each item. */
export function note(context: Context, step: () => TraceStep): void {
  if (context.steps !== undefined && context.items.length === 0) context.steps.push(step())
}

/** `call` is how the step shows the expression, by default as written. */
export function noteCall(context: Context, expression: string, value: Value, call = expression): void {
  note(context, () => ({ kind: 'call', text: `${call} is ${show(value)}`, expression, value: plain(value) }))
}

/** Names the alternative, and why the ones before it were not taken. */
export function noteChoice(
  context: Context,
  chosen: string | undefined,
  value: string | null,
  skipped: readonly string[],
): void {
  note(context, () => {
    const without = skipped.length === 0 ? '' : `${skipped.join(', ')} without a value`
    if (chosen === undefined) return { kind: 'choice', text: `nothing taken: ${without}`, chosen }
    const text = [`${chosen} taken: ${show(value)}`, ...(without === '' ? [] : [without])].join('; ')
    return { kind: 'choice', text, chosen }
  })
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
  noteAttribute(context, attribute, values, first)
  return first
}

/** All values of an attribute, trimmed, without blank ones and duplicates, sorted by code unit. */
export function readAll(context: Context, attribute: string): readonly string[] {
  const values = context.lookup(attribute)
  const texts = values.map((value) => value.trim()).filter((text) => text !== '')
  const list = boundedList(context, [...new Set(texts)].toSorted())
  noteAttribute(context, attribute, values, undefined)
  return list
}

function noteAttribute(
  context: Context,
  attribute: string,
  values: readonly string[],
  first: string | null | undefined,
): void {
  note(context, () => {
    const all = values.length === 0 ? 'no value' : show(values)
    const counts = values.length > 1 && typeof first === 'string' ? `, of which ${show(first)} counts` : ''
    return { kind: 'attribute', text: `${attribute} has ${all}${counts}`, attribute, values: [...values] }
  })
}

/** For operators: `no value`, `"Anna"`, `"a", "b" and 7 more`. */
export function show(value: Value): string {
  if (value === null) return 'no value'
  if (typeof value === 'string') return quote(value)
  if (typeof value !== 'object') return String(value)
  if (value.length === 0) return 'no values'
  const shown = value.slice(0, 5).map(quote).join(', ')
  return value.length > 5 ? `${shown} and ${value.length - 5} more` : shown
}

function quote(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}

/** For programs. */
function plain(value: Value): string | undefined {
  if (value === null) return undefined
  return typeof value === 'object' ? value.join(', ') : String(value)
}
