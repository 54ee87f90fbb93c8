import type { Form } from '../contract/endpoints.ts'
import { wholeNumberProblem } from './value-problem.ts'

type Value = string | number | boolean | readonly string[] | undefined
export type FormFields = Readonly<Record<string, Value>>

/**
 * `application/x-www-form-urlencoded` in the Rack convention. In a list of entries
 * (`users[][external_id]=…&users[][email]=…`) a parser starts a new entry when a key repeats, so every entry must begin
 * with the same key, and the fields are in the order of the contract, not of the object.
 *
 * Returns a problem for a form that would be parsed wrongly: one of several entries lacks the leading field (its other
 * fields would join the entry before it), an entry has no fields, a number is not whole, or a text is not well-formed
 * Unicode.
 */
export function encodeForm(
  form: Form,
  content: FormFields | readonly FormFields[],
): { readonly body: string } | { readonly problem: string } {
  const entries: readonly FormFields[] = Array.isArray(content) ? content : [content as FormFields]
  const names = Object.keys(form.fields.shape)
  const problem = form.list === undefined ? undefined : listProblem(form.list, names[0], entries)
  if (problem !== undefined) return { problem }
  const body = new URLSearchParams()
  for (const entry of entries) {
    for (const name of names) {
      const key = form.list === undefined ? name : `${form.list}[][${name}]`
      const value = entry[name]
      const broken = typeof value === 'number' ? wholeNumberProblem(name, value) : undefined
      if (broken !== undefined) return { problem: broken }
      for (const [suffix, text] of texts(value)) {
        if (!text.isWellFormed()) return { problem: `${name} is not well-formed Unicode` }
        body.append(key + suffix, text)
      }
    }
  }
  return { body: body.toString() }
}

/** An empty list is written as one empty item: a form has no other way to express it. */
function texts(value: Value): readonly (readonly [suffix: string, text: string])[] {
  if (value === undefined) return []
  if (typeof value !== 'object') return [['', String(value)]]
  return value.length === 0 ? [['[]', '']] : value.map((item) => ['[]', item])
}

function listProblem(
  list: string,
  leading: string | undefined,
  entries: readonly FormFields[],
): string | undefined {
  if (entries.length === 0) return `${list} has no entries`
  for (const entry of entries) {
    if (Object.values(entry).every((value) => value === undefined)) return `an entry of ${list} has no fields`
    if (entries.length > 1 && leading !== undefined && entry[leading] === undefined) {
      return `an entry of ${list} without ${leading} can only be sent alone`
    }
  }
  return undefined
}
