import type { ASTNode } from '@marcbachmann/cel-js'
import { sentence } from '../../base/errors.ts'
import { bounded, charge } from './context.ts'
import { allValues, type Apply, boundedAttribute, call, type Expr, fits, noted, TYPE_NAMES } from './expr.ts'
import { type Eager, FUNCTIONS, type Lazy, LIST_METHODS, type ListMethod, type Literal } from './functions.ts'
import { compileAs, type Site, type Wanted } from './site.ts'
import { isText, present, show, type Value } from './value.ts'

/** Functions of an attribute's name. */
const READERS = new Map([
  ['attr', boundedAttribute],
  ['values', allValues],
])

export function compileCall(site: Site, name: string, args: readonly ASTNode[]): Expr {
  const read = READERS.get(name)
  if (read !== undefined) return read(site.source, attributeArgument(site, name, args))
  const declared = FUNCTIONS.get(name)
  if (declared !== undefined) return compileFunction(site, name, args, declared)
  const known = [...READERS.keys(), ...FUNCTIONS.keys()].toSorted().join(', ')
  const listMethods = [...LIST_METHODS.keys()].map((each) => `.${each}`).join(', ')
  return site.fail(`there is no function "${name}"; the functions are ${known}, and for lists ${listMethods}`)
}

/** `text.lower()` is `lower(text)`. */
export function compileMethod(site: Site, name: string, receiver: ASTNode, args: readonly ASTNode[]): Expr {
  const method = LIST_METHODS.get(name)
  if (method === undefined) return compileCall(site, name, [receiver, ...args])
  const [item, body] = args
  if (args.length !== 2 || body === undefined || item?.op !== 'id') {
    const usage = `list.${name}(item, ${method.body === 'bool' ? 'condition' : 'text'})`
    return site.fail(`wrong arguments; write ${usage}`)
  }
  const list = compileAs(site, receiver, 'list', `the value before .${name}()`)
  const items = [...site.items, item.args]
  const inner = compileAs(site, body, method.body, `the second argument of .${name}()`, items)
  return listMethod(site, method, list, inner)
}

/** The name, bare or in quotes. It must be literal, because the source reads only named attributes. */
function attributeArgument(site: Site, reader: string, args: readonly ASTNode[]): string {
  const [only] = args
  if (only === undefined || args.length > 1) return wrongNumber(site, args, `${reader}("name")`)
  if (only.op === 'value' && typeof only.args === 'string') return site.attribute(only.args, only)
  if (only.op === 'id' && reader === 'values' && !site.items.includes(only.args))
    return site.attribute(only.args, only)
  return site.fail(`${reader}() takes the name of an attribute in quotes, such as ${reader}("mail")`, only)
}

function wrongNumber(site: Site, args: readonly ASTNode[], usage: string): never {
  return site.fail(`wrong number of arguments: ${args.length}; write ${usage}`)
}

function compileFunction(site: Site, name: string, args: readonly ASTNode[], declared: Eager | Lazy): Expr {
  const { optional = 0, isVariadic = false, literals = [] } = declared
  const params = Object.entries(declared.params)
  const most = params.length + literals.length
  if (args.length < most - optional || (args.length > most && !isVariadic))
    return wrongNumber(site, args, usageOf(name, declared))
  const texts = args.slice(0, args.length - literals.length)
  const parts = texts.map((arg, index) => compileArgument(site, arg, name, params[index] ?? params.at(-1)!))
  if ('build' in declared) return declared.build(site, parts)
  const quoted = args.slice(texts.length)
  const apply = applyOne(declared, compileLiterals(site, quoted, literals))
  const isLifted = declared.returns === 'text' && params[0]?.[1] === 'texts' && parts[0]?.type === 'list'
  return call({
    type: isLifted ? 'list' : declared.returns,
    source: site.source,
    args: parts,
    apply: isLifted ? applyToEach(apply) : apply,
    shown: (values) =>
      `${name}(${[...values, ...quoted.map(({ args: text }) => text as string)].map(shown).join(', ')})`,
  })
}

function usageOf(name: string, { params, optional = 0, isVariadic, literals = [] }: Eager | Lazy): string {
  const names = [...Object.keys(params), ...literals.map((literal) => literal.name)]
  const needed = names.slice(0, names.length - optional)
  const others = names.slice(needed.length).map((param) => `[, ${param}]`)
  return `${name}(${needed.join(', ')}${others.join('')}${isVariadic ? ', …' : ''})`
}

function compileArgument(
  site: Site,
  node: ASTNode,
  name: string,
  [param, wanted]: readonly [string, Wanted],
): Expr {
  if (wanted !== 'any' && wanted !== 'texts') return compileAs(site, node, wanted, `${param} of ${name}()`)
  const part = site.compile(node)
  if (wanted === 'any' || part.type === 'list' || fits(part.type, 'text')) return part
  return site.fail(`${name}() takes a text or a list of texts, not ${TYPE_NAMES[part.type]}`, node)
}

function compileLiterals(site: Site, nodes: readonly ASTNode[], literals: readonly Literal[]): unknown[] {
  const compiled: unknown[] = []
  for (const [index, node] of nodes.entries()) {
    const { what, compile } = literals[index]!
    if (node.op !== 'value' || typeof node.args !== 'string')
      return site.fail(`${what} must be a text in quotes`, node)
    try {
      compiled.push(compile(node.args, ...(compiled as never[])))
    } catch (error) {
      return site.fail(`${what} cannot be used: ${sentence(error)}`, node)
    }
  }
  return compiled
}

/** A search for a text of this many characters costs twice as much as one for a short text. */
const SEARCH_TERM_UNIT = 1_000

/** Charges for the function, and bounds its result. */
function applyOne({ apply }: Eager, literals: readonly unknown[]): Apply {
  const whole: Apply =
    literals.length === 0 ? apply : (context, text) => apply(context, text, ...(literals as [never, never]))
  return (context, subject: string | readonly string[], term?: string) => {
    // A search may compare the whole searched text at each position.
    charge(context, Math.ceil(subject.length * (1 + (term?.length ?? 0) / SEARCH_TERM_UNIT)))
    const value = bounded(context, whole(context, subject as never, term as never))
    return isText(value) ? present(value) : value
  }
}

/** Results without a value are left out. */
function applyToEach(apply: Apply): Apply {
  return (context, list: readonly string[], other) =>
    bounded(context, list.map((text) => apply(context, text as never, other)).filter(isText))
}

function shown(value: Value): string {
  return typeof value === 'object' && value !== null ? `[${show(value)}]` : show(value)
}

/** In units, in addition to the evaluation of the body. */
const ITEM_COST = 20

function listMethod(site: Site, { returns, apply }: ListMethod, list: Expr, body: Expr): Expr {
  return noted(returns, site.source, [list, body], (context) => {
    const texts = list.evaluate(context) as readonly string[]
    const outer = context.items
    const value = apply(texts, (item) => {
      charge(context, ITEM_COST)
      context.items = [...outer, item]
      return body.evaluate(context)
    })
    context.items = outer
    return bounded(context, value)
  })
}
