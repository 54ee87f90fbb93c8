/** A text without a value is `null`; the other types always have a value. */
export type Value = string | null | boolean | number | readonly string[]

export function isText(value: Value): value is string {
  return typeof value === 'string'
}

export function present(text: string): string | null {
  return text.trim() === '' ? null : text
}

/** For operators: `no value`, `"Anna"`, `"a", "b" and 7 more`. */
export function show(value: Value): string {
  if (value === null) return 'no value'
  if (typeof value === 'string') return quote(value)
  if (typeof value !== 'object') return String(value)
  if (value.length === 0) return 'no values'
  const shown = value.slice(0, 5).map(quote).join(', ')
  return value.length > 5 ? `${shown} and ${value.length - 5} more` : shown
}

function quote(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}
