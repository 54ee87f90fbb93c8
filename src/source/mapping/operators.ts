import { bounded, charge, type Context } from './context.ts'
import { type Apply, commonType, fits, type Type } from './expr.ts'
import { isText } from './value.ts'

/** A binary operator that evaluates both sides. */
export interface Operator {
  /** `undefined` where it cannot be used between these types. */
  readonly typeOf: (left: Type, right: Type) => Type | undefined
  readonly apply: Apply
  readonly takesNull?: boolean
}

type Comparable = string | number

const equality = between('text', 'none', 'bool', 'int')
const order = between('text', 'int')

/** A missing value is neither less nor greater than another, but equal to another one. */
export const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['+', { typeOf: sum, apply: plus }],
  ['==', { typeOf: equality, apply: (_, left, right) => left === right, takesNull: true }],
  ['!=', { typeOf: equality, apply: (_, left, right) => left !== right, takesNull: true }],
  ['<', { typeOf: order, apply: (_, left: Comparable, right: Comparable) => left < right }],
  ['<=', { typeOf: order, apply: (_, left: Comparable, right: Comparable) => left <= right }],
  ['>', { typeOf: order, apply: (_, left: Comparable, right: Comparable) => left > right }],
  ['>=', { typeOf: order, apply: (_, left: Comparable, right: Comparable) => left >= right }],
  ['in', { typeOf: membership, apply: isIn }],
])

function sum(left: Type, right: Type): Type | undefined {
  if (left === 'list' && right === 'list') return 'list'
  return fits(left, 'text') && fits(right, 'text') ? 'text' : undefined
}

function plus(context: Context, left: string | readonly string[], right: string | readonly string[]) {
  return bounded(context, isText(left) ? left + (right as string) : [left, right].flat())
}

/** Two values of one of these types; `null` is a text, too. */
function between(...types: readonly (Type | undefined)[]): Operator['typeOf'] {
  return (left, right) => (types.includes(commonType(left, right)) ? 'bool' : undefined)
}

function membership(left: Type, right: Type): Type | undefined {
  return fits(left, 'text') && right === 'list' ? 'bool' : undefined
}

function isIn(context: Context, text: string, list: readonly string[]): boolean {
  charge(context, list.length)
  return list.includes(text)
}
