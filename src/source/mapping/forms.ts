import type { ASTNode } from '@marcbachmann/cel-js'
import { boundedText, charge, note, noteChoice, present, readAll, readFirst, type Value } from './formula.ts'
import { compileTexts, liftOver, requireCount } from './functions.ts'
import { compileRegex, compileReplacement, type Regex } from './regex.ts'
import { commonType, compileAs, eager, listOf, type Part, type Scope, textOf } from './scope.ts'

type CompileForm = (scope: Scope, node: ASTNode, args: readonly ASTNode[]) => Part

/** Functions that take lists, literal arguments or alternatives, not only texts. */
const FORMS: ReadonlyMap<string, CompileForm> = new Map<string, CompileForm>([
  ['first', compileFirst],
  ['when', compileWhen],
  ['has', compileHas],
  ['size', compileSize],
  ['attr', compileAttr],
  ['values', compileValues],
  ['join', compileJoin],
  ['matches', compileMatches],
  ['replace', compileReplace],
])

export const FORM_NAMES: readonly string[] = [...FORMS.keys()]

export function compileForm(
  scope: Scope,
  node: ASTNode,
  name: string,
  args: readonly ASTNode[],
): Part | undefined {
  return FORMS.get(name)?.(scope, node, args)
}

/** Arguments after the first one with a value are not evaluated. */
function compileFirst(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  requireCount(scope, node, 'first(text, …)', args, 1, Number.POSITIVE_INFINITY)
  const parts = args.map((arg) => compileTexts(scope, arg, 'first'))
  const source = scope.sourceOf(node)
  return {
    type: 'text',
    source,
    attributes: parts.flatMap((part) => part.attributes),
    evaluate(context) {
      charge(context, 1)
      const skipped: string[] = []
      for (const part of parts) {
        const value = firstOf(part.evaluate(context))
        if (value !== null) {
          noteChoice(context, part.source, value, skipped)
          return value
        }
        skipped.push(part.source)
      }
      noteChoice(context, undefined, null, skipped)
      return null
    },
  }
}

function firstOf(value: Value): string | null {
  const texts = typeof value === 'string' ? [value] : listOf(value)
  return texts.find((text) => present(text) !== null) ?? null
}

/** `when(condition, a)` and `when(condition, a, b)`, which is also written `condition ? a : b`. */
function compileWhen(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  requireCount(scope, node, 'when(condition, text[, otherwise])', args, 2, 3)
  return compileChoice(scope, node, args)
}

export function compileChoice(scope: Scope, node: ASTNode, [condition, yes, no]: readonly ASTNode[]): Part {
  if (condition === undefined || yes === undefined) return scope.fail(node, 'an alternative is missing')
  const test = compileAs(scope, condition, 'bool', 'the condition')
  const parts = [yes, no].map((branch) => (branch === undefined ? nothing() : scope.compile(branch)))
  const [left = nothing(), right = nothing()] = parts
  const type = commonType(left, right)
  if (type === undefined) return scope.fail(node, 'both alternatives must be of the same type')
  const source = scope.sourceOf(node)
  return {
    type,
    source,
    attributes: [test, left, right].flatMap((part) => part.attributes),
    evaluate(context) {
      charge(context, 1)
      const decision = test.evaluate(context) === true
      const chosen = decision ? left : right
      note(context, () => {
        const text = `${chosen.source} taken, because ${test.source} is ${decision}`
        return { kind: 'choice', text, chosen: chosen.source }
      })
      return chosen.evaluate(context)
    },
  }
}

function nothing(): Part {
  return { type: 'none', source: 'null', attributes: [], evaluate: () => null }
}

function compileHas(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  const part = compileOnly(scope, node, 'has', args)
  return eager(scope.sourceOf(node), 'has', 'bool', [part], ([value = null]) => firstOf(value) !== null)
}

/** The number of a text's characters or of a list's texts. */
function compileSize(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  const part = compileOnly(scope, node, 'size', args)
  return eager(scope.sourceOf(node), 'size', 'int', [part], ([value = null], context) => {
    if (typeof value !== 'string') return listOf(value).length
    charge(context, value.length)
    return Array.from(value).length
  })
}

function compileOnly(scope: Scope, node: ASTNode, name: string, args: readonly ASTNode[]): Part {
  requireCount(scope, node, `${name}(text or list)`, args, 1, 1)
  const [only] = args
  return only === undefined ? scope.fail(node, 'an argument is missing') : compileTexts(scope, only, name)
}

