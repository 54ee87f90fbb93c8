import type { ASTNode } from '@marcbachmann/cel-js'
import { boundedText, charge, note, noteChoice, present, readAll, readFirst, type Value } from './formula.ts'
import { compileTexts, liftOver, requireCount } from './functions.ts'
import { compileRegex, compileReplacement, type Regex } from './regex.ts'
import { commonType, compileAs, eager, listOf, type Part, type Scope, textOf } from './scope.ts'

type CompileForm = (scope: Scope, node: ASTNode, args: readonly ASTNode[]) => Part

/** The functions that are more than a function of texts: of lists, with literal arguments, or with alternatives. */
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

/** `undefined` when the name is none of these functions. */
export function compileForm(
  scope: Scope,
  node: ASTNode,
  name: string,
  args: readonly ASTNode[],
): Part | undefined {
  return FORMS.get(name)?.(scope, node, args)
}

/** The first that has a value; the ones behind it are not worked out. */
function compileFirst(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  requireCount(scope, node, 'first(text, …)', args, 1, Number.POSITIVE_INFINITY)
  const parts = args.map((arg) => compileTexts(scope, arg, 'first'))
  const source = scope.sourceOf(node)
  return {
    type: 'text',
    source,
    attributes: parts.flatMap((part) => part.attributes),
    evaluate(run) {
      charge(run, 1)
      const passed: string[] = []
      for (const part of parts) {
        const value = firstOf(part.evaluate(run))
        if (value !== null) {
          noteChoice(run, part.source, value, passed)
          return value
        }
        passed.push(part.source)
      }
      noteChoice(run, undefined, null, passed)
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
  if (type === undefined) return scope.fail(node, 'both alternatives must be of the same kind')
  const source = scope.sourceOf(node)
  return {
    type,
    source,
    attributes: [test, left, right].flatMap((part) => part.attributes),
    evaluate(run) {
      charge(run, 1)
      const decision = test.evaluate(run) === true
      const chosen = decision ? left : right
      note(run, () => {
        const text = `${chosen.source} taken, because ${test.source} is ${decision}`
        return { kind: 'choice', text, chosen: chosen.source }
      })
      return chosen.evaluate(run)
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

/** Of a text its characters, of a list its texts. */
function compileSize(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  const part = compileOnly(scope, node, 'size', args)
  return eager(scope.sourceOf(node), 'size', 'int', [part], ([value = null], run) => {
    if (typeof value !== 'string') return listOf(value).length
    charge(run, value.length)
    return Array.from(value).length
  })
}

function compileOnly(scope: Scope, node: ASTNode, name: string, args: readonly ASTNode[]): Part {
  requireCount(scope, node, `${name}(text or list)`, args, 1, 1)
  const [only] = args
  return only === undefined ? scope.fail(node, 'an argument is missing') : compileTexts(scope, only, name)
}

/** An attribute whose name is no plain word: `attr("telephone-number")`. */
function compileAttr(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  const name = attributeArgument(scope, node, 'attr', args)
  return attributePart(scope.sourceOf(node), name)
}

/** The first value of an attribute. */
export function attributePart(source: string, name: string): Part {
  return {
    type: 'text',
    source,
    attributes: [name],
    evaluate(run) {
      const value = readFirst(run, name)
      return value === null ? null : boundedText(run, value)
    },
  }
}

function compileValues(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  const name = attributeArgument(scope, node, 'values', args)
  const source = scope.sourceOf(node)
  return { type: 'list', source, attributes: [name], evaluate: (run) => readAll(run, name) }
}

/** The name itself, or as a text in quotes. It must be known at the start, because only these attributes are asked for. */
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

/** The texts with something between them; blank ones are left out. */
function compileJoin(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  requireCount(scope, node, 'join(list, separator)', args, 2, 2)
  const [list, separator] = args
  if (list === undefined || separator === undefined) return scope.fail(node, 'an argument is missing')
  const parts = [
    compileAs(scope, list, 'list', 'list of join()'),
    compileAs(scope, separator, 'text', 'separator of join()'),
  ]
  return eager(scope.sourceOf(node), 'join', 'text', parts, ([texts = [], between = null], run) => {
    if (typeof between !== 'string') return null
    const whole = listOf(texts).filter((text) => present(text) !== null)
    const length = whole.reduce((sum, text) => sum + text.length + between.length, 0)
    charge(run, length)
    return present(boundedText(run, whole.join(between)))
  })
}

function compileMatches(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  requireCount(scope, node, 'matches(text, "regular expression")', args, 2, 2)
  const [text, pattern] = args
  if (text === undefined || pattern === undefined) return scope.fail(node, 'an argument is missing')
  const part = compileAs(scope, text, 'text', 'text of matches()')
  const regex = regexArgument(scope, pattern)
  const shown = shownLiteral(scope, pattern)
  return eager(scope.sourceOf(node), 'matches', 'bool', [part, shown], ([value = null], run) => {
    const subject = textOf(value)
    return subject !== null && regex.test(subject, run)
  })
}

function compileReplace(scope: Scope, node: ASTNode, args: readonly ASTNode[]): Part {
  requireCount(scope, node, 'replace(text, "regular expression", "with")', args, 3, 3)
  const [text, pattern, replacement] = args
  if (text === undefined || pattern === undefined || replacement === undefined)
    return scope.fail(node, 'an argument is missing')
  const part = compileTexts(scope, text, 'replace')
  const regex = regexArgument(scope, pattern)
  const template = attempt(scope, replacement, 'the replacement', () =>
    compileReplacement(literalOf(scope, replacement, 'the replacement'), regex),
  )
  const parts = [part, shownLiteral(scope, pattern), shownLiteral(scope, replacement)]
  const type = part.type === 'list' ? 'list' : 'text'
  return eager(scope.sourceOf(node), 'replace', type, parts, ([value = null], run) => {
    const one = (subject: string) => present(regex.replace(subject, template, run))
    if (type === 'list') return liftOver(listOf(value), run, one)
    return typeof value === 'string' ? one(value) : null
  })
}

function regexArgument(scope: Scope, node: ASTNode): Regex {
  const pattern = literalOf(scope, node, 'the regular expression')
  return attempt(scope, node, 'the regular expression', () => compileRegex(pattern))
}

function attempt<T>(scope: Scope, node: ASTNode, what: string, compile: () => T): T {
  try {
    return compile()
  } catch (error) {
    return scope.fail(
      node,
      `${what} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

/** What is compiled once, at the start, and so cannot depend on the entry. */
function literalOf(scope: Scope, node: ASTNode, what: string): string {
  if (node.op === 'value' && typeof node.args === 'string') return node.args
  return scope.fail(node, `${what} must be a text in quotes`)
}

/** A literal as it is shown in the trace of a call. */
function shownLiteral(scope: Scope, node: ASTNode): Part {
  const value = literalOf(scope, node, 'the argument')
  return { type: 'text', source: scope.sourceOf(node), attributes: [], evaluate: () => value }
}
