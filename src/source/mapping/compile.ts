import type { ASTNode } from '@marcbachmann/cel-js'
import { compileCall, compileMethod } from './calls.ts'
import { bounded } from './context.ts'
import { boundedAttribute, call, constant, type Expr, expr, TYPE_NAMES } from './expr.ts'
import { choice, logic } from './lazy.ts'
import { OPERATORS } from './operators.ts'
import { compileAs, type Site } from './site.ts'
import { isText, present } from './value.ts'

export function compileNode(site: Site, { op, args }: ASTNode): Expr {
  if (op === 'value') return compileLiteral(site, args)
  if (op === 'id') return compileName(site, args)
  if (op === 'list') return compileList(site, args)
  if (op === 'call') return compileCall(site, ...args)
  if (op === 'rcall') return compileMethod(site, ...args)
  if (op === '[]') return compileIndex(site, ...args)
  if (op === '?:') {
    const condition = compileAs(site, args[0], 'bool', 'the condition')
    return choice(site, condition, site.compile(args[1]), site.compile(args[2]))
  }
  if (op === '&&' || op === '||') {
    const [left, right] = args.map((side) => compileAs(site, side, 'bool', `each side of "${op}"`))
    return logic(site.source, op === '||', left!, right!)
  }
  if (op === '!_') {
    const operand = compileAs(site, args, 'bool', 'the operand of "!"')
    return call({ type: 'bool', source: site.source, args: [operand], apply: (_, value: boolean) => !value })
  }
  if (op === '-_') {
    const operand = compileAs(site, args, 'int', 'the operand of "-"')
    return expr('int', site.source, [operand], (context) => -Number(operand.evaluate(context)))
  }
  return compileOperator(site, op, args as readonly ASTNode[])
}

function compileLiteral(site: Site, value: unknown): Expr {
  if (typeof value === 'string') return constant('text', site.source, value)
  if (value === null) return constant('none', site.source, value)
  if (typeof value === 'boolean') return constant('bool', site.source, value)
  if (typeof value === 'bigint') return constant('int', site.source, Number(value))
  return site.fail('only texts, whole numbers, true, false and null can be written here')
}

function compileName(site: Site, name: string): Expr {
  const depth = site.items.lastIndexOf(name)
  if (depth < 0) return boundedAttribute(name, site.attribute(name))
  return expr('text', name, [], ({ items }) => present(items[depth] ?? ''))
}

/** A list of texts; those without a value are left out. */
function compileList(site: Site, elements: readonly ASTNode[]): Expr {
  const parts = elements.map((each) => compileAs(site, each, 'text', 'each item of a list'))
  return expr('list', site.source, parts, (context) =>
    bounded(context, parts.map(({ evaluate }) => evaluate(context)).filter(isText)),
  )
}

/** `list[0]` is the first, `list[-1]` the last; no value when the list is shorter. */
function compileIndex(site: Site, list: ASTNode, index: ASTNode): Expr {
  const args = [
    compileAs(site, list, 'list', 'the value before […]'),
    compileAs(site, index, 'int', 'the number in […]'),
  ]
  return call({
    type: 'text',
    source: site.source,
    args,
    apply: (_, texts: readonly string[], at: number) => present(texts.at(at) ?? ''),
  })
}

function compileOperator(site: Site, op: string, operands: readonly ASTNode[]): Expr {
  const operator = OPERATORS.get(op)
  if (operator === undefined) return site.fail(operatorProblem(op))
  const args = operands.map((side) => site.compile(side))
  const [left, right] = args.map((part) => part.type)
  const type = operator.typeOf(left!, right!)
  const types = `${TYPE_NAMES[left!]} and ${TYPE_NAMES[right!]}`
  if (type === undefined) return site.fail(`"${op}" cannot be used between ${types}`)
  return call({ ...operator, type, source: site.source, args })
}

function operatorProblem(op: string): string {
  if (op === '-')
    return '"-" is not known; write an attribute with a hyphen in its name as attr("telephone-number")'
  if (op === '.')
    return '"." is followed by a function; write an attribute with a dot in its name as attr("…")'
  return `"${op === 'map' ? '{…}' : op}" is not part of this language`
}
