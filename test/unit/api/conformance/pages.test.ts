import { expect, test } from 'vitest'
import { page } from '../../../../src/api/conformance/pages.ts'
import type { HttpAnswer } from '../../../../src/api/conformance/answer.ts'

const PATH = '/api/v2/organizations/1/admin/directories'

interface Scene {
  readonly total?: string | undefined
  readonly perPage?: string
  readonly link?: string | undefined
  readonly items?: number
}

/** The answer for page 2 of 3, with 3 of 8 items, where nothing else is said. */
function answerOf(scene: Scene = {}): HttpAnswer {
  const headers: Record<string, string | undefined> = {
    total: '8',
    'per-page': '3',
    link: ['first 1', 'prev 1', 'next 3', 'last 3'].map(linkTo).join(', '),
    ...('total' in scene && { total: scene.total }),
    ...('perPage' in scene && { 'per-page': scene.perPage }),
    ...('link' in scene && { link: scene.link }),
  }
  return {
    status: 200,
    header: (name) => headers[name],
    text: '',
    json: Array.from({ length: scene.items ?? 3 }, (_, id) => ({ id })),
    path: `${PATH}?page=2&per_page=3`,
  }
}

function linkTo(entry: string): string {
  const [relation, number] = entry.split(' ')
  return `<https://x.org${PATH}?page=${number}&per_page=3>; rel="${relation}"`
}

const faultsOf = (scene?: Scene) =>
  page({ page: 2, perPage: 3 })(answerOf(scene)).map(({ expected, actual }) => `${expected}: ${actual}`)

test('a page between that is as described', () => {
  expect(faultsOf()).toEqual([])
})

test.each<[string, Scene, string]>([
  ['no total', { total: undefined }, 'a whole number in the header total: no such header'],
  ['a total of words', { total: 'many' }, 'a whole number in the header total: "many"'],
  ['another per-page', { perPage: '20' }, '3 in the header per-page: "20"'],
  ['too few items', { items: 2 }, '3 of 8 items on page 2 with 3 a page: 2'],
  ['too many items', { items: 8 }, '3 of 8 items on page 2 with 3 a page: 8'],
  ['no link', { link: undefined }, 'the header link on page 2 of 3: none'],
  ['a link that is none', { link: 'next' }, 'a header link as in RFC 5988: "next"'],
  [
    'a relation too few',
    { link: ['first 1', 'prev 1', 'next 3'].map(linkTo).join(', ') },
    'link to first 1, prev 1, next 3, last 3 on page 2: first 1, prev 1, next 3',
  ],
  [
    'a relation to another page',
    { link: ['first 1', 'prev 1', 'next 2', 'last 3'].map(linkTo).join(', ') },
    'link to first 1, prev 1, next 3, last 3 on page 2: first 1, prev 1, next 2, last 3',
  ],
  [
    'a link to another path',
    { link: answerOf().header('link')?.replaceAll('directories', 'groups') ?? '' },
    'the path of the request in link: another one',
  ],
  [
    'a link with another size of pages',
    { link: answerOf().header('link')?.replaceAll('per_page=3', 'per_page=20') ?? '' },
    'per_page=3 in link: 20',
  ],
])('%s', (_name, scene, fault) => {
  expect(faultsOf(scene)).toEqual([fault])
})

test('behind a proxy that knows the API by another address the links are right', () => {
  expect(faultsOf({ link: answerOf().header('link')?.replaceAll('x.org', 'x.org/access') ?? '' })).toEqual([])
})

test('one page has no link', () => {
  const scene = { total: '2', items: 2 }
  const first = page({ page: 1, perPage: 3 })
  expect(first(answerOf({ ...scene, link: undefined }))).toEqual([])
  expect(first(answerOf(scene))).toEqual([
    { expected: 'no header link where there is one page', actual: 'one' },
  ])
})

test('past the end there are no items, and the description says nothing of links', () => {
  const past = page({ page: 9, perPage: 3 })
  expect(past(answerOf({ items: 0 }))).toEqual([])
  expect(past(answerOf({ items: 0, link: undefined }))).toEqual([])
  expect(past(answerOf({ items: 1 }))).toHaveLength(1)
})
