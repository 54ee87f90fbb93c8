import { compileAttribute, invalid, type NameCheck } from './attribute.ts'
import { compileExpression, isExpression } from './expression.ts'
import { stepsOf } from './context.ts'
import { attributeExpr, constant, type Expr, expr } from './expr.ts'
import { firstOf } from './lazy.ts'
import { callStep } from './trace.ts'

/**
 * The source of a value: an attribute (`mail`), a template (`{givenName} {sn}`), an expression (`= lower(first(mail,
 * uid + "@example.org"))`), the first of several of these that has a value, or any of them with a default. In CSV files
 * an attribute is a column.
 */
export type ValueExpression =
  | string
  | readonly string[]
  | { readonly value: string | readonly string[]; readonly default: string }

/** Throws `config-invalid` with a sentence that begins with the key. Its values are texts or `null`. */
export function compileValue(expression: ValueExpression, key: string, check: NameCheck): Expr {
  if (typeof expression === 'string') return compileAlternative(expression, key, check)
  if (!('default' in expression)) return compileFirstOf(expression, key, check)
  const fallback = expression.default.trim()
  if (fallback === '') throw invalid(`${key}.default`, 'a default cannot be blank')
  const value = compileValue(expression.value, `${key}.value`, check)
  return firstOf(value.source, [value, constant('text', 'the default', fallback)])
}

function compileFirstOf(expressions: readonly string[], key: string, check: NameCheck): Expr {
  if (expressions.length === 0) throw invalid(key, 'the list of attributes is empty')
  const alternatives = expressions.map((each, index) => compileAlternative(each, `${key}[${index}]`, check))
  return firstOf(expressions.join(', '), alternatives)
}

function compileAlternative(text: string, key: string, check: NameCheck): Expr {
  if (isExpression(text)) return compileExpression(text, key, check)
  if (/[{}]/.test(text)) return compileTemplate(text, key, check)
  const attribute = compileAttribute(text, key, check)
  return attributeExpr(attribute, attribute)
}

/** A template has no value when one of its attributes has none. */
function compileTemplate(text: string, key: string, check: NameCheck): Expr {
  const parts = [...text.matchAll(/\{([^}]*)\}|[{}]|[^{}]+/g)].map(([piece, name]) => {
    if (piece === '{') throw invalid(key, `unclosed "{" in "${text}"`)
    if (piece === '}') throw invalid(key, `"}" without "{" in "${text}"`)
    if (name === undefined) return constant('text', piece, piece)
    const attribute = compileAttribute(name, key, check)
    return attributeExpr(attribute, attribute)
  })
  return expr('text', text, parts, (context) => {
    let whole: string | null = ''
    for (const { evaluate } of parts) {
      const value = evaluate(context)
      whole = value === null || whole === null ? null : whole + (value as string)
    }
    const value = whole?.trim() ?? null
    stepsOf(context)?.push(callStep(text, value))
    return value
  })
}
