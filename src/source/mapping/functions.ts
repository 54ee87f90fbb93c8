import type { ASTNode } from '@marcbachmann/cel-js'
import { boundedList, boundedText, charge, present, type Context, type Value } from './formula.ts'
import { compileAs, eager, listOf, type Part, type Scope, textOf, type Type, TYPE_NAMES } from './scope.ts'
import { slug } from './slug.ts'

/** When an argument has no value, the result is no value, false or an empty list. */
interface TextFunction {
  /** For the usage in messages. */
  readonly params: readonly string[]
  /** How many parameters may be left out at the end. */
  readonly optional?: number
  readonly returns: 'text' | 'bool' | 'list'
  readonly apply: (text: string, ...rest: string[]) => Value
}

/** A search for a text of this many characters costs twice as much as one for a short text. */
const SEARCH_TERM_UNIT = 1_000

const TEXT_FUNCTIONS: ReadonlyMap<string, TextFunction> = new Map<string, TextFunction>([
  ['lower', { params: ['text'], returns: 'text', apply: (text) => text.toLowerCase() }],
  ['upper', { params: ['text'], returns: 'text', apply: (text) => text.toUpperCase() }],
  ['trim', { params: ['text'], returns: 'text', apply: (text) => text.trim() }],
  [
    'slug',
    {
      params: ['text', 'separator'],
      optional: 1,
      returns: 'text',
      apply: (text, separator = '-') => slug(text, separator),
    },
  ],
  ['before', { params: ['text', 'mark'], returns: 'text', apply: before }],
  ['after', { params: ['text', 'mark'], returns: 'text', apply: after }],
  ['split', { params: ['text', 'mark'], returns: 'list', apply: split }],
  ['contains', twoTexts('part', (text, part) => text.includes(part))],
  ['startsWith', twoTexts('start', (text, start) => text.startsWith(start))],
  ['endsWith', twoTexts('end', (text, end) => text.endsWith(end))],
])

export const TEXT_FUNCTION_NAMES: readonly string[] = [...TEXT_FUNCTIONS.keys()]

function twoTexts(second: string, apply: (text: string, second: string) => boolean): TextFunction {
  return { params: ['text', second], returns: 'bool', apply: (text, other = '') => apply(text, other) }
}

function before(text: string, mark = ''): string | null {
  const at = text.indexOf(mark)
  return at < 0 ? null : text.slice(0, at)
}

function after(text: string, mark = ''): string | null {
  const at = text.indexOf(mark)
  return at < 0 ? null : text.slice(at + mark.length)
}

/** Blank parts stay, so that the third one is always the third. */
function split(text: string, mark = ''): string[] {
  // Splitting by an empty text would cut surrogate pairs.
  const parts = mark === '' ? Array.from(text) : text.split(mark)
  return parts.map((part) => part.trim())
}

/** `undefined` for another name. A function that returns a text also takes a list. */
export function compileTextFunction(
  scope: Scope,
  node: ASTNode,
  name: string,
  args: readonly ASTNode[],
): Part | undefined {
  const declared = TEXT_FUNCTIONS.get(name)
  if (declared === undefined) return undefined
  const { params, optional = 0, returns, apply } = declared
  requireCount(scope, node, usageOf(name, params, optional), args, params.length - optional, params.length)
  const parts = args.map((arg, index) =>
    index === 0 && returns === 'text'
      ? compileTexts(scope, arg, name)
      : compileAs(scope, arg, 'text', `${params[index]} of ${name}()`),
  )
  const lifted = parts[0]?.type === 'list'
  const type: Type = lifted ? 'list' : returns
  return eager(scope.sourceOf(node), name, type, parts, (values, context) => {
    const rest = values.slice(1).map(textOf)
    if (!rest.every((text) => text !== null)) return missing(type)
    if (!lifted) return applyOne(textOf(values[0] ?? null), rest, type, apply, context)
    return liftOver(listOf(values[0] ?? null), context, (text) =>
      textOf(applyOne(text, rest, 'text', apply, context)),
    )
  })
}

/** Results without a value are left out. */
export function liftOver(
  list: readonly string[],
  context: Context,
  one: (text: string) => string | null,
): readonly string[] {
  return boundedList(
    context,
    list.map(one).filter((text) => text !== null),
  )
}

export function compileTexts(scope: Scope, node: ASTNode, name: string): Part {
  const part = scope.compile(node)
  if (part.type === 'text' || part.type === 'none' || part.type === 'list') return part
  return scope.fail(node, `${name}() takes a text or a list of texts, not ${TYPE_NAMES[part.type]}`)
}

export function requireCount(
  scope: Scope,
  node: ASTNode,
  usage: string,
  args: readonly ASTNode[],
  least: number,
  most: number,
): void {
  if (args.length >= least && args.length <= most) return
  scope.fail(node, `wrong number of arguments: ${args.length}; write ${usage}`)
}

function usageOf(name: string, params: readonly string[], optional: number): string {
  const needed = params.slice(0, params.length - optional).join(', ')
  const more = params.slice(params.length - optional).map((param) => `[, ${param}]`)
  return `${name}(${needed}${more.join('')})`
}

function applyOne(
  text: string | null,
  rest: readonly string[],
  type: Type,
  apply: TextFunction['apply'],
  context: Context,
): Value {
  if (text === null) return missing(type)
  // A search may compare the whole searched text at each position.
  const longest = Math.max(0, ...rest.map((each) => each.length))
  charge(context, Math.ceil(text.length * (1 + longest / SEARCH_TERM_UNIT)))
  const value = apply(text, ...rest)
  if (typeof value === 'string') return present(boundedText(context, value))
  return typeof value === 'object' && value !== null ? boundedList(context, value) : value
}

function missing(type: Type): Value {
  if (type === 'bool') return false
  return type === 'list' ? [] : null
}
