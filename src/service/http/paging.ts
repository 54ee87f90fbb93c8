import { PAGE } from '../../api/contract/endpoints.ts'
import { fieldProblem } from './problem.ts'

export interface PageRequest {
  /** From 1. */
  readonly page: number
  /** 1 to 100. */
  readonly perPage: number
}

/** `total` is of the whole list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly total: number
  /** Where it is not the requested one. */
  readonly perPage?: number
}

/** No list is that long. */
const MAX_OFFSET = 2_000_000_000

/**
 * `page` below 1 is 1, `per_page` above 100 is 100 and below 1 is the default. The last value of a repeated parameter
 * counts. Throws a `Problem` (malformed) where one of them is not a whole number.
 */
export function readPageRequest(query: string): PageRequest {
  const params = new URLSearchParams(query)
  const page = wholeNumber(params, 'page', 1)
  const perPage = wholeNumber(params, 'per_page', PAGE.default)
  return { page: Math.max(1, page), perPage: perPage < 1 ? PAGE.default : Math.min(perPage, PAGE.max) }
}

function wholeNumber(params: URLSearchParams, name: string, fallback: number): number {
  const value = params.getAll(name).at(-1)
  if (value === undefined) return fallback
  if (/^[+-]?\d+$/.test(value)) return Math.min(Number(value), MAX_OFFSET)
  throw fieldProblem('malformed', [{ field: name, message: 'is not a whole number' }])
}

export function offsetOf({ page, perPage }: PageRequest): number {
  return Math.min((page - 1) * perPage, MAX_OFFSET)
}

/**
 * The headers `total`, `per-page` and, for more than one page, `link`. `url` is the request's absolute URL; the links
 * keep its other query parameters. Past the end, `prev` is the last page.
 */
export function pageHeaders(url: string, request: PageRequest, total: number): Record<string, string> {
  const headers = { total: String(total), 'per-page': String(request.perPage) }
  const last = Math.ceil(total / request.perPage)
  if (last <= 1) return headers
  const { page } = request
  const pages: [string, number][] = []
  if (page > 1) pages.push(['first', 1], ['prev', Math.min(page - 1, last)])
  if (page < last) pages.push(['next', page + 1])
  if (page !== last) pages.push(['last', last])
  const links = pages.map(([relation, number]) => {
    return `<${pageUrl(url, number, request.perPage)}>; rel="${relation}"`
  })
  return { ...headers, link: links.join(', ') }
}

function pageUrl(url: string, page: number, perPage: number): string {
  const question = url.indexOf('?')
  const path = question < 0 ? url : url.slice(0, question)
  const query = question < 0 ? '' : url.slice(question + 1)
  const kept = query.split('&').filter((pair) => pair !== '' && !/^(page|per_page)(=|$)/.test(pair))
  return headerSafe(`${path}?${[...kept, `page=${page}`, `per_page=${perPage}`].join('&')}`)
}

/** An unescaped query must not break out of the angle brackets of the header. */
export function headerSafe(url: string): string {
  return url.replace(/[^\x21-\x7e]|[<>"]/gu, (character) => encodeURIComponent(character))
}
