import { type Endpoint, PAGE } from '../../contract/endpoints.ts'
import type { HttpAnswer } from '../answer.ts'
import { type Check, firstFailing, type Mismatch, refusal, status } from '../checks.ts'
import { readTotal } from '../fixtures.ts'
import { type PageRequest, page, totalOf } from '../pages.ts'
import { SkipCase } from '../result.ts'
import type { Session } from '../session.ts'
import { type Case, type Row, withQuery } from './case.ts'

const MAX_PAGES = 100

export function pagingCases(row: Row): readonly Case[] {
  if (row.endpoint.paged === undefined) return []
  const bound = (query: string, requested: PageRequest) => withQuery(row, query, isPage(requested))
  return [
    bound('?page=1', { page: 1, perPage: PAGE.default }),
    bound('?per_page=1', { page: 1, perPage: 1 }),
    bound('?per_page=100', { page: 1, perPage: PAGE.max }),
    pageCase(row, 'the first page', { numberOf: () => 1 }),
    pageCase(row, 'a page between', { numberOf: () => 2, pages: 3 }),
    pageCase(row, 'the last page', { numberOf: (last) => last }),
    pageCase(row, 'past the end', { numberOf: (last) => last + 5, pages: 1, check: isPageOrRefusal }),
    { name: 'all pages together', needsScope: true, try: (session) => readAllPages(session, row) },
  ]
}

const isPage = (requested: PageRequest): Check => firstFailing(status(200), page(requested))

/** The description does not state that a page past the end exists, but such a page holds no items. */
const isPageOrRefusal =
  (requested: PageRequest): Check =>
  (answer) =>
    (answer.status === 200 ? page(requested) : refusal)(answer)

/** With a page size that splits the list into three pages, if it has enough items. */
async function pagesOf(
  session: Session,
  { operation }: Row,
): Promise<{ perPage: number; last: number; total: number }> {
  const total = await readTotal(session, operation)
  const perPage = Math.min(PAGE.max, Math.max(1, Math.ceil(total / 3)))
  return { perPage, last: Math.max(1, Math.ceil(total / perPage)), total }
}

interface PageCase {
  /** Returns the number of the page to read, from that of the last page. */
  readonly numberOf: (last: number) => number
  /** How many the list must have; default 2. */
  readonly pages?: number
  readonly check?: (requested: PageRequest) => Check
}

function pageCase(row: Row, name: string, { numberOf, pages = 2, check = isPage }: PageCase): Case {
  return {
    name,
    needsScope: true,
    async try(session) {
      const { perPage, last } = await pagesOf(session, row)
      if (last < pages) throw new SkipCase(`the list has fewer than ${pages} pages`)
      const requested = { page: numberOf(last), perPage }
      return check(requested)(await session.send(row.operation, { query: queryOf(requested) }))
    },
  }
}

async function readAllPages(session: Session, row: Row): Promise<readonly Mismatch[]> {
  const { perPage, last, total } = await pagesOf(session, row)
  if (last > MAX_PAGES) throw new SkipCase('there are too many items to read them all for a check')
  const answers: HttpAnswer[] = []
  for (let number = 1; number <= last; number += 1) {
    answers.push(await session.send(row.operation, { query: queryOf({ page: number, perPage }) }))
  }
  const lists = answers.map(({ json }) => json)
  if (!lists.every((list) => Array.isArray(list))) {
    return [{ expected: 'a list on each page', actual: 'something else' }]
  }
  if (answers.some((answer) => totalOf(answer) !== total)) {
    throw new SkipCase('the list changed while it was read')
  }
  return eachOnce(row.endpoint, total, lists.flat())
}

/** All pages together hold `total` items, and each item once. */
function eachOnce(
  { paged }: Endpoint,
  total: number,
  items: readonly (Record<string, unknown> | null)[],
): Mismatch[] {
  const distinct = new Set(items.map((item) => item?.[paged?.key ?? 'id'])).size
  if (distinct < items.length) {
    const actual = `${items.length - distinct} of ${items.length} come again`
    return [{ expected: 'each item on one page', actual }]
  }
  if (items.length === total) return []
  return [{ expected: `${total} items on all pages together`, actual: `${items.length}` }]
}

function queryOf({ page: number, perPage }: PageRequest): string {
  return `?page=${number}&per_page=${perPage}`
}
