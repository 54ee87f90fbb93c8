import type { ASTNode } from '@marcbachmann/cel-js'
import { charge, type Formula, noteCall, type Run, show, type Value } from './formula.ts'

/** What is known of a part at the start: `none` is the literal null, which is a text without a value. */
export type Type = 'text' | 'none' | 'bool' | 'int' | 'list'

/** A compiled part of an expression. A list has texts only. */
export interface Part extends Formula {
  readonly type: Type
}

/** What the parts of an expression are compiled with. */
export interface Scope {
  /** The names of the items of the lists around this part, the outermost first. */
  readonly items: readonly string[]
  compile(node: ASTNode): Part
  /** Compiles something in which the name stands for an item of a list, which is not an attribute then. */
  compileWithin(name: string, node: ASTNode): Part
  /** The checked name of an attribute. */
  attribute(node: ASTNode, name: string): string
  sourceOf(node: ASTNode): string
  /** Refuses the expression: throws `config-invalid` with the key and the column. */
  fail(node: ASTNode, problem: string): never
}

export const TYPE_NAMES: Readonly<Record<Type, string>> = {
  text: 'a text',
  none: 'no value',
  bool: 'true or false',
  int: 'a number',
  list: 'a list',
}

/** Whether a part can stand where this type is wanted: no value is as good as a text without one. */
export function fits(type: Type, wanted: Type): boolean {
  return type === wanted || (type === 'none' && wanted === 'text')
}

/** Compiles a node and refuses it when it is not of the type. `what` begins the sentence, such as `the condition`. */
export function compileAs(scope: Scope, node: ASTNode, wanted: Type, what: string): Part {
  const part = scope.compile(node)
  if (fits(part.type, wanted)) return part
  const remedy = wanted === 'bool' && part.type === 'text' ? `; did you mean has(${part.source})?` : ''
  return scope.fail(node, `${what} must be ${TYPE_NAMES[wanted]}, not ${TYPE_NAMES[part.type]}${remedy}`)
}

/** The type of something that is one of two parts, or `undefined` when they do not go together. */
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

/** A part that works out all of its own parts first and shows them in the trace. */
export function eager(
  source: string,
  name: string,
  type: Type,
  parts: readonly Part[],
  apply: (values: readonly Value[], run: Run) => Value,
): Part {
  return {
    type,
    source,
    attributes: parts.flatMap((part) => part.attributes),
    evaluate(run) {
      charge(run, 1)
      const values = parts.map((part) => part.evaluate(run))
      const value = apply(values, run)
      noteCall(run, source, value, `${name}(${values.map(shown).join(', ')})`)
      return value
    },
  }
}

function shown(value: Value): string {
  return typeof value === 'object' && value !== null ? `[${show(value)}]` : show(value)
}
