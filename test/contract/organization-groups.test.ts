import { beforeAll, describe, expect, test } from 'vitest'
import { FIXTURE } from '../support/fixture.ts'
import { loadYaml } from '../support/service.ts'
import { type ApiAnswer, type ApiRequest, ask, linksOf, problem } from './api.ts'
import { describeService } from './with-service.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/

/** The names of another organization's groups, which the searches are made in. */
const NAMES = [
  'Größere Teams',
  'GROSSE RUNDE',
  '100 % remote',
  'snake_case',
  'back\\slash',
  'ΟΔΟΣ ΑΘΗΝΩΝ',
  '営業部 🙂',
  'a+b & c=d?#',
] as const

const SEARCHED = { organizationId: 300, token: 'token-of-reader-300' }

const YAML = `
organizations:
  - id: 300
    name: Searched
    allowedDomains: [example.net]
    contacts:
      - { id: 301, name: R, email: r@example.net, tokens: [{ token: token-of-reader-300, scopes: [ORG_READ], expires: 1h }] }
    groups: [${NAMES.map((name, index) => `{ id: ${3000 + index}, name: ${JSON.stringify(name)} }`).join()}]
  - id: 310
    name: Many
    allowedDomains: [example.net]
    contacts:
      - { id: 311, name: R, email: r@example.net, tokens: [{ token: token-of-reader-310, scopes: [ORG_READ], expires: 1h }] }
    groups: [${Array.from({ length: 45 }, (_, index) => `{ id: ${3145 - index}, name: ${index % 3 === 0 ? 'Größe' : 'Team'} ${index} }`).join()}]
  - id: 320
    name: None
    allowedDomains: [example.net]
    contacts:
      - { id: 321, name: R, email: r@example.net, tokens: [{ token: token-of-reader-320, scopes: [ORG_READ], expires: 1h }] }
`

function namesOf(answer: ApiAnswer): string[] {
  expect(answer.status).toBe(200)
  return (answer.body as { name: string }[]).map(({ name }) => name)
}

function idsOf(answer: ApiAnswer): number[] {
  return (answer.body as { id: number }[]).map(({ id }) => id)
}

describeService('groups of the organization', {}, (service) => {
  beforeAll(async () => {
    await loadYaml(service().pool, YAML)
  })

  const list = (query = '', more: ApiRequest = {}) =>
    ask(service(), 'listOrganizationGroups', { query, ...more })
  const search = async (text: string) => {
    return namesOf(await list(`?q=${encodeURIComponent(text)}`, SEARCHED))
  }

  test('are listed with their counts, ordered by id, and none of another organization', async () => {
    const answer = await list()
    expect(answer.body).toStrictEqual([
      {
        id: FIXTURE.groupId,
        name: 'Größere Teams',
        contacts_count: 2,
        installations_count: 1,
        created_at: expect.stringMatching(TIME) as unknown,
      },
      {
        id: 52,
        name: 'Sales',
        contacts_count: 1,
        installations_count: 0,
        created_at: expect.stringMatching(TIME) as unknown,
      },
    ])
    expect(answer.headers.get('total')).toBe('2')
    expect(answer.headers.has('link')).toBe(false)
    expect(namesOf(await list('', { token: FIXTURE.otherToken, organizationId: 2 }))).toEqual(['Their Team'])
  })

  test('one is read as the list shows it', async () => {
    const listed = (await list()).body as { id: number }[]
    const answer = await ask(service(), 'getOrganizationGroup', { groupId: FIXTURE.groupId })
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.body).toStrictEqual(listed.find(({ id }) => id === FIXTURE.groupId))
  })

  test.each([
    ['of another organization', FIXTURE.otherGroupId],
    ['that is more than the store takes', '2147483648'],
  ])('one %s is 404', async (_name, groupId) => {
    expect(await ask(service(), 'getOrganizationGroup', { groupId })).toMatchObject(problem(404))
  })

  test.each<[string, string[]]>([
    ['GRÖẞERE', ['Größere Teams']],
    ['ere te', ['Größere Teams']],
    ['groẞe r', ['GROSSE RUNDE']],
    ['%', ['100 % remote']],
    ['_', ['snake_case']],
    ['\\', ['back\\slash']],
    ['οδοσ α', ['ΟΔΟΣ ΑΘΗΝΩΝ']],
    ['業', ['営業部 🙂']],
    ['🙂', ['営業部 🙂']],
    ['A+B & C=D?#', ['a+b & c=d?#']],
    ['nobody', []],
    ['a\0b', []],
  ])('q %j finds %j', async (text, names) => {
    expect(await search(text)).toEqual(names)
  })

  test('an empty q, like none, finds all', async () => {
    expect(await search('')).toEqual(NAMES)
    expect(namesOf(await list('', SEARCHED))).toEqual(NAMES)
  })

  test.each(['?q[]=a', '?q=%E0%A4%A'])('%s is 400', async (query) => {
    expect(await list(query, SEARCHED)).toMatchObject(problem(400))
  })

  describe('of which there are many', () => {
    const many = { organizationId: 310, token: 'token-of-reader-310' }
    test('are paged by id', async () => {
      const pages = await Promise.all([1, 2, 3].map((page) => list(`?page=${page}`, many)))
      expect(pages.flatMap(idsOf)).toEqual(Array.from({ length: 45 }, (_, index) => 3101 + index))
      for (const page of pages) expect(page.headers.get('total')).toBe('45')
    })

    test('are searched over all pages, and the links keep q', async () => {
      const q = 'q=gr%C3%B6SSe'
      const answer = await list(`?${q}&page=2&per_page=4`, many)
      expect(answer.headers.get('total')).toBe('15')
      expect(namesOf(answer)).toEqual(['Größe 30', 'Größe 27', 'Größe 24', 'Größe 21'])
      expect(linksOf(answer)).toEqual({
        first: `?${q}&page=1&per_page=4`,
        prev: `?${q}&page=1&per_page=4`,
        next: `?${q}&page=3&per_page=4`,
        last: `?${q}&page=4&per_page=4`,
      })
    })

    test('are none where none is found, or where there is none', async () => {
      for (const answer of [
        await list('?q=nothing', many),
        await list('', { organizationId: 320, token: 'token-of-reader-320' }),
      ]) {
        expect(answer.body).toEqual([])
        expect(answer.headers.get('total')).toBe('0')
        expect(answer.headers.has('link')).toBe(false)
      }
    })
  })
})
