import { expect, test } from 'vitest'
import { directoriesFixture } from '../support/fixture.ts'
import type { RunningService } from '../support/service.ts'
import { type ApiAnswer, ask, problem, linksOf } from './api.ts'
import { describeService } from './with-service.ts'

const DIRECTORIES = directoriesFixture([
  `{ id: 7, name: Sixty, users: [${users(60)}], groups: [${groups(60)}] }`,
  `{ id: 8, name: One page, users: [${users(20)}] }`,
  '{ id: 9, name: Empty }',
  '{ id: 10, name: Moving }',
])

function users(many: number): string {
  return Array.from({ length: many }, (_, index) => `{ external_id: u${index} }`).join(', ')
}

function groups(many: number): string {
  return Array.from({ length: many }, (_, index) => `{ external_id: g${index}, name: Group ${index} }`).join(
    ', ',
  )
}

const idsOf = (answer: ApiAnswer) =>
  (answer.body as { external_id: string }[]).map((item) => item.external_id)

describeService('pages', { fixture: DIRECTORIES }, (service) => {
  const totalOf = async (directoryId: number) => (await list('', directoryId)).headers.get('total')
  const list = (query: string, directoryId = 7) => ask(service(), 'listUsers', { query, directoryId })

  test('the first page, one between and the last one have their links and their part of the list', async () => {
    const [first, middle, last] = await Promise.all(['', '?page=2', '?page=3'].map((query) => list(query)))
    for (const answer of [first!, middle!, last!]) {
      expect(answer.headers.get('total')).toBe('60')
      expect(answer.headers.get('per-page')).toBe('20')
    }
    expect(linksOf(first!)).toEqual({ next: '?page=2&per_page=20', last: '?page=3&per_page=20' })
    expect(linksOf(middle!)).toEqual({
      first: '?page=1&per_page=20',
      prev: '?page=1&per_page=20',
      next: '?page=3&per_page=20',
      last: '?page=3&per_page=20',
    })
    expect(linksOf(last!)).toEqual({ first: '?page=1&per_page=20', prev: '?page=2&per_page=20' })
    expect([first!, middle!, last!].flatMap(idsOf)).toEqual(
      Array.from({ length: 60 }, (_, index) => `u${index}`),
    )
    expect(idsOf(await list('?page=2&per_page=50'))).toHaveLength(10)
  })

  test.each([4, 2_147_483_648])('page %i, past the end, is empty with first, prev and last', async (page) => {
    const answer = await list(`?page=${page}`)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual([])
    expect(answer.headers.get('total')).toBe('60')
    expect(linksOf(answer)).toEqual({
      first: '?page=1&per_page=20',
      prev: '?page=3&per_page=20',
      last: '?page=3&per_page=20',
    })
  })

  test.each([
    ['exactly one page', 8, '', '20'],
    ['an empty list', 9, '', '0'],
    ['past the end of one page', 8, '?page=2', '20'],
  ])('%s has no link', async (_name, directoryId, query, total) => {
    const answer = await list(query, directoryId)
    expect(answer.headers.get('total')).toBe(total)
    expect(answer.headers.has('link')).toBe(false)
  })

  test('links keep the other query parameters and replace repeated ones', async () => {
    const answer = await list('?q=a%20b&page=1&x[]=1&per_page=30&page=1&page_size=3')
    expect(linksOf(answer)['next']).toBe('?q=a%20b&x[]=1&page_size=3&page=2&per_page=30')
  })

  test('links are absolute, on the host that was asked', async () => {
    const answer = await list('')
    expect(answer.headers.get('link')).toContain(
      `<${service().baseUrl}/api/v2/organizations/1/admin/directories/7/users?page=2&per_page=20>; rel="next"`,
    )
  })

  test('what a query holds cannot break out of a link', async () => {
    const { app } = service()
    const answer = await app.inject({
      url: '/api/v2/organizations/1/admin/directories/7/users?q=a>b"c<d',
      headers: { authorization: `token ${service().token}`, 'x-device-id': 'd', host: "evil'host" },
    })
    expect(answer.headers['link']).toMatch(
      /^<\/api\/v2\/[^<>"]+\?q=a%3Eb%22c%3Cd&page=2&per_page=20>; rel="next", <[^<>"]+>; rel="last"$/,
    )
  })

  test('a query that would make links too long for a header is refused', async () => {
    const answer = await list(`?q=${'x'.repeat(2980)}&page=2`)
    expect(Object.keys(linksOf(answer))).toEqual(['first', 'prev', 'next', 'last'])
    expect(await list(`?q=${'x'.repeat(3000)}`)).toMatchObject(problem(414))
    expect(await list(`?q=${'"'.repeat(1001)}`)).toMatchObject(problem(414))
  })

  test('groups are paged like users', async () => {
    const answer = await ask(service(), 'listGroups', { query: '?page=2&per_page=25' })
    expect(answer.headers.get('total')).toBe('60')
    expect(idsOf(answer)[0]).toBe('g25')
    expect(Object.keys(linksOf(answer))).toEqual(['first', 'prev', 'next', 'last'])
  })

  test('directories are paged like users', async () => {
    const answer = await ask(service(), 'listDirectories', { query: '?page=2&per_page=3' })
    expect(answer.headers.get('total')).toBe('4')
    expect(answer.body).toEqual([{ id: 10, name: 'Moving', doppler: false, target_type: 'ldap' }])
    expect(Object.keys(linksOf(answer))).toEqual(['first', 'prev'])
  })

  test('the total follows creates and deletes, also refused ones', async () => {
    const create = (ids: string[]) => createUsers(service(), ids)
    await create(['a', 'b', 'c'])
    expect(await totalOf(10)).toBe('3')
    expect(await create(['d', 'a'])).toMatchObject(problem(409))
    expect(await ask(service(), 'deleteUser', { directoryId: 10, externalId: 'none' })).toMatchObject(
      problem(404),
    )
    expect(await totalOf(10)).toBe('3')
    await ask(service(), 'deleteUser', { directoryId: 10, externalId: 'b' })
    expect(await totalOf(10)).toBe('2')
  })

  test('writers at once leave a right total, and a list in the order of ids', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `w${index}`)
    await Promise.all(ids.map((id) => createUsers(service(), [id])))
    await Promise.all(
      ids.slice(0, 10).map((externalId) => ask(service(), 'deleteUser', { directoryId: 10, externalId })),
    )
    const answer = await list('?per_page=100', 10)
    const items = (answer.body as { id: number; external_id: string }[]).filter((item) =>
      item.external_id.startsWith('w'),
    )
    expect(items).toHaveLength(30)
    expect(items.map((item) => item.id)).toEqual(items.map((item) => item.id).toSorted((a, b) => a - b))
    expect(answer.headers.get('total')).toBe(String((answer.body as unknown[]).length))
  })
})

function createUsers(service: RunningService, ids: readonly string[]): Promise<ApiAnswer> {
  return ask(service, 'createUsers', {
    directoryId: 10,
    json: { users: ids.map((id) => ({ external_id: id })) },
  })
}
