import { PAGE } from '../contract/endpoints.ts'
import type { HttpAnswer } from './answer.ts'
import type { Check, Fault } from './checks.ts'
import { type Link, parseLinks } from './links.ts'

/** The page that was asked for. */
export interface AskedPage {
  readonly page: number
  readonly perPage: number
}

export const DEFAULT_PAGE: AskedPage = { page: 1, perPage: PAGE.default }

/** The number in the header `total`, where it is one. */
export function totalOf(answer: HttpAnswer): number | undefined {
  const value = answer.header('total')
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined
}

/** Headers and number of items of a page are what the description states, given the total that the answer itself names. */
export function page(asked: AskedPage): Check {
  return (answer) => {
    const total = totalOf(answer)
    const headers = [
      ...headerFault('total', answer.header('total'), total === undefined ? 'a whole number' : undefined),
      ...headerFault(
        'per-page',
        answer.header('per-page'),
        answer.header('per-page') === String(asked.perPage) ? undefined : String(asked.perPage),
      ),
    ]
    if (total === undefined) return headers
    return [...headers, ...countFaults(asked, total, answer), ...linkFaults(asked, total, answer)]
  }
}

function headerFault(name: string, value: string | undefined, wanted: string | undefined): Fault[] {
  if (wanted === undefined) return []
  return [
    {
      expected: `${wanted} in the header ${name}`,
      actual: value === undefined ? 'no such header' : `"${value.slice(0, 40)}"`,
    },
  ]
}

function countFaults(asked: AskedPage, total: number, { json }: HttpAnswer): Fault[] {
  const wanted = Math.min(Math.max(total - asked.perPage * (asked.page - 1), 0), asked.perPage)
  const got = Array.isArray(json) ? json.length : 0
  if (got === wanted) return []
  return [
    {
      expected: `${wanted} of ${total} items on page ${asked.page} with ${asked.perPage} a page`,
      actual: `${got}`,
    },
  ]
}

/** Past the end the description shows no relations. */
function linkFaults(asked: AskedPage, total: number, answer: HttpAnswer): Fault[] {
  const last = Math.ceil(total / asked.perPage)
  if (asked.page > Math.max(last, 1)) return []
  const header = answer.header('link')
  if (header === undefined) {
    return last > 1 ? [{ expected: `the header link on page ${asked.page} of ${last}`, actual: 'none' }] : []
  }
  if (last <= 1) return [{ expected: 'no header link where there is one page', actual: 'one' }]
  const links = parseLinks(header)
  if (links === undefined) {
    return [{ expected: 'a header link as in RFC 5988', actual: `"${header.slice(0, 80)}"` }]
  }
  return relationFaults(asked, last, links, answer)
}

function relationFaults(
  { page: number, perPage }: AskedPage,
  last: number,
  links: readonly Link[],
  answer: HttpAnswer,
): Fault[] {
  const wanted = [
    ...(number > 1 ? ['first 1', `prev ${number - 1}`] : []),
    ...(number < last ? [`next ${number + 1}`, `last ${last}`] : []),
  ]
  const got = links.map(({ relation, query }) => `${relation} ${query.get('page') ?? '?'}`)
  const faults: Fault[] = []
  if (wanted.toSorted().join() !== got.toSorted().join()) {
    faults.push({ expected: `link to ${wanted.join(', ')} on page ${number}`, actual: got.join(', ') })
  }
  // A reverse proxy may know the API by another address.
  const path = answer.path.replace(/\?.*/s, '').replace(/^.*?(?=\/api\/v2\/)/, '')
  if (links.some((link) => !link.path.endsWith(path))) {
    faults.push({ expected: 'the path of the request in link', actual: 'another one' })
  }
  if (links.some(({ query }) => query.get('per_page') !== String(perPage))) {
    faults.push({
      expected: `per_page=${perPage} in link`,
      actual: links[0]?.query.get('per_page') ?? 'none',
    })
  }
  return faults
}
