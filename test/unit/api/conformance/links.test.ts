import { expect, test } from 'vitest'
import { parseLinks } from '../../../../src/api/conformance/links.ts'

const entry = (relation: string, page: number) =>
  `<https://x.org/users?page=${page}&per_page=3>; rel="${relation}"`

test.each([
  ['one entry', entry('next', 2), ['next 2']],
  ['several entries', `${entry('next', 2)}, ${entry('last', 9)}`, ['next 2', 'last 9']],
  ['a relation without quotes', '</users?page=4>; rel=prev', ['prev 4']],
  ['no blanks', `${entry('next', 2)},${entry('last', 9)}`.replaceAll('; ', ';'), ['next 2', 'last 9']],
  ['a comma in a URI', '</users?q=a,b&page=4>; rel="next"', ['next 4']],
])('%s', (_name, header, expected) => {
  const links = parseLinks(header)
  expect(links?.map(({ relation, query }) => `${relation} ${query.get('page')}`)).toEqual(expected)
  expect(links?.every(({ path }) => path === '/users')).toBe(true)
})

test.each([
  ['nothing', ''],
  ['no angle brackets', 'https://x.org/users?page=2; rel="next"'],
  ['no relation', '<https://x.org/users?page=2>'],
  ['something between two entries', `${entry('next', 2)} and ${entry('last', 9)}`],
  ['what is no URI', '<http://[>; rel="next"'],
])('%s is no header of links', (_name, header) => {
  expect(parseLinks(header)).toBeUndefined()
})
