import { type ASTNode, Environment, ParseError, serialize } from '@marcbachmann/cel-js'
import { invalid, type NameCheck } from './attribute.ts'
import { boundedList, type Formula, noteCall, present } from './formula.ts'
import { attributePart, compileChoice, compileForm, FORM_NAMES } from './forms.ts'
import { compileTextFunction, TEXT_FUNCTION_NAMES } from './functions.ts'
import { compileIndex, compileListMethod, itemPart, LIST_METHOD_NAMES } from './lists.ts'
import { compileOperator } from './operators.ts'
import { parseProblem } from './parse-problem.ts'
import { compileAs, type Part, type Scope, textOf, type Type, TYPE_NAMES } from './scope.ts'

/** In characters. */
const MAX_SOURCE = 4_000

/**
 * Only the library's parser is used. Its evaluator has no missing values (`"a" + null` is an error, or even a text),
 * and its functions cannot be removed; one of them runs regular expressions that may never end.
 */
const grammar = new Environment({ limits: { maxAstNodes: 500, maxDepth: 40, maxCallArguments: 32 } })

interface ExpressionText {
  readonly text: string
  readonly key: string
  readonly check: NameCheck
}

export function isExpression(text: string): boolean {
  return text.trimStart().startsWith('=')
}

/** Throws `config-invalid` with the key, the column (in the whole text with its `=`, from 1) and the problem. */
export function compileExpression(text: string, key: string, check: NameCheck): Formula {
  const expression = { text, key, check }
  if (text.length > MAX_SOURCE) throw invalid(key, `an expression may have at most ${MAX_SOURCE} characters`)
  const node = parse(expression)
  const root = compileNode(expression, [], node)
  if (root.type !== 'text') throw refusal(expression, node.range.start, resultProblem(root))
  return {
    source: text.trim(),
    attributes: root.attributes,
    evaluate(context) {
      return present(textOf(root.evaluate(context)) ?? '')?.trim() ?? null
    },
  }
}

function parse(expression: ExpressionText): ASTNode {
  const from = expression.text.indexOf('=') + 1
  const blank = ' '.repeat(from)
  // A blank in place of the "=" keeps the library's positions equal to those in the configuration.
  const source = blank + expression.text.slice(from)
  if (source.trim() === '') throw refusal(expression, from, 'there is nothing after the "="')
  try {
    return grammar.parse(source).ast
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    throw refusal(expression, error.range?.start ?? from, parseProblem(error))
  }
}

function resultProblem(root: Part): string {
  const remedy = root.type === 'list' ? '; use join(list, ", ") or first(list)' : ''
  return `the result must be a text, not ${TYPE_NAMES[root.type]}${remedy}`
}

function refusal({ text, key }: ExpressionText, at: number, problem: string): Error {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const column = at - before.lastIndexOf('\n')
  return invalid(key, `${line > 1 ? `line ${line}, ` : ''}column ${column}: ${problem}`)
}

/** `names` are the item names of the list methods around this node, the outermost first. */
function compileNode(expression: ExpressionText, names: readonly string[], node: ASTNode): Part {
  const scope = createScope(expression, names)
  const { op, args } = node
  if (op === 'value') return compileLiteral(scope, node, args)
  if (op === 'id') return compileName(scope, node, args, names)
  if (op === 'list') return compileList(scope, node, args)
  if (op === 'call') return compileCall(scope, node, ...args)
  if (op === 'rcall') return compileMethod(scope, node, ...args)
  if (op === '[]') return compileIndex(scope, node, ...args)
  if (op === '?:') return compileChoice(scope, node, args)
  if (op === '!_') return compileNot(scope, node, args)
  if (op === '-_') return compileMinus(scope, node, args)
  return compileOperator(scope, node) ?? scope.fail(node, operatorProblem(op))
}

function createScope(expression: ExpressionText, names: readonly string[]): Scope {
  return {
    items: names,
    compile: (node) => compileNode(expression, names, node),
    compileWithin: (name, node) => compileNode(expression, [...names, name], node),
    sourceOf: serialize,
    fail: (node, problem) => {
      throw refusal(expression, node.range.start, problem)
    },
    attribute(node, name) {
      const trimmed = name.trim()
      const problem = trimmed === '' ? 'the name of an attribute is missing' : expression.check(trimmed)
      if (problem !== undefined) throw refusal(expression, node.range.start, problem)
      return trimmed
    },
  }
}

function operatorProblem(op: string): string {
  if (op === '-')
    return '"-" is not known; write an attribute with a hyphen in its name as attr("telephone-number")'
  if (op === '.')
    return '"." is followed by a function; write an attribute with a dot in its name as attr("…")'
  return `"${op === 'map' ? '{…}' : op}" is not part of this language`
}

function compileLiteral(scope: Scope, node: ASTNode, value: unknown): Part {
  const source = scope.sourceOf(node)
  const part = (type: Type, constant: string | null | boolean | number): Part => ({
    type,
    source,
    attributes: [],
    evaluate: () => constant,
  })
  if (typeof value === 'string') return part('text', value)
  if (value === null) return part('none', null)
  if (typeof value === 'boolean') return part('bool', value)
  if (typeof value === 'bigint') return part('int', Number(value))
  return scope.fail(node, 'only texts, whole numbers, true, false and null can be written here')
}

function compileName(scope: Scope, node: ASTNode, name: string, names: readonly string[]): Part {
  const depth = names.lastIndexOf(name)
  if (depth >= 0) return itemPart(name, depth)
  return attributePart(name, scope.attribute(node, name))
}

/** A list of texts; those without a value are left out. */
function compileList(scope: Scope, node: ASTNode, elements: readonly ASTNode[]): Part {
  const parts = elements.map((each) => compileAs(scope, each, 'text', 'each item of a list'))
  return {
    type: 'list',
    source: scope.sourceOf(node),
    attributes: parts.flatMap((part) => part.attributes),
    evaluate: (context) =>
      boundedList(
        context,
        parts.map((part) => textOf(part.evaluate(context))).filter((text) => text !== null),
      ),
  }
}

function compileCall(scope: Scope, node: ASTNode, name: string, args: readonly ASTNode[]): Part {
  const part = compileForm(scope, node, name, args) ?? compileTextFunction(scope, node, name, args)
  if (part !== undefined) return part
  const known = [...FORM_NAMES, ...TEXT_FUNCTION_NAMES].toSorted().join(', ')
  const listMethods = LIST_METHOD_NAMES.map((each) => `.${each}`).join(', ')
  return scope.fail(
    node,
    `there is no function "${name}"; the functions are ${known}, and for lists ${listMethods}`,
  )
}

/** `text.lower()` is `lower(text)`. */
function compileMethod(
  scope: Scope,
  node: ASTNode,
  name: string,
  receiver: ASTNode,
  args: readonly ASTNode[],
): Part {
  const method = compileListMethod(scope, node, name, receiver, args)
  return method ?? compileCall(scope, node, name, [receiver, ...args])
}

function compileNot(scope: Scope, node: ASTNode, inner: ASTNode): Part {
  const part = compileAs(scope, inner, 'bool', 'the operand of "!"')
  const source = scope.sourceOf(node)
  return {
    ...part,
    source,
    evaluate(context) {
      const value = part.evaluate(context) !== true
      noteCall(context, source, value)
      return value
    },
  }
}

function compileMinus(scope: Scope, node: ASTNode, inner: ASTNode): Part {
  const part = compileAs(scope, inner, 'int', 'the operand of "-"')
  return { ...part, source: scope.sourceOf(node), evaluate: (context) => -Number(part.evaluate(context)) }
}
