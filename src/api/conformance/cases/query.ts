import { type Check, type Mismatch, reads } from '../checks.ts'
import { first, type Item, itemsOf, readTotal } from '../fixtures.ts'
import { totalOf } from '../pages.ts'
import type { Session } from '../session.ts'
import type { Case, Row } from './case.ts'

/** Cases for the query parameters of the description, without those of paging. */
export function queryCases(row: Row): readonly Case[] {
  if (row.operation === 'listSubscriptions') return allOnOnePage(row)
  if (row.operation === 'listEvents') return filters(row)
  return row.operation === 'listOrganizationGroups' ? partOfName(row) : []
}

function searchCase(
  row: Row,
  name: string,
  prepare: (session: Session) => Promise<{ readonly query: string; readonly check: Check }>,
): Case {
  return {
    name,
    needsScope: true,
    async try(session) {
      const { query, check } = await prepare(session)
      return reads(row.endpoint, check)(await session.send(row.operation, { query }))
    },
  }
}

/** Every item `matches`, and the item with the id `known` is listed, unless the list has further pages. */
function each(what: string, matches: (item: Item) => boolean, known?: unknown): Check {
  return (answer) => {
    const items = itemsOf(answer)
    const wrong = items.filter((item) => !matches(item)).length
    const mismatches: Mismatch[] = []
    if (wrong > 0) {
      mismatches.push({ expected: `only items ${what}`, actual: `${wrong} of ${items.length} others` })
    }
    if (known !== undefined && items.length < (totalOf(answer) ?? 0)) return mismatches
    if (known !== undefined && !items.some((item) => item['id'] === known)) {
      mismatches.push({ expected: `the known item ${what}`, actual: 'not listed' })
    }
    return mismatches
  }
}

function allOnOnePage(row: Row): Case[] {
  return ['?all=true', '?all=true&page=2&per_page=1'].map((query) =>
    searchCase(row, query, async (session) => {
      const total = await readTotal(session, row.operation)
      const check: Check = (answer) => {
        const { length } = itemsOf(answer)
        if (length === total) return []
        return [{ expected: `all ${total} subscriptions on one page`, actual: `${length}` }]
      }
      return { query, check }
    }),
  )
}

function partOfName(row: Row): Case[] {
  return [
    searchCase(row, 'q is a part of a name', async (session) => {
      const { id, name } = await first(session, row.operation, 'name')
      const part = String(name).length > 2 ? String(name).slice(1, -1) : String(name)
      const matches = (item: Item) => String(item['name']).toLowerCase().includes(part.toLowerCase())
      const query = `?per_page=100&q=${encodeURIComponent(part)}`
      return { query, check: each('whose name holds q', matches, id) }
    }),
    searchCase(row, 'q that no name holds', async () => ({
      query: '?q=dirsyncd-check-nothing',
      check: each('whose name holds q', () => false),
    })),
  ]
}

/** The description states what each filter means, but not the format of times and addresses. */
function filters(row: Row): Case[] {
  const known = (session: Session) => first(session, row.operation, 'id')
  return [
    searchCase(row, 'filters[type]', async (session) => {
      const { id, type } = await known(session)
      const check = each('of this type', (event) => event['type'] === type, id)
      return { query: filter('type', type), check }
    }),
    searchCase(row, 'filters[contact_id]', async (session) => {
      const { id, actor } = await known(session)
      const contact = (actor as Item | undefined)?.['id']
      const check = each('of this actor', (event) => (event['actor'] as Item)['id'] === contact, id)
      return { query: filter('contact_id', contact), check }
    }),
    searchCase(row, 'filters[type] that no event has', async () => ({
      query: filter('type', 'dirsyncd_check_nothing'),
      check: each('of this type', () => false),
    })),
  ]
}

function filter(name: string, value: unknown): string {
  return `?per_page=100&filters[${name}]=${encodeURIComponent(String(value))}`
}
