import { type ASTNode, Environment } from '@marcbachmann/cel-js'
import { type Hide, hideWords, maskAttribute } from './masked-text.ts'

/** Longer expressions are refused anyway. */
const LONGEST = 4_000

const grammar = new Environment({ limits: { maxAstNodes: 500, maxDepth: 40, maxCallArguments: 32 } })

/** The start of an expression among the values of a map. */
function isExpression(text: string): boolean {
  return text.trimStart().startsWith('=')
}

/** Keeps only names of attributes and functions, operators and placeholders. */
export function maskMapping(text: string, hide: Hide): string {
  if (isExpression(text)) return maskExpression(text, hide)
  return /[{}]/.test(text) ? maskTemplate(text, hide) : maskAttribute(text, hide)
}

function maskTemplate(text: string, hide: Hide): string {
  return text
    .split(/(\{[^{}]*\})/)
    .map((part, place) =>
      place % 2 === 1 ? `{${maskAttribute(part.slice(1, -1), hide)}}` : hideWords(part, hide),
    )
    .join('')
}

/** A text that does not parse is hidden as a whole, because the ends of its literals are unknown. */
function maskExpression(text: string, hide: Hide): string {
  const from = text.indexOf('=') + 1
  const source = ' '.repeat(from) + text.slice(from)
  const literals = source.length > LONGEST ? undefined : literalsOf(source)
  if (literals === undefined) return `= ${hide(text)}`
  let masked = '='
  let end = from
  for (const literal of literals) {
    const { range } = literal.node
    const written = source.slice(range.start, range.end)
    masked += withoutComments(source.slice(end, range.start)) + maskLiteral(literal, written, hide)
    end = range.end
  }
  return masked + withoutComments(source.slice(end))
}

interface Literal {
  readonly node: ASTNode
  /** The name of an attribute, as in `attr("telephone-number")`. */
  readonly isName: boolean
}

/** In order; `undefined` where the text is no expression. */
function literalsOf(source: string): readonly Literal[] | undefined {
  const literals: Literal[] = []
  const visit = (value: unknown, isName: boolean): void => {
    if (Array.isArray(value)) for (const each of value) visit(each, isName)
    if (typeof value !== 'object' || value === null || !('op' in value)) return
    const node = value as ASTNode
    if (node.op === 'value') literals.push({ node, isName })
    else visit(node.args, node.op === 'call' && node.args[0] === 'attr')
  }
  try {
    visit(grammar.parse(source).ast, false)
  } catch {
    return undefined
  }
  return literals.toSorted((one, other) => one.node.range.start - other.node.range.start)
}

/** Marks such as "@", and short numbers, are no personal data. */
function maskLiteral({ node, isName }: Literal, written: string, hide: Hide): string {
  const value: unknown = node.args
  if (typeof value !== 'string')
    return /^(?:null|true|false|\d{1,3})$/.test(written) ? written : hide(written)
  if (isName) return JSON.stringify(maskAttribute(value, hide))
  return JSON.stringify(/^[ -/:-@[-`{-~]{0,3}$/.test(value) ? value : hide(value))
}

/** Between literals, two slashes begin a comment. */
function withoutComments(text: string): string {
  return text.replace(/\/\/[^\n]*/g, '// <masked>')
}
