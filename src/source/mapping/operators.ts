import type { ASTNode } from '@marcbachmann/cel-js'
import { boundedList, boundedText, charge, noteCall, type Run, type Value } from './formula.ts'
import { commonType, compileAs, fits, listOf, type Part, type Scope, textOf, TYPE_NAMES } from './scope.ts'

type Compare = (left: string | number, right: string | number) => boolean

const COMPARISONS: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ['<', (left, right) => left < right],
  ['<=', (left, right) => left <= right],
  ['>', (left, right) => left > right],
  ['>=', (left, right) => left >= right],
])

/** The operators with a left and a right side; `undefined` for a node that is none of them. */
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

/** A part of two sides that are always both worked out. */
function binary(
  scope: Scope,
  node: ASTNode,
  type: Part['type'],
  [left, right]: readonly [Part, Part],
  apply: (left: Value, right: Value, run: Run) => Value,
): Part {
  const source = scope.sourceOf(node)
  return {
    type,
    source,
    attributes: [...left.attributes, ...right.attributes],
    evaluate(run) {
      charge(run, 1)
      const value = apply(left.evaluate(run), right.evaluate(run), run)
      noteCall(run, source, value)
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
  return scope.fail(node, `"${node.op}" does not go between ${types}`)
}

/** Texts are put together, and have no value where one of them has none: there are no half values. */
function compilePlus(scope: Scope, node: ASTNode): Part {
  const sides = compileSides(scope, node)
  const [left, right] = sides
  if (left.type === 'list' && right.type === 'list')
    return binary(scope, node, 'list', sides, (a, b, run) => boundedList(run, [...listOf(a), ...listOf(b)]))
  if (!fits(left.type, 'text') || !fits(right.type, 'text')) return refuse(scope, node, sides)
  return binary(scope, node, 'text', sides, (a, b, run) => {
    const [first, second] = [textOf(a), textOf(b)]
    return first === null || second === null ? null : boundedText(run, first + second)
  })
}

function compileEquality(scope: Scope, node: ASTNode, answer: (same: boolean) => boolean): Part {
  const sides = compileSides(scope, node)
  const type = commonType(...sides)
  if (type === undefined || type === 'list') return refuse(scope, node, sides)
  return binary(scope, node, 'bool', sides, (a, b) => answer(a === b))
}

/** What has no value is neither less nor more than anything. */
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
  return binary(scope, node, 'bool', sides, (a, b, run) => {
    const [text, list] = [textOf(a), listOf(b)]
    charge(run, list.length)
    return text !== null && list.includes(text)
  })
}

/** The right side is worked out only where the left one does not decide. */
function compileLogic(scope: Scope, node: ASTNode, decisive: boolean): Part {
  const [left, right] = sidesOf(node).map((side) => compileAs(scope, side, 'bool', `what "${node.op}" joins`))
  if (left === undefined || right === undefined) return scope.fail(node, 'one side is missing')
  const source = scope.sourceOf(node)
  return {
    type: 'bool',
    source,
    attributes: [...left.attributes, ...right.attributes],
    evaluate(run) {
      charge(run, 1)
      const value = left.evaluate(run) === decisive ? decisive : right.evaluate(run)
      noteCall(run, source, value)
      return value
    },
  }
}
