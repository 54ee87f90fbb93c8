import { html as escaping } from 'hono/html'
import { printable } from '../../base/printable.ts'

export type Html = Exclude<ReturnType<typeof escaping>, Promise<unknown>>

type Value = string | number | boolean | null | undefined | Html | readonly Value[]

/**
 * Escapes every value, puts it on one line and removes invisible characters and those that change the direction.
 * Booleans, `null` and `undefined` are left out.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  // Hono returns a promise only for promises.
  return escaping(strings, ...values.map(shown)) as Html
}

function shown(value: Value): unknown {
  if (Array.isArray(value)) return value.map(shown)
  // Escaped HTML is an object of the class String.
  return typeof value === 'string' ? printable(value) : value
}

export function path(strings: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return strings.reduce((all, part, at) => `${all}${encoded(values[at - 1]!)}${part}`)
}

function encoded(value: string | number): string {
  return encodeURIComponent(String(value).toWellFormed())
}

/** Without undefined values. */
export function withQuery(to: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name}=${encoded(value)}`],
  )
  return pairs.length === 0 ? to : `${to}?${pairs.join('&')}`
}
