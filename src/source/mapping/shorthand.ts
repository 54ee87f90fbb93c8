import { compileAttribute, invalid, type NameCheck } from './attribute.ts'
import { compileExpression, isExpression } from './expression.ts'
import { type Formula, noteCall, noteChoice, readFirst } from './formula.ts'

/**
 * The source of a value: an attribute (`mail`), a template (`{givenName} {sn}`), an expression (`= lower(first(mail,
 * uid + "@example.org"))`), the first of several of these that has a value, or any of them with a default. In CSV files
 * an attribute is a column.
 */
export type ValueExpression =
  | string
  | readonly string[]
  | { readonly value: string | readonly string[]; readonly default: string }

/** Throws `config-invalid` with a sentence that begins with the key. The formula's values are texts or `null`. */
export function compileValue(expression: ValueExpression, key: string, check: NameCheck): Formula {
  if (typeof expression === 'string') return compileAlternative(expression, key, check)
  if (!('default' in expression)) return compileFirstOf(expression, key, check)
  const fallback = expression.default.trim()
  if (fallback === '') throw invalid(`${key}.default`, 'a default cannot be blank')
  const value = compileValue(expression.value, `${key}.value`, check)
  const constant = { source: 'the default', attributes: [], evaluate: () => fallback }
  return firstOf(value.source, [value, constant])
}

function compileFirstOf(expressions: readonly string[], key: string, check: NameCheck): Formula {
  if (expressions.length === 0) throw invalid(key, 'the list of attributes is empty')
  const alternatives = expressions.map((each, index) => compileAlternative(each, `${key}[${index}]`, check))
  return firstOf(expressions.join(', '), alternatives)
}

function firstOf(source: string, alternatives: readonly Formula[]): Formula {
  return {
    source,
    attributes: alternatives.flatMap((each) => each.attributes),
    evaluate(context) {
      const skipped: string[] = []
      for (const alternative of alternatives) {
        const value = alternative.evaluate(context)
        if (typeof value === 'string') {
          noteChoice(context, alternative.source, value, skipped)
          return value
        }
        skipped.push(alternative.source)
      }
      noteChoice(context, undefined, null, skipped)
      return null
    },
  }
}

function compileAlternative(text: string, key: string, check: NameCheck): Formula {
  if (isExpression(text)) return compileExpression(text, key, check)
  if (/[{}]/.test(text)) return compileTemplate(text, key, check)
  const attribute = compileAttribute(text, key, check)
  return { source: attribute, attributes: [attribute], evaluate: (context) => readFirst(context, attribute) }
}

/** A template has no value when one of its attributes has none. */
function compileTemplate(text: string, key: string, check: NameCheck): Formula {
  const parts = templateParts(text, key, check)
  return {
    source: text,
    attributes: parts.filter((part) => 'attribute' in part).map((part) => part.attribute),
    evaluate(context) {
      let whole: string | null = ''
      for (const part of parts) {
        const value = 'attribute' in part ? readFirst(context, part.attribute) : part.literal
        whole = value === null || whole === null ? null : whole + value
      }
      const value = whole?.trim() ?? null
      noteCall(context, text, value)
      return value
    },
  }
}

type TemplatePart = { readonly literal: string } | { readonly attribute: string }

function templateParts(text: string, key: string, check: NameCheck): TemplatePart[] {
  const parts: TemplatePart[] = []
  let at = 0
  while (at < text.length) {
    const open = text.indexOf('{', at)
    const literal = text.slice(at, open < 0 ? text.length : open)
    if (literal.includes('}')) throw invalid(key, `"}" without "{" in "${text}"`)
    if (literal !== '') parts.push({ literal })
    if (open < 0) break
    const close = text.indexOf('}', open)
    if (close < 0) throw invalid(key, `unclosed "{" in "${text}"`)
    parts.push({ attribute: compileAttribute(text.slice(open + 1, close), key, check) })
    at = close + 1
  }
  return parts
}