/** An attribute whose name is not a plain word: `attr("telephone-number")`. */
function compileAttr(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  const name = attributeArgument(scope, node, 'attr', args)
  return attributePart(scope.sourceOf(node), name)
}

export function attributePart(source: string, name: string): Part {
  return {
    type: 'text',
    source,
    attributes: [name],
    evaluate(context) {
      const value = readFirst(context, name)
      return value === null ? null : boundedText(context, value)
    },
  }
}

function compileValues(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  const name = attributeArgument(scope, node, 'values', args)
  const source = scope.sourceOf(node)
  return { type: 'list', source, attributes: [name], evaluate: (context) => readAll(context, name) }
}

/** The name, bare or in quotes. It must be literal, because the source reads only named attributes. */
function attributeArgument(scope: Scope, node: ASTNode, form: string, args: readonly ASTNode[]): string {
  requireCount(scope, node, `${form}("name")`, args, 1, 1)
  const [only] = args
  if (only?.op === 'value' && typeof only.args === 'string') return scope.attribute(only, only.args)
  if (only?.op === 'id' && form === 'values' && !scope.items.includes(only.args))
    return scope.attribute(only, only.args)
  return scope.fail(
    only ?? node,
    `${form}() takes the name of an attribute in quotes, such as ${form}("mail")`,
  )
}

/** Joins the texts that are not blank. */
function compileJoin(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  requireCount(scope, node, 'join(list, separator)', args, 2, 2)
  const [list, separator] = args
  if (list === undefined || separator === undefined) return scope.fail(node, 'an argument is missing')
  const parts = [
    compileAs(scope, list, 'list', 'list of join()'),
    compileAs(scope, separator, 'text', 'separator of join()'),
  ]
  return eager(scope.sourceOf(node), 'join', 'text', parts, ([texts = [], between = null], context) => {
    if (typeof between !== 'string') return null
    const whole = listOf(texts).filter((text) => present(text) !== null)
    const length = whole.reduce((sum, text) => sum + text.length + between.length, 0)
    charge(context, length)
    return present(boundedText(context, whole.join(between)))
  })
}

function compileMatches(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  requireCount(scope, node, 'matches(text, "regular expression")', args, 2, 2)
  const [text, pattern] = args
  if (text === undefined || pattern === undefined) return scope.fail(node, 'an argument is missing')
  const part = compileAs(scope, text, 'text', 'text of matches()')
  const regex = regexArgument(scope, pattern)
  const shown = shownLiteral(scope, pattern)
  return eager(scope.sourceOf(node), 'matches', 'bool', [part, shown], ([value = null], context) => {
    const subject = textOf(value)
    return subject !== null && regex.test(subject, context)
  })
}

function compileReplace(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  requireCount(scope, node, 'replace(text, "regular expression", "with")', args, 3, 3)
  const [text, pattern, replacement] = args
  if (text === undefined || pattern === undefined || replacement === undefined)
    return scope.fail(node, 'an argument is missing')
  const part = compileTexts(scope, text, 'replace')
  const regex = regexArgument(scope, pattern)
  const template = compileOrFail(scope, replacement, 'the replacement', () =>
    compileReplacement(literalOf(scope, replacement, 'the replacement'), regex),
  )
  const parts = [part, shownLiteral(scope, pattern), shownLiteral(scope, replacement)]
  const type = part.type === 'list' ? 'list' : 'text'
  return eager(scope.sourceOf(node), 'replace', type, parts, ([value = null], context) => {
    const one = (subject: string) => present(regex.replace(subject, template, context))
    if (type === 'list') return liftOver(listOf(value), context, one)
    return typeof value === 'string' ? one(value) : null
  })
}

function regexArgument(scope: Scope, node: ASTNode): Regex {
  const pattern = literalOf(scope, node, 'the regular expression')
  return compileOrFail(scope, node, 'the regular expression', () => compileRegex(pattern))
}

function compileOrFail<T>(scope: Scope, node: ASTNode, what: string, compile: () => T): T {
  try {
    return compile()
  } catch (error) {
    return scope.fail(
      node,
      `${what} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

/** A literal is compiled once at the start and so cannot depend on the entry. */
function literalOf(scope: Scope, node: ASTNode, what: string): string {
  if (node.op === 'value' && typeof node.args === 'string') return node.args
  return scope.fail(node, `${what} must be a text in quotes`)
}

function shownLiteral(scope: Scope, node: ASTNode): Part {
  const value = literalOf(scope, node, 'the argument')
  return { type: 'text', source: scope.sourceOf(node), attributes: [], evaluate: () => value }
}
