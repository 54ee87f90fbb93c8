import type { ASTNode } from '@marcbachmann/cel-js'
import { boundedList, charge, noteCall, present, type Run, type Value } from './formula.ts'
import { compileAs, listOf, type Part, type Scope, textOf, type Type } from './scope.ts'

/** What is asked of each text of a list, and what becomes of the answers. */
interface ListQuestion {
  readonly wanted: 'bool' | 'text'
  readonly returns: Type
  readonly apply: (list: readonly string[], ask: (item: string) => Value) => Value
}

const QUESTIONS: ReadonlyMap<string, ListQuestion> = new Map<string, ListQuestion>([
  [
    'exists',
    {
      wanted: 'bool',
      returns: 'bool',
      apply: (list, ask) => list.some((item) => ask(item) === true),
    },
  ],
  [
    'all',
    {
      wanted: 'bool',
      returns: 'bool',
      apply: (list, ask) => list.every((item) => ask(item) === true),
    },
  ],
  [
    'filter',
    {
      wanted: 'bool',
      returns: 'list',
      apply: (list, ask) => list.filter((item) => ask(item) === true),
    },
  ],
  [
    'map',
    {
      wanted: 'text',
      returns: 'list',
      apply: (list, ask) => list.map((item) => textOf(ask(item))).filter((text) => text !== null),
    },
  ],
])

export const QUESTION_NAMES: readonly string[] = [...QUESTIONS.keys()]

/** Units that looking at one item costs besides what is done with it. */
const ITEM_COST = 20

/** `list.filter(item, condition)` and the like; `undefined` when the name is none of them. */
export function compileQuestion(
  scope: Scope,
  node: ASTNode,
  name: string,
  receiver: ASTNode,
  args: readonly ASTNode[],
): Part | undefined {
  const question = QUESTIONS.get(name)
  if (question === undefined) return undefined
  const [item, body] = args
  const usage = `list.${name}(item, ${question.wanted === 'bool' ? 'condition' : 'text'})`
  if (args.length !== 2 || body === undefined || item?.op !== 'id')
    return scope.fail(node, `it is used as ${usage}`)
  const list = compileAs(scope, receiver, 'list', `what stands before .${name}()`)
  const inner = compileAs(withItem(scope, item.args), body, question.wanted, `the answer of .${name}()`)
  const source = scope.sourceOf(node)
  return {
    type: question.returns,
    source,
    attributes: [...list.attributes, ...inner.attributes],
    evaluate(run) {
      const items = listOf(list.evaluate(run))
      const value = asking(run, inner, (ask) => question.apply(items, ask))
      if (question.returns === 'list') boundedList(run, listOf(value))
      noteCall(run, source, value)
      return value
    },
  }
}

function withItem(scope: Scope, name: string): Scope {
  return { ...scope, compile: (node) => scope.compileWithin(name, node) }
}

/** The item is on the run's stack while it is asked about. */
function asking(run: Run, inner: Part, apply: (ask: (item: string) => Value) => Value): Value {
  const depth = run.items.length
  try {
    return apply((item) => {
      charge(run, ITEM_COST)
      run.items[depth] = item
      return inner.evaluate(run)
    })
  } finally {
    run.items.length = depth
  }
}

/** The item that a condition is about; an item of blanks only has no value. */
export function itemPart(source: string, depth: number): Part {
  return { type: 'text', source, attributes: [], evaluate: (run) => present(run.items[depth] ?? '') }
}

/** `list[0]` is the first, `list[-1]` the last; no value where there are not so many. */
export function compileIndex(scope: Scope, node: ASTNode, receiver: ASTNode, index: ASTNode): Part {
  const list = compileAs(scope, receiver, 'list', 'what stands before […]')
  const at = compileAs(scope, index, 'int', 'the number in […]')
  const source = scope.sourceOf(node)
  return {
    type: 'text',
    source,
    attributes: [...list.attributes, ...at.attributes],
    evaluate(run) {
      charge(run, 1)
      const items = listOf(list.evaluate(run))
      const value = present(items.at(Number(at.evaluate(run))) ?? '')
      noteCall(run, source, value)
      return value
    },
  }
}
