import { charge, type Context } from './context.ts'
import type { Expr, Type } from './expr.ts'
import { choice, firstOf, firstPresent } from './lazy.ts'
import { compileRegex, compileReplacement, type Regex, type Replacement } from './regex.ts'
import type { Site, Wanted } from './site.ts'
import { slug } from './slug.ts'
import { isText, present, type Value } from './value.ts'

/** An argument that must be a text in quotes. It is compiled once, and so cannot depend on the entry. */
export interface Literal {
  /** For the usage in messages. */
  readonly name: string
  readonly what: string
  /** Gets the literals before this one, compiled. Throws an error that describes the fault. */
  readonly compile: (text: string, ...before: never[]) => unknown
}

interface Signature {
  /** By their names in messages. */
  readonly params: Readonly<Record<string, Wanted>>
  /** How many parameters may be left out at the end. */
  readonly optional?: number
  /** Whether the last parameter may be repeated. */
  readonly isVariadic?: boolean
  readonly literals?: readonly Literal[]
}

/**
 * `apply` gets the values, none of them `null`, and the compiled literals. A function from `texts` to a text also makes
 * a list of a list, text by text.
 */
export interface Eager extends Signature {
  readonly returns: 'text' | 'bool' | 'int' | 'list'
  readonly apply: (context: Context, ...values: never[]) => Value
}

/** Evaluates only some of its arguments. */
export interface Lazy extends Signature {
  readonly build: (site: Site, args: readonly Expr[]) => Expr
}

const PATTERN = { name: '"regular expression"', what: 'the regular expression', compile: compileRegex }
const REPLACEMENT = { name: '"with"', what: 'the replacement', compile: compileReplacement }

const TEXT = { text: 'texts' } as const
const TEXT_AND_MARK = { text: 'texts', mark: 'text' } as const

export const FUNCTIONS: ReadonlyMap<string, Eager | Lazy> = tableOf<Eager | Lazy>({
  first: { params: TEXT, isVariadic: true, build: ({ source }, texts) => firstOf(source, texts) },
  when: {
    params: { condition: 'bool', text: 'any', otherwise: 'any' },
    optional: 1,
    build: (site, [condition, yes, no]) => choice(site, condition!, yes!, no),
  },
  lower: { params: TEXT, returns: 'text', apply: (_, text: string) => text.toLowerCase() },
  upper: { params: TEXT, returns: 'text', apply: (_, text: string) => text.toUpperCase() },
  trim: { params: TEXT, returns: 'text', apply: (_, text: string) => text.trim() },
  slug: {
    params: { text: 'texts', separator: 'text' },
    optional: 1,
    returns: 'text',
    apply: (_, text: string, separator = '-') => slug(text, separator),
  },
  before: { params: TEXT_AND_MARK, returns: 'text', apply: before },
  after: { params: TEXT_AND_MARK, returns: 'text', apply: after },
  split: { params: { text: 'text', mark: 'text' }, returns: 'list', apply: split },
  contains: test('part', (_, text, part) => text.includes(part)),
  startsWith: test('start', (_, text, start) => text.startsWith(start)),
  endsWith: test('end', (_, text, end) => text.endsWith(end)),
  has: {
    params: { 'text or list': 'texts' },
    returns: 'bool',
    apply: (_, texts: string | readonly string[]) => firstPresent(texts) !== null,
  },
  size: {
    params: { 'text or list': 'texts' },
    returns: 'int',
    apply: (_, texts: string | readonly string[]) => Array.from(texts).length,
  },
  join: { params: { list: 'list', separator: 'text' }, returns: 'text', apply: join },
  matches: {
    params: { text: 'text' },
    literals: [PATTERN],
    returns: 'bool',
    apply: (context, text: string, regex: Regex) => regex.test(text, context),
  },
  replace: {
    params: TEXT,
    literals: [PATTERN, REPLACEMENT],
    returns: 'text',
    apply: (context, text: string, regex: Regex, replacement: Replacement) =>
      regex.replace(text, replacement, context),
  },
})

/** Evaluates its body for each item of a list, and combines the values. */
export interface ListMethod {
  readonly body: 'bool' | 'text'
  readonly returns: Type
  readonly apply: (list: readonly string[], evaluateItem: (item: string) => Value) => Value
}

export const LIST_METHODS: ReadonlyMap<string, ListMethod> = tableOf<ListMethod>({
  exists: { body: 'bool', returns: 'bool', apply: (list, holds) => list.some((item) => holds(item)) },
  all: { body: 'bool', returns: 'bool', apply: (list, holds) => list.every((item) => holds(item)) },
  filter: { body: 'bool', returns: 'list', apply: (list, holds) => list.filter((item) => holds(item)) },
  map: { body: 'text', returns: 'list', apply: (list, textOf) => list.map(textOf).filter(isText) },
})

/** Not an object, in which `constructor` would be found too. */
function tableOf<T>(table: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(table))
}

function test(second: string, apply: (_: Context, text: string, second: string) => boolean): Eager {
  return { params: { text: 'text', [second]: 'text' }, returns: 'bool', apply }
}

function before(_: Context, text: string, mark: string): string | null {
  const at = text.indexOf(mark)
  return at < 0 ? null : text.slice(0, at)
}

function after(_: Context, text: string, mark: string): string | null {
  const at = text.indexOf(mark)
  return at < 0 ? null : text.slice(at + mark.length)
}

/** Blank parts stay, so that the third one is always the third. */
function split(_: Context, text: string, mark: string): string[] {
  // Splitting by an empty text would cut surrogate pairs.
  const parts = mark === '' ? Array.from(text) : text.split(mark)
  return parts.map((part) => part.trim())
}

/** Joins the texts that are not blank. */
function join(context: Context, list: readonly string[], separator: string): string {
  const texts = list.filter((text) => present(text) !== null)
  // Before it is made, because many texts with a long separator are far too long.
  charge(
    context,
    texts.reduce((sum, text) => sum + text.length + separator.length, 0),
  )
  return texts.join(separator)
}
