import { type Check, decides, type Expectation, type Mismatch, inTurn, reads } from '../checks.ts'
import { totalOf } from '../pages.ts'
import type { Probing } from '../probing.ts'
import { first, type Item, itemsOf, readTotal } from '../fixtures.ts'
import { judge } from '../verdict.ts'
import { type Case, changed, type Row } from './case.ts'

export function queryCases(row: Row): readonly Case[] {
  if (row.operation === 'listSubscriptions') {
    return [...allOnOnePage(row), ...malformed(row, ['?all=maybe', '?all[]=true'])]
  }
  if (row.operation === 'listEvents') return [...filters(row), ...malformed(row, MALFORMED_FILTERS)]
  if (row.operation !== 'listOrganizationGroups') return []
  return [...partOfName(row), ...malformed(row, ['?q[]=x', '?q[a]=x', '?q=%E0%A4%A'])]
}

const MALFORMED_FILTERS = [
  '?filters=x',
  '?filters[type][]=x',
  '?filters[type=x',
  '?filters[type]=%E0%A4%A',
  '?filters[time_from]=yesterday',
  '?filters[time_to]=2026-13-45',
  '?filters[ip_from]=300.1.1.1',
  '?filters[ip_to]=nowhere',
  '?filters[group_id]=x',
  '?filters[contact_id]=x',
]

function malformed(row: Row, queries: readonly string[]): Case[] {
  return queries.map((query) => changed(row, query, () => ({ query }), decides(400)))
}

function searchCase(
  row: Row,
  name: string,
  prepare: (probing: Probing) => Promise<{ readonly query: string; readonly expectation: Expectation }>,
): Case {
  return {
    name,
    needsScope: true,
    async try(probing) {
      const { query, expectation } = await prepare(probing)
      return judge(expectation, await probing.send(row.operation, { query }))
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
    searchCase(row, query, async (probing) => {
      const total = await readTotal(probing, row.operation)
      const all: Check = ({ json }) =>
        Array.isArray(json) && json.length === total
          ? []
          : [
              {
                expected: `all ${total} subscriptions on one page`,
                actual: Array.isArray(json) ? `${json.length}` : 'no list',
              },
            ]
      return { query, expectation: reads(row.endpoint, all) }
    }),
  )
}

function partOfName(row: Row): Case[] {
  const search = (query: (name: string) => string) => async (probing: Probing) => {
    const group = await first(probing, row.operation, 'name')
    const name = String(group['name'])
    const part = name.length > 2 ? name.slice(1, -1) : name
    const matches = (item: Item) => String(item['name']).toLowerCase().includes(part.toLowerCase())
    const check = each('whose name holds q', matches, group['id'])
    return { query: `?per_page=100&q=${encodeURIComponent(query(part))}`, check }
  }
  const endpoint = row.endpoint
  return [
    searchCase(row, 'q is a part of a name', async (probing) => {
      const { query, check } = await search((part) => part)(probing)
      return { query, expectation: reads(endpoint, check) }
    }),
    searchCase(row, 'q in capitals', async (probing) => {
      const { query, check } = await search((part) => part.toUpperCase())(probing)
      return { query, expectation: { ...reads(endpoint), reference: check } }
    }),
    changed(row, 'q that no name holds', () => ({ query: '?q=dirsyncd-check-nothing' }), {
      ...reads(
        endpoint,
        each('whose name holds q', () => false),
      ),
    }),
  ]
}

/** The description states what a filter means, but not the format of times, addresses and ids. */
function filters(row: Row): Case[] {
  const endpoint = row.endpoint
  const known = (probing: Probing) => first(probing, row.operation, 'id')
  return [
    searchCase(row, 'filters[type]', async (probing) => {
      const { id, type } = await known(probing)
      const check = each('of this type', (event) => event['type'] === type, id)
      return { query: filter('type', type), expectation: reads(endpoint, check) }
    }),
    searchCase(row, 'filters[contact_id]', async (probing) => {
      const { id, actor } = await known(probing)
      const contact = (actor as Item | undefined)?.['id']
      const check = each('of this actor', (event) => (event['actor'] as Item)['id'] === contact, id)
      return { query: filter('contact_id', contact), expectation: reads(endpoint, check) }
    }),
    ...(['time_from', 'time_to'] as const).map((name) =>
      searchCase(row, `filters[${name}]`, async (probing) => {
        const { created_at: at, id } = await known(probing)
        const when = Date.parse(String(at))
        const inRange = (event: Item) => {
          const time = Date.parse(String(event['created_at']))
          return name === 'time_from' ? time >= when : time <= when
        }
        const check = each(`in the range of ${name}`, inRange, id)
        return { query: filter(name, at), expectation: ofOurFormat(endpoint, check) }
      }),
    ),
    changed(
      row,
      'filters[ip_from] to filters[ip_to]',
      () => ({ query: '?filters[ip_from]=0.0.0.0&filters[ip_to]=255.255.255.255' }),
      decides(200),
    ),
    changed(row, 'filters[group_id]', () => ({ query: '?filters[group_id]=2147483645' }), decides(200)),
    changed(
      row,
      'filters[type] that no event has',
      () => ({ query: filter('type', 'dirsyncd_check_nothing') }),
      {
        ...reads(
          endpoint,
          each('of this type', () => false),
        ),
      },
    ),
  ]
}

function filter(name: string, value: unknown): string {
  return `?per_page=100&filters[${name}]=${encodeURIComponent(String(value))}`
}

/** Another service may refuse our format, so wrong items are only a note. */
function ofOurFormat(endpoint: Row['endpoint'], check: Check): Expectation {
  const wanted = inTurn(reads(endpoint).stated, check)
  return {
    ...decides(200),
    reference: (answer) => wanted(answer),
  }
}
