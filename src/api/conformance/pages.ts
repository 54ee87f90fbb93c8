import { PAGE } from '../contract/endpoints.ts'
import type { HttpAnswer } from './answer.ts'
import type { Check, Mismatch } from './checks.ts'
import { type Link, parseLinks } from './links.ts'

export interface PageRequest {
  readonly page: number
  readonly perPage: number
}

export const DEFAULT_PAGE: PageRequest = { page: 1, perPage: PAGE.default }

/** `undefined` if the header is missing or not a number. */
export function totalOf(answer: HttpAnswer): number | undefined {
  const value = answer.header('total')
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined
}

/** Checks the headers and the number of items of a page against the description and the answer's own `total`. */
export function page(requested: PageRequest): Check {
  return (answer) => {
    const total = totalOf(answer)
    const perPage = String(requested.perPage)
    const headers = [
      ...(total === undefined ? [headerMismatch(answer, 'total', 'a whole number')] : []),
      ...(answer.header('per-page') === perPage ? [] : [headerMismatch(answer, 'per-page', perPage)]),
    ]
    if (total === undefined) return headers
    return [
      ...headers,
      ...countMismatches(requested, total, answer),
      ...linkMismatches(requested, total, answer),
    ]
  }
}

function headerMismatch(answer: HttpAnswer, name: string, wanted: string): Mismatch {
  const value = answer.header(name)
  return {
    expected: `${wanted} in the header ${name}`,
    actual: value === undefined ? 'no such header' : `"${value.slice(0, 40)}"`,
  }
}

function countMismatches(requested: PageRequest, total: number, { json }: HttpAnswer): Mismatch[] {
  const wanted = Math.min(Math.max(total - requested.perPage * (requested.page - 1), 0), requested.perPage)
  const got = Array.isArray(json) ? json.length : 0
  if (got === wanted) return []
  return [
    {
      expected: `${wanted} of ${total} items on page ${requested.page} with ${requested.perPage} a page`,
      actual: `${got}`,
    },
  ]
}

/** Checks nothing past the end, because the description does not show the links there. */
function linkMismatches(requested: PageRequest, total: number, answer: HttpAnswer): Mismatch[] {
  const last = Math.ceil(total / requested.perPage)
  if (requested.page > Math.max(last, 1)) return []
  const header = answer.header('link')
  if (header === undefined) {
    return last > 1
      ? [{ expected: `the header link on page ${requested.page} of ${last}`, actual: 'none' }]
      : []
  }
  if (last <= 1) return [{ expected: 'no header link where there is one page', actual: 'one' }]
  const links = parseLinks(header)
  if (links === undefined) {
    return [{ expected: 'a header link as in RFC 5988', actual: `"${header.slice(0, 80)}"` }]
  }
  return relationMismatches(requested, last, links, answer)
}

function relationMismatches(
  { page: number, perPage }: PageRequest,
  last: number,
  links: readonly Link[],
  answer: HttpAnswer,
): Mismatch[] {
  const wanted = [
    ...(number > 1 ? ['first 1', `prev ${number - 1}`] : []),
    ...(number < last ? [`next ${number + 1}`, `last ${last}`] : []),
  ]
  const got = links.map(({ relation, query }) => `${relation} ${query.get('page') ?? '?'}`)
  const mismatches: Mismatch[] = []
  if (wanted.toSorted().join() !== got.toSorted().join()) {
    mismatches.push({ expected: `link to ${wanted.join(', ')} on page ${number}`, actual: got.join(', ') })
  }
  // Behind a reverse proxy the API may have another path prefix.
  const path = answer.path.replace(/\?.*/s, '').replace(/^.*?(?=\/api\/v2\/)/, '')
  if (links.some((link) => !link.path.endsWith(path))) {
    mismatches.push({ expected: 'the path of the request in link', actual: 'another one' })
  }
  if (links.some(({ query }) => query.get('per_page') !== String(perPage))) {
    mismatches.push({
      expected: `per_page=${perPage} in link`,
      actual: links[0]?.query.get('per_page') ?? 'none',
    })
  }
  return mismatches
}
