import { type ASTNode, Environment, ParseError, serialize } from '@marcbachmann/cel-js'
import { invalid, type NameCheck } from './attribute.ts'
import { compileNode } from './compile.ts'
import { type Expr, expr, type Type, TYPE_NAMES } from './expr.ts'
import { parseProblem } from './parse-problem.ts'
import type { Site } from './site.ts'
import { isText } from './value.ts'

/** In characters. */
const MAX_SOURCE = 4_000

/**
 * Only the library's parser is used. Its evaluator has no missing values (`"a" + null` is an error, or even a text),
 * and its functions cannot be removed; one of them runs regular expressions that may never end.
 */
const grammar = new Environment({ limits: { maxAstNodes: 500, maxDepth: 40, maxCallArguments: 32 } })

/** @param at a position in the whole text with its `=`, from 0 */
type Fail = (at: number, problem: string) => never

export function isExpression(text: string): boolean {
  return text.trimStart().startsWith('=')
}

/** Throws `config-invalid` with the key, the column (in the whole text with its `=`, from 1) and the problem. */
export function compileExpression(text: string, key: string, check: NameCheck): Expr {
  if (text.length > MAX_SOURCE) throw invalid(key, `an expression may have at most ${MAX_SOURCE} characters`)
  const fail = (at: number, problem: string): never => {
    throw invalid(key, `${positionOf(text, at)}: ${problem}`)
  }
  const node = parse(text, fail)
  const site = siteOf(node, [], check, fail)
  const root = compileNode(site, node)
  if (root.type !== 'text') return site.fail(resultProblem(root.type))
  return expr('text', text.trim(), [root], (context) => {
    const value = root.evaluate(context)
    return isText(value) ? value.trim() || null : null
  })
}

function parse(text: string, fail: Fail): ASTNode {
  const from = text.indexOf('=') + 1
  const blank = ' '.repeat(from)
  // A blank in place of the "=" keeps the library's positions equal to those in the configuration.
  const source = blank + text.slice(from)
  if (source.trim() === '') return fail(from, 'there is nothing after the "="')
  try {
    return grammar.parse(source).ast
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    return fail(error.range?.start ?? from, parseProblem(error))
  }
}

function resultProblem(type: Type): string {
  const remedy = type === 'list' ? '; use join(list, ", ") or first(list)' : ''
  return `the result must be a text, not ${TYPE_NAMES[type]}${remedy}`
}

function positionOf(text: string, at: number): string {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const column = at - before.lastIndexOf('\n')
  return `${line > 1 ? `line ${line}, ` : ''}column ${column}`
}

function siteOf(node: ASTNode, items: readonly string[], check: NameCheck, failAt: Fail): Site {
  const fail = (problem: string, { range } = node) => failAt(range.start, problem)
  return {
    source: serialize(node),
    items,
    fail,
    compile: (below, within = items) => compileNode(siteOf(below, within, check, failAt), below),
    attribute(name, at) {
      const trimmed = name.trim()
      const problem = trimmed === '' ? 'the name of an attribute is missing' : check(trimmed)
      return problem === undefined ? trimmed : fail(problem, at)
    },
  }
}
