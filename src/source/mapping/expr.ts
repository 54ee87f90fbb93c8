import { bounded, charge, type Context, readAll, readFirst, stepsOf } from './context.ts'
import { callStep } from './trace.ts'
import type { Value } from './value.ts'

/** Known at compile time; `none` is the type of the literal null, a text without a value. A list has texts only. */
export type Type = 'text' | 'none' | 'bool' | 'int' | 'list'

export const TYPE_NAMES: Readonly<Record<Type, string>> = {
  text: 'a text',
  none: 'no value',
  bool: 'true or false',
  int: 'a number',
  list: 'a list',
}

/** A compiled value. */
export interface Expr {
  readonly type: Type
  /** As written in the configuration. */
  readonly source: string
  /** The attributes that it may read, spelled as in the configuration; may have duplicates. */
  readonly attributes: readonly string[]
  /** Throws a `Fault`, and nothing else, when the value cannot be computed for this entry. */
  readonly evaluate: (context: Context) => Value
}

/** @param parts the attributes of which it reads */
export function expr(
  type: Type,
  source: string,
  parts: readonly Pick<Expr, 'attributes'>[],
  evaluate: Expr['evaluate'],
): Expr {
  return { type, source, attributes: parts.flatMap((part) => part.attributes), evaluate }
}

export function constant(type: Type, source: string, value: Value): Expr {
  return expr(type, source, [], () => value)
}

export function attributeExpr(source: string, attribute: string): Expr {
  return expr('text', source, [{ attributes: [attribute] }], (context) => readFirst(context, attribute))
}

export function boundedAttribute(source: string, attribute: string): Expr {
  const whole = attributeExpr(source, attribute)
  return expr('text', source, [whole], (context) => bounded(context, whole.evaluate(context)))
}

export function allValues(source: string, attribute: string): Expr {
  return expr('list', source, [{ attributes: [attribute] }], (context) => readAll(context, attribute))
}

/** Charges for each evaluation, and adds it to the trace. */
export function noted(type: Type, source: string, parts: readonly Expr[], evaluate: Expr['evaluate']): Expr {
  return expr(type, source, parts, (context) => {
    charge(context, 1)
    const value = evaluate(context)
    stepsOf(context)?.push(callStep(source, value))
    return value
  })
}

/** Computes a value from those of one or two arguments, whose types were checked when they were compiled. */
export type Apply = (context: Context, first: never, second: never) => Value

interface Call {
  readonly type: Type
  readonly source: string
  /** One or two. */
  readonly args: readonly Expr[]
  readonly apply: Apply
  /** By default a call of which an argument has no value has none either: it is null, false, 0 or an empty list. */
  readonly takesNull?: boolean
  /** How the trace shows a call with these values; by default as written. */
  readonly shown?: (values: readonly Value[]) => string
}

const NOTHING: Readonly<Record<Type, Value>> = { text: null, none: null, bool: false, int: 0, list: [] }

/** A call that evaluates all of its arguments first. Lists of arguments would double its time. */
export function call({ type, source, args, apply, takesNull = false, shown = () => source }: Call): Expr {
  const [first, second] = args
  return expr(type, source, args, (context) => {
    charge(context, 1)
    const left = first!.evaluate(context)
    const right = second?.evaluate(context)
    const isMissing = !takesNull && (left === null || right === null)
    const value = isMissing ? NOTHING[type] : apply(context, left as never, right as never)
    stepsOf(context)?.push(callStep(source, value, shown(right === undefined ? [left] : [left, right])))
    return value
  })
}

/** `none` can be used as a text. */
export function fits(type: Type, wanted: Type): boolean {
  return type === wanted || (type === 'none' && wanted === 'text')
}

export function commonType(left: Type, right: Type): Type | undefined {
  if (fits(left, right)) return right
  return fits(right, left) ? left : undefined
}
