import { z } from 'zod'
import type { Endpoint } from '../../api/contract/endpoints.ts'

/** One of our tokens (`access-token.ts`), each character as it is or percent-encoded, once or more often. */
const TOKEN = new RegExp(
  `${encoded('a', '61')}${encoded('m', '6d')}${encoded('_', '5f')}` +
    `${encoded(String.raw`[\w-]`, String.raw`(?:2d|3\d|[46][1-9a-f]|[57][\da]|5f)`)}{43}`,
  'gi',
)

function encoded(character: string, code: string): string {
  return `(?:${character}|%(?:25)*${code})`
}

/** Removes tokens wherever a client put them by mistake. */
export function maskTokens(text: string): string {
  return text.replace(TOKEN, 'am_…')
}

/** Shows only the values of known query parameters, because any other may be a secret that a client sent by mistake. */
export function loggableUrl(url: string, known: ReadonlySet<string>): string {
  const question = url.indexOf('?')
  if (question < 0) return maskTokens(url)
  const pairs = url.slice(question + 1).split('&')
  return maskTokens(`${url.slice(0, question)}?${pairs.map((pair) => loggablePair(pair, known)).join('&')}`)
}

function loggablePair(pair: string, known: ReadonlySet<string>): string {
  const equals = pair.indexOf('=')
  if (equals < 0) return pair === '' ? '' : '…'
  const name = pair.slice(0, equals)
  return known.has(decoded(name)) ? pair : `${name}=…`
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return ''
  }
}

export function queryNames({ paged, query }: Endpoint): ReadonlySet<string> {
  const own = Object.entries(query?.shape ?? {}).flatMap(([name, field]) => {
    const schema = field instanceof z.ZodOptional ? field.unwrap() : field
    return schema instanceof z.ZodObject ? Object.keys(schema.shape).map((key) => `${name}[${key}]`) : [name]
  })
  return new Set([...(paged ? ['page', 'per_page'] : []), ...own])
}
