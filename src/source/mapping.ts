import { DirsyncdError } from '../errors.ts'

/**
 * Where a value comes from: an attribute (`mail`), a template (`{givenName} {sn}`), the first of several of these that
 * has a value, or any of them with a default. In CSV files an attribute is a column.
 */
export type ValueExpression =
  | string
  | readonly string[]
  | { readonly value: string | readonly string[]; readonly default: string }

/** `external_id` is always exactly one attribute: what identifies an entry is never put together or chosen. */
export interface UserMap {
  readonly external_id: string
  readonly email?: ValueExpression
  readonly name?: ValueExpression
  readonly employee_id?: ValueExpression
}

export interface GroupMap {
  readonly external_id: string
  readonly name: ValueExpression
  /** One attribute that lists the members. */
  readonly members?: string
}

/** All values that an entry has for an attribute, in any order; none where it has none. */
export type Lookup = (attribute: string) => readonly string[]

/** A compiled expression: the value for an entry, trimmed, or `undefined` where there is none or only blanks. */
interface ValueMapping {
  readonly attributes: readonly string[]
  readonly valueOf: (lookup: Lookup) => string | undefined
}

export interface UserMapping {
  readonly id: string
  readonly email: ValueMapping
  readonly name: ValueMapping
  readonly employeeId: ValueMapping
  /** Every attribute that the mapping needs, without duplicates. */
  readonly attributes: readonly string[]
}

export interface GroupMapping {
  readonly id: string
  readonly name: ValueMapping
  readonly members: string | undefined
  readonly attributes: readonly string[]
}

/** Says why an attribute's name cannot be one in this kind of source, or `undefined` when it can. */
export type NameCheck = (attribute: string) => string | undefined

const NOTHING: ValueMapping = { attributes: [], valueOf: () => undefined }

/** Throws `config-invalid` with a sentence that begins with the key, such as `users.map.name: unclosed "{"`. */
export function compileUserMap(map: UserMap, key: string, check: NameCheck): UserMapping {
  const id = compileAttribute(map.external_id, `${key}.external_id`, check)
  const email = compileOptional(map.email, `${key}.email`, check)
  const name = compileOptional(map.name, `${key}.name`, check)
  const employeeId = compileOptional(map.employee_id, `${key}.employee_id`, check)
  const attributes = distinct([id], email.attributes, name.attributes, employeeId.attributes)
  return { id, email, name, employeeId, attributes }
}

/** Throws like `compileUserMap`. */
export function compileGroupMap(map: GroupMap, key: string, check: NameCheck): GroupMapping {
  const id = compileAttribute(map.external_id, `${key}.external_id`, check)
  const name = compileValue(map.name, `${key}.name`, check)
  const members =
    map.members === undefined ? undefined : compileAttribute(map.members, `${key}.members`, check)
  const attributes = distinct([id], name.attributes, members === undefined ? [] : [members])
  return { id, name, members, attributes }
}

/** A single attribute's name, without surrounding blanks. Throws like `compileUserMap`. */
export function compileAttribute(attribute: string, key: string, check: NameCheck): string {
  const name = attribute.trim()
  if (name === '') throw invalid(key, 'the name of an attribute is missing')
  if (/[{}]/.test(name))
    throw invalid(key, `"${name}" is a template, and only one plain attribute can be used here`)
  const problem = check(name)
  if (problem !== undefined) throw invalid(key, problem)
  return name
}

function compileOptional(
  expression: ValueExpression | undefined,
  key: string,
  check: NameCheck,
): ValueMapping {
  return expression === undefined ? NOTHING : compileValue(expression, key, check)
}

function compileValue(expression: ValueExpression, key: string, check: NameCheck): ValueMapping {
  if (typeof expression === 'string') return compileAlternative(expression, key, check)
  if (!('default' in expression)) return compileFirstOf(expression, key, check)
  const fallback = expression.default.trim()
  if (fallback === '') throw invalid(`${key}.default`, 'a default cannot be blank')
  const value = compileValue(expression.value, `${key}.value`, check)
  return { attributes: value.attributes, valueOf: (lookup) => value.valueOf(lookup) ?? fallback }
}

function compileFirstOf(expressions: readonly string[], key: string, check: NameCheck): ValueMapping {
  if (expressions.length === 0) throw invalid(key, 'the list of attributes is empty')
  const alternatives = expressions.map((each, index) => compileAlternative(each, `${key}[${index}]`, check))
  return {
    attributes: distinct(...alternatives.map((each) => each.attributes)),
    valueOf: (lookup) => {
      for (const alternative of alternatives) {
        const value = alternative.valueOf(lookup)
        if (value !== undefined) return value
      }
      return undefined
    },
  }
}

function compileAlternative(text: string, key: string, check: NameCheck): ValueMapping {
  if (/[{}]/.test(text)) return compileTemplate(text, key, check)
  const attribute = compileAttribute(text, key, check)
  return { attributes: [attribute], valueOf: (lookup) => firstValue(lookup(attribute)) }
}

function compileTemplate(text: string, key: string, check: NameCheck): ValueMapping {
  const parts = templateParts(text, key, check)
  return {
    attributes: distinct(parts.filter((part) => 'attribute' in part).map((part) => part.attribute)),
    valueOf: (lookup) => {
      let whole = ''
      for (const part of parts) {
        const value = 'attribute' in part ? firstValue(lookup(part.attribute)) : part.literal
        if (value === undefined) return undefined
        whole += value
      }
      return whole.trim()
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

/**
 * Servers return several values in any order, so the first one by code unit is taken: the same entry has the same
 * value in every run.
 */
function firstValue(values: readonly string[]): string | undefined {
  let first: string | undefined
  for (const value of values) {
    const trimmed = value.trim()
    if (trimmed !== '' && (first === undefined || trimmed < first)) first = trimmed
  }
  return first
}

function distinct(...lists: (readonly string[])[]): string[] {
  return [...new Set(lists.flat())]
}

function invalid(key: string, problem: string): DirsyncdError {
  return new DirsyncdError('config-invalid', `${key}: ${problem}`)
}
