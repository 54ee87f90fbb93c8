import { html as escaping } from 'hono/html'
import { printable } from '../../base/printable.ts'

/** A part of a page, whose texts are escaped. */
export type Html = Exclude<ReturnType<typeof escaping>, Promise<unknown>>

type Value = string | number | boolean | null | undefined | Html | readonly Value[]

/**
 * HTML in which every text is shown as a text: escaped, on one line, and without characters that change the direction
 * or that nobody sees. Truth values, `null` and `undefined` are left out.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  // Hono answers with a promise only where it is given one.
  return escaping(strings, ...values.map(shown)) as Html
}

function shown(value: Value): unknown {
  if (Array.isArray(value)) return value.map(shown)
  // Escaped HTML is an object of the class String.
  return typeof value === 'string' ? printable(value) : value
}

/** A path of this program; each value is encoded as it is. */
export function path(strings: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return strings.reduce((all, part, at) => `${all}${encoded(values[at - 1]!)}${part}`)
}

function encoded(value: string | number): string {
  return encodeURIComponent(String(value).toWellFormed())
}

/** A path with a query of the values that are set. */
export function withQuery(to: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name}=${encoded(value)}`],
  )
  return pairs.length === 0 ? to : `${to}?${pairs.join('&')}`
}
