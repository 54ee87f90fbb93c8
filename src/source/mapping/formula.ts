import type { TraceStep } from './trace.ts'

/** All values that an entry has for an attribute, in any order; none where it has none. */
export type Lookup = (attribute: string) => readonly string[]

/** What a part of a mapping can be. A text may also have no value, which is `null`; the others always have one. */
export type Value = string | null | boolean | number | readonly string[]

/** A compiled part of a mapping. */
export interface Formula {
  /** As it is written in the configuration. */
  readonly source: string
  /** The attributes that it can ask for, in the spelling of the configuration, perhaps more than once. */
  readonly attributes: readonly string[]
  /** Throws a `Fault` when the value cannot be worked out for this entry, and nothing else. */
  evaluate(run: Run): Value
}

/** One evaluation for one entry. */
export interface Run {
  readonly lookup: Lookup
  /** The items that the conditions over lists are looking at, the innermost last. */
  readonly items: string[]
  /** `undefined` where nobody wants to know. */
  readonly steps: TraceStep[] | undefined
  /** What is left of the budget: about one unit for a character that is looked at. */
  budget: number
}

/** Why a value cannot be worked out for one entry. Its message is part of a notice. */
export class Fault extends Error {
  override readonly name = 'Fault'
}

/** Characters that one text may have on the way. */
const MAX_TEXT = 32_768

/** Values that one list may have. */
const MAX_LIST = 10_000

const BUDGET = 4_000_000

export function startRun(lookup: Lookup, steps?: TraceStep[]): Run {
  return { lookup, items: [], steps, budget: BUDGET }
}

/** Throws a `Fault` when the evaluation has used up what one entry may cost. */
export function charge(run: Run, units: number): void {
  run.budget -= units
  if (run.budget < 0) throw new Fault('it takes too long to work out for this entry')
}

/** Pays for a text and hands it on; throws a `Fault` when it is too long. */
export function boundedText(run: Run, text: string): string {
  charge(run, text.length + 1)
  if (text.length <= MAX_TEXT) return text
  throw new Fault(`a text of ${text.length} characters is too long, ${MAX_TEXT} are the most`)
}

/** Pays for a list and hands it on; throws a `Fault` when it is too long. */
export function boundedList(run: Run, list: readonly string[]): readonly string[] {
  if (list.length > MAX_LIST)
    throw new Fault(`a list of ${list.length} values is too long, ${MAX_LIST} are the most`)
  for (const text of list) boundedText(run, text)
  return list
}

/** A text of blanks only counts as no value. */
export function present(text: string): string | null {
  return text.trim() === '' ? null : text
}

/** Adds a step, where somebody wants to know; not within a list, where it would be one for each value. */
export function note(run: Run, step: () => TraceStep): void {
  if (run.steps !== undefined && run.items.length === 0) run.steps.push(step())
}

/** The step of something that was worked out; without a `call` it is shown as it is written. */
export function noteCall(run: Run, expression: string, value: Value, call = expression): void {
  note(run, () => ({ kind: 'call', text: `${call} is ${show(value)}`, expression, value: plain(value) }))
}

/** Says which alternative was taken and why not the ones before it. */
export function noteChoice(
  run: Run,
  chosen: string | undefined,
  value: string | null,
  passed: readonly string[],
): void {
  note(run, () => {
    const without = passed.length === 0 ? '' : `${passed.join(', ')} without a value`
    if (chosen === undefined) return { kind: 'choice', text: `nothing taken: ${without}`, chosen }
    const text = [`${chosen} taken: ${show(value)}`, ...(without === '' ? [] : [without])].join('; ')
    return { kind: 'choice', text, chosen }
  })
}

/**
 * The value of an attribute for which one is enough. Servers return several values in any order, so the first one by
 * code unit is taken: the same entry has the same value in every run.
 */
export function readFirst(run: Run, attribute: string): string | null {
  const values = run.lookup(attribute)
  let first: string | null = null
  for (const value of values) {
    charge(run, value.length + 1)
    const trimmed = value.trim()
    if (trimmed !== '' && (first === null || trimmed < first)) first = trimmed
  }
  noteAttribute(run, attribute, values, first)
  return first
}

/** All values of an attribute, trimmed, without blank ones and duplicates, sorted by code unit. */
export function readAll(run: Run, attribute: string): readonly string[] {
  const values = run.lookup(attribute)
  const texts = values.map((value) => value.trim()).filter((text) => text !== '')
  const list = boundedList(run, [...new Set(texts)].toSorted())
  noteAttribute(run, attribute, values, undefined)
  return list
}

function noteAttribute(
  run: Run,
  attribute: string,
  values: readonly string[],
  first: string | null | undefined,
): void {
  note(run, () => {
    const all = values.length === 0 ? 'no value' : show(values)
    const counts = values.length > 1 && typeof first === 'string' ? `, of which ${show(first)} counts` : ''
    return { kind: 'attribute', text: `${attribute} has ${all}${counts}`, attribute, values: [...values] }
  })
}

/** A value as it is shown to people: `no value`, `"Anna"`, `"a", "b" and 7 more`. */
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

/** A value as programs read it out of a trace. */
function plain(value: Value): string | undefined {
  if (value === null) return undefined
  return typeof value === 'object' ? value.join(', ') : String(value)
}
