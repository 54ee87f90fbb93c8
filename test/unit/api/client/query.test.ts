import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeQuery } from '../../../../src/api/client/query.ts'
import { endpoints } from '../../../../src/api/contract/endpoints.ts'
import { parseForm } from '../../../../src/service/http/form.ts'

const EVENTS = endpoints.listEvents.query

test.each([
  ['nothing', undefined, {}, {}, ''],
  ['a page', undefined, {}, { page: 2, perPage: 100 }, '?page=2&per_page=100'],
  ['a boolean', endpoints.listSubscriptions.query, { all: true }, {}, '?all=true'],
  ['text', endpoints.listOrganizationGroups.query, { q: 'a&b ü' }, { page: 1 }, '?q=a%26b+%C3%BC&page=1'],
  [
    'an object',
    EVENTS,
    { filters: { type: 'x', contact_id: 12 } },
    {},
    '?filters%5Btype%5D=x&filters%5Bcontact_id%5D=12',
  ],
  ['what is not given', EVENTS, { filters: { type: undefined } }, { page: undefined }, ''],
  ['the parameters of the path', EVENTS, { directory_id: 7 }, {}, ''],
] as const)('the query of %s', (_, schema, params, page, query) => {
  expect(encodeQuery(schema, params, page)).toEqual({ query })
})

test('broken Unicode is refused', () => {
  expect(encodeQuery(EVENTS, { filters: { type: 'a\uD800' } }, {})).toEqual({
    problem: 'filters[type] is not well-formed Unicode',
  })
})

test('what the service reads of filters is the filters', () => {
  const text = fc.string({ unit: 'grapheme' })
  const filters = fc.record(
    { type: text, time_from: text, group_id: fc.nat().map((id) => id + 1), ip_to: text },
    { requiredKeys: ['type'] },
  )
  fc.assert(
    fc.property(filters, (values) => {
      const encoded = encodeQuery(EVENTS, { filters: values }, {})
      if (!('query' in encoded)) throw new Error(encoded.problem)
      const texts = Object.entries(values).map(([name, value]) => [name, String(value)])
      expect(JSON.parse(JSON.stringify(parseForm(encoded.query.slice(1))))).toEqual({
        filters: Object.fromEntries(texts),
      })
    }),
  )
})
