import type { ASTNode } from '@marcbachmann/cel-js'
import { boundedList, boundedText, charge, noteCall, type Context, type Value } from './formula.ts'
import { commonType, compileAs, fits, listOf, type Part, type Scope, textOf, TYPE_NAMES } from './scope.ts'

type Compare = (left: string | number, right: string | number) => boolean

const COMPARISONS: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ['<', (left, right) => left < right],
  ['<=', (left, right) => left <= right],
  ['>', (left, right) => left > right],
  ['>=', (left, right) => left >= right],
])

/** `undefined` for a node that is no binary operator. */
export function compileOperator(scope: Scope, node: ASTNode): Part | undefined {
  const compare = COMPARISONS.get(node.op)
  if (compare !== undefined) return compileComparison(scope, node, compare)
  if (node.op === '==') return compileEquality(scope, node, (same) => same)
  if (node.op === '!=') return compileEquality(scope, node, (same) => !same)
  if (node.op === '+') return compilePlus(scope, node)
  if (node.op === 'in') return compileIn(scope, node)
  if (node.op === '&&') return compileLogic(scope, node, false)
  if (node.op === '||') return compileLogic(scope, node, true)
  return undefined
}

function sidesOf({ args }: ASTNode): [ASTNode, ASTNode] {
  return args as [ASTNode, ASTNode]
}

function binary(
  scope: Scope,
  node: ASTNode,
  type: Part['type'],
  [left, right]: readonly [Part, Part],
  apply: (left: Value, right: Value, context: Context) => Value,
): Part {
  const source = scope.sourceOf(node)
  return {
    type,
    source,
    attributes: [...left.attributes, ...right.attributes],
    evaluate(context) {
      charge(context, 1)
      const value = apply(left.evaluate(context), right.evaluate(context), context)
      noteCall(context, source, value)
      return value
    },
  }
}

function compileSides(scope: Scope, node: ASTNode): [Part, Part] {
  const [left, right] = sidesOf(node)
  return [scope.compile(left), scope.compile(right)]
}

function refuse(scope: Scope, node: ASTNode, [left, right]: readonly [Part, Part]): never {
  const types = `${TYPE_NAMES[left.type]} and ${TYPE_NAMES[right.type]}`
  return scope.fail(node, `"${node.op}" cannot be used between ${types}`)
}

/** Joins two lists or two texts. If one of the texts has no value, neither has the result. */
function compilePlus(scope: Scope, node: ASTNode): Part {
  const sides = compileSides(scope, node)
  const [left, right] = sides
  if (left.type === 'list' && right.type === 'list')
    return binary(scope, node, 'list', sides, (a, b, context) =>
      boundedList(context, [...listOf(a), ...listOf(b)]),
    )
  if (!fits(left.type, 'text') || !fits(right.type, 'text')) return refuse(scope, node, sides)
  return binary(scope, node, 'text', sides, (a, b, context) => {
    const [first, second] = [textOf(a), textOf(b)]
    return first === null || second === null ? null : boundedText(context, first + second)
  })
}

function compileEquality(scope: Scope, node: ASTNode, answer: (same: boolean) => boolean): Part {
  const sides = compileSides(scope, node)
  const type = commonType(...sides)
  if (type === undefined || type === 'list') return refuse(scope, node, sides)
  return binary(scope, node, 'bool', sides, (a, b) => answer(a === b))
}

/** A missing value is neither less nor greater than another. */
function compileComparison(scope: Scope, node: ASTNode, compare: Compare): Part {
  const sides = compileSides(scope, node)
  const type = commonType(...sides)
  if (type !== 'text' && type !== 'int') return refuse(scope, node, sides)
  return binary(scope, node, 'bool', sides, (a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return compare(a, b)
    return typeof a === 'string' && typeof b === 'string' && compare(a, b)
  })
}

function compileIn(scope: Scope, node: ASTNode): Part {
  const sides = compileSides(scope, node)
  const [left, right] = sides
  if (!fits(left.type, 'text') || right.type !== 'list') return refuse(scope, node, sides)
  return binary(scope, node, 'bool', sides, (a, b, context) => {
    const [text, list] = [textOf(a), listOf(b)]
    charge(context, list.length)
    return text !== null && list.includes(text)
  })
}

/** Evaluates the right side only when the left one does not decide. */
function compileLogic(scope: Scope, node: ASTNode, decisive: boolean): Part {
  const [left, right] = sidesOf(node).map((side) =>
    compileAs(scope, side, 'bool', `each side of "${node.op}"`),
  )
  if (left === undefined || right === undefined) return scope.fail(node, 'one side is missing')
  const source = scope.sourceOf(node)
  return {
    type: 'bool',
    source,
    attributes: [...left.attributes, ...right.attributes],
    evaluate(context) {
      charge(context, 1)
      const value = left.evaluate(context) === decisive ? decisive : right.evaluate(context)
      noteCall(context, source, value)
      return value
    },
  }
}
