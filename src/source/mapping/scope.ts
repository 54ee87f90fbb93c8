import type { ASTNode } from '@marcbachmann/cel-js'
import { charge, type Formula, noteCall, type Context, show, type Value } from './formula.ts'

/** Known at compile time; `none` is the type of the literal null, a text without a value. */
export type Type = 'text' | 'none' | 'bool' | 'int' | 'list'

/** A list has texts only. */
export interface Part extends Formula {
  readonly type: Type
}

export interface Scope {
  /** The item names of the list methods around this part, the outermost first. */
  readonly items: readonly string[]
  compile(node: ASTNode): Part
  /** Compiles a node in which `name` is an item of a list, not an attribute. */
  compileWithin(name: string, node: ASTNode): Part
  attribute(node: ASTNode, name: string): string
  sourceOf(node: ASTNode): string
  /** Throws `config-invalid` with the key and the column. */
  fail(node: ASTNode, problem: string): never
}

export const TYPE_NAMES: Readonly<Record<Type, string>> = {
  text: 'a text',
  none: 'no value',
  bool: 'true or false',
  int: 'a number',
  list: 'a list',
}

/** `none` can be used as a text. */
export function fits(type: Type, wanted: Type): boolean {
  return type === wanted || (type === 'none' && wanted === 'text')
}

/** Refuses a node of another type. `what` begins the sentence, such as `the condition`. */
export function compileAs(scope: Scope, node: ASTNode, wanted: Type, what: string): Part {
  const part = scope.compile(node)
  if (fits(part.type, wanted)) return part
  const remedy = wanted === 'bool' && part.type === 'text' ? `; did you mean has(${part.source})?` : ''
  return scope.fail(node, `${what} must be ${TYPE_NAMES[wanted]}, not ${TYPE_NAMES[part.type]}${remedy}`)
}

export function commonType(left: Part, right: Part): Type | undefined {
  if (left.type === 'none') return fits('none', right.type) ? right.type : undefined
  return fits(right.type, left.type) ? left.type : undefined
}

export function textOf(value: Value): string | null {
  return typeof value === 'string' ? value : null
}

export function listOf(value: Value): readonly string[] {
  return typeof value === 'object' && value !== null ? value : []
}

/** A call that evaluates all of its arguments first and shows them in the trace. */
export function eager(
  source: string,
  name: string,
  type: Type,
  parts: readonly Part[],
  apply: (values: readonly Value[], context: Context) => Value,
): Part {
  return {
    type,
    source,
    attributes: parts.flatMap((part) => part.attributes),
    evaluate(context) {
      charge(context, 1)
      const values = parts.map((part) => part.evaluate(context))
      const value = apply(values, context)
      noteCall(context, source, value, `${name}(${values.map(shown).join(', ')})`)
      return value
    },
  }
}

function shown(value: Value): string {
  return typeof value === 'object' && value !== null ? `[${show(value)}]` : show(value)
}
