import { type Endpoint, PAGE } from '../../contract/endpoints.ts'
import type { HttpAnswer } from '../answer.ts'
import { anything, type Check, decides, inTurn, type Expectation, status } from '../checks.ts'
import { type PageRequest, page, totalOf } from '../pages.ts'
import type { Probing } from '../probing.ts'
import { firstPageOf, readTotal } from '../fixtures.ts'
import { notesOn } from '../user-ids.ts'
import { differs, judge, Unchecked } from '../verdict.ts'
import { type Case, changed, type Row } from './case.ts'

const MAX_PAGES = 100

const MALFORMED_NUMBERS = ['x', '1.5', '', '0x1', '1e2', 'NaN', '%E0%A4%A']

export function pagingCases(row: Row): readonly Case[] {
  if (row.endpoint.paged === undefined) return []
  return [
    ...bounds(row),
    ...['page', 'per_page'].flatMap((name) =>
      MALFORMED_NUMBERS.map((value) => {
        const query = `?${name}=${value}`
        return changed(row, query, () => ({ query }), decides(400, atMost(PAGE.max)))
      }),
    ),
    pageCase(row, 'the first page', () => 1),
    pageCase(row, 'a page between', () => 2),
    pageCase(row, 'the last page', (last) => last),
    pastTheEnd(row),
    allPages(row),
  ]
}

/** The description states only two bounds: 20 per page by default, and at most 100. */
function bounds(row: Row): Case[] {
  const known = (query: string, requested: PageRequest) =>
    changed(row, query, () => ({ query }), {
      stated: inTurn(status(200), page(requested)),
      reference: anything,
    })
  const clamped = (query: string, requested: PageRequest) =>
    changed(row, query, () => ({ query }), {
      ...decides(200, atMost(PAGE.max)),
      reference: inTurn(status(200), page(requested)),
    })
  return [
    known('?page=1', { page: 1, perPage: PAGE.default }),
    known('?per_page=1', { page: 1, perPage: 1 }),
    known('?per_page=100', { page: 1, perPage: PAGE.max }),
    clamped('?per_page=101', { page: 1, perPage: PAGE.max }),
    clamped('?per_page=99999999999999999999999', { page: 1, perPage: PAGE.max }),
    clamped('?per_page=0', { page: 1, perPage: PAGE.default }),
    clamped('?per_page=-5', { page: 1, perPage: PAGE.default }),
    clamped('?page=0&per_page=3', { page: 1, perPage: 3 }),
    clamped('?page=-1&per_page=3', { page: 1, perPage: 3 }),
    clamped('?per_page=7&per_page=8', { page: 1, perPage: 8 }),
  ]
}

function atMost(items: number): Check {
  return ({ json }) =>
    Array.isArray(json) && json.length > items
      ? [{ expected: `at most ${items} items`, actual: `${json.length}` }]
      : []
}

/** With a page size that splits the list into three pages, if it has enough items. */
async function pagesOf(
  probing: Probing,
  row: Row,
): Promise<{ perPage: number; last: number; total: number }> {
  await firstPageOf(probing, row.operation)
  const total = await readTotal(probing, row.operation)
  const perPage = Math.min(PAGE.max, Math.max(1, Math.ceil(total / 3)))
  return { perPage, last: Math.max(1, Math.ceil(total / perPage)), total }
}

function pageCase(row: Row, name: string, numberOf: (last: number) => number): Case {
  return {
    name,
    needsScope: true,
    async try(probing) {
      const { perPage, last } = await pagesOf(probing, row)
      const number = numberOf(last)
      if (last < 2) throw new Unchecked('there is no more than one page')
      if (name === 'a page between' && last < 3) throw new Unchecked('there are only two pages')
      const requested = { page: number, perPage }
      const answer = await probing.send(row.operation, { query: queryOf(requested) })
      return judge({ stated: inTurn(status(200), page(requested)), reference: anything }, answer)
    },
  }
}

function pastTheEnd(row: Row): Case {
  return {
    name: 'past the end',
    needsScope: true,
    async try(probing) {
      const { perPage, last } = await pagesOf(probing, row)
      const requested = { page: last + 5, perPage }
      const answer = await probing.send(row.operation, { query: queryOf(requested) })
      const noItems: Check = (got) => (got.status === 200 ? page(requested)(got) : [])
      const expectation: Expectation = {
        ...decides(200, noItems),
        reference: inTurn(status(200), hasLinks(last)),
      }
      return judge(expectation, answer)
    },
  }
}

/** Past the end of a list with several pages, the answer still has a `link` header. */
function hasLinks(last: number): Check {
  return (answer) =>
    last > 1 && answer.header('link') === undefined
      ? [{ expected: 'the header link past the end', actual: 'none' }]
      : []
}

function allPages(row: Row): Case {
  return {
    name: 'all pages together',
    needsScope: true,
    async try(probing) {
      const { perPage, last, total } = await pagesOf(probing, row)
      if (last > MAX_PAGES) throw new Unchecked('there are too many items to read them all for a check')
      const answers: HttpAnswer[] = []
      for (let number = 1; number <= last; number += 1) {
        const query = queryOf({ page: number, perPage })
        answers.push(await probing.sendUntilAnswered(row.operation, () => ({ query })))
      }
      const lists = answers.map(({ json }) => json)
      if (!lists.every((list) => Array.isArray(list))) return differs('a list on each page', 'something else')
      if (answers.some((answer) => totalOf(answer) !== total)) {
        throw new Unchecked('the list changed while it was read')
      }
      const expectation = { stated: eachOnce(row.endpoint, total), reference: notesOn(row.operation) }
      return judge(expectation, { ...answers[0]!, json: lists.flat() })
    },
  }
}

/** All pages together hold `total` items, and each item once. */
function eachOnce({ paged }: Endpoint, total: number): Check {
  return ({ json }) => {
    const items = json as readonly (Record<string, unknown> | null)[]
    const distinct = new Set(items.map((item) => item?.[paged?.key ?? 'id'])).size
    if (distinct < items.length) {
      const actual = `${items.length - distinct} of ${items.length} come again`
      return [{ expected: 'each item on one page', actual }]
    }
    if (items.length === total) return []
    return [{ expected: `${total} items on all pages together`, actual: `${items.length}` }]
  }
}

function queryOf({ page: number, perPage }: PageRequest): string {
  return `?page=${number}&per_page=${perPage}`
}
