import type { ASTNode } from '@marcbachmann/cel-js'
import { boundedList, charge, noteCall, present, type Context, type Value } from './formula.ts'
import { compileAs, listOf, type Part, type Scope, textOf, type Type } from './scope.ts'

/** Evaluates its body for each item of a list, and combines the values. */
interface ListMethod {
  readonly bodyType: 'bool' | 'text'
  readonly returns: Type
  readonly apply: (list: readonly string[], evaluateItem: (item: string) => Value) => Value
}

const LIST_METHODS: ReadonlyMap<string, ListMethod> = new Map<string, ListMethod>([
  [
    'exists',
    {
      bodyType: 'bool',
      returns: 'bool',
      apply: (list, evaluateItem) => list.some((item) => evaluateItem(item) === true),
    },
  ],
  [
    'all',
    {
      bodyType: 'bool',
      returns: 'bool',
      apply: (list, evaluateItem) => list.every((item) => evaluateItem(item) === true),
    },
  ],
  [
    'filter',
    {
      bodyType: 'bool',
      returns: 'list',
      apply: (list, evaluateItem) => list.filter((item) => evaluateItem(item) === true),
    },
  ],
  [
    'map',
    {
      bodyType: 'text',
      returns: 'list',
      apply: (list, evaluateItem) =>
        list.map((item) => textOf(evaluateItem(item))).filter((text) => text !== null),
    },
  ],
])

export const LIST_METHOD_NAMES: readonly string[] = [...LIST_METHODS.keys()]

/** In units, in addition to the evaluation of the body. */
const ITEM_COST = 20

/** `list.filter(item, condition)` and the like; `undefined` for other names. */
export function compileListMethod(
  scope: Scope,
  node: ASTNode,
  name: string,
  receiver: ASTNode,
  args: readonly ASTNode[],
): Part | undefined {
  const method = LIST_METHODS.get(name)
  if (method === undefined) return undefined
  const [item, body] = args
  const usage = `list.${name}(item, ${method.bodyType === 'bool' ? 'condition' : 'text'})`
  if (args.length !== 2 || body === undefined || item?.op !== 'id')
    return scope.fail(node, `wrong arguments; write ${usage}`)
  const list = compileAs(scope, receiver, 'list', `the value before .${name}()`)
  const inner = compileAs(
    withItem(scope, item.args),
    body,
    method.bodyType,
    `the second argument of .${name}()`,
  )
  const source = scope.sourceOf(node)
  return {
    type: method.returns,
    source,
    attributes: [...list.attributes, ...inner.attributes],
    evaluate(context) {
      const items = listOf(list.evaluate(context))
      const value = withCurrentItem(context, inner, (evaluateItem) => method.apply(items, evaluateItem))
      if (method.returns === 'list') boundedList(context, listOf(value))
      noteCall(context, source, value)
      return value
    },
  }
}

function withItem(scope: Scope, name: string): Scope {
  return { ...scope, compile: (node) => scope.compileWithin(name, node) }
}

function withCurrentItem(
  context: Context,
  inner: Part,
  apply: (evaluateItem: (item: string) => Value) => Value,
): Value {
  const depth = context.items.length
  try {
    return apply((item) => {
      charge(context, ITEM_COST)
      context.items[depth] = item
      return inner.evaluate(context)
    })
  } finally {
    context.items.length = depth
  }
}

/** A blank item has no value. */
export function itemPart(source: string, depth: number): Part {
  return { type: 'text', source, attributes: [], evaluate: (context) => present(context.items[depth] ?? '') }
}

/** `list[0]` is the first, `list[-1]` the last; no value when the list is shorter. */
export function compileIndex(scope: Scope, node: ASTNode, receiver: ASTNode, index: ASTNode): Part {
  const list = compileAs(scope, receiver, 'list', 'the value before […]')
  const at = compileAs(scope, index, 'int', 'the number in […]')
  const source = scope.sourceOf(node)
  return {
    type: 'text',
    source,
    attributes: [...list.attributes, ...at.attributes],
    evaluate(context) {
      charge(context, 1)
      const items = listOf(list.evaluate(context))
      const value = present(items.at(Number(at.evaluate(context))) ?? '')
      noteCall(context, source, value)
      return value
    },
  }
}
