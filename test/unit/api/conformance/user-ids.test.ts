import { expect, test } from 'vitest'
import { openConformance, type Result } from '../../../../src/api/conformance/conformance.ts'
import type { Operation } from '../../../../src/api/contract/endpoints.ts'
import { DIRECTORY, json, never, serviceAt, startService } from './fake-service.ts'

const ADA = { id: 1, external_id: 'ada', name: 'Ada', first_name: 'Ada', last_name: null, email: null }
const { external_id: _, ...nobody } = ADA

/** The results of an endpoint of a service that has these users, Ada first, and creates what it is told to. */
async function resultsOf(operation: Operation, { users, created }: { users: object[]; created?: object[] }) {
  await using service = await startService((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://any.invalid')
    const perPage = Number(searchParams.get('per_page') ?? 20)
    const begin = (Number(searchParams.get('page') ?? 1) - 1) * perPage
    const headers = { total: String(users.length), 'per-page': String(perPage) }
    if (request.method === 'POST') json(response, 201, created)
    else if (pathname.endsWith('/users')) json(response, 200, users.slice(begin, begin + perPage), headers)
    else json(response, 200, pathname.includes('/users/') ? users.at(-1) : DIRECTORY)
  })
  const tested = serviceAt(service.baseUrl, { writes: created !== undefined })
  const conformance = await openConformance(tested, never)
  const results = await Array.fromAsync(conformance.check(operation))
  await conformance.close()
  return (probe: string): Result => results.find((result) => result.probe === probe)!
}

const none = (what: string) => ({
  expected: 'an external_id for each user',
  actual: `none for ${what}, and no endpoint can remove a user without one`,
})

test('users without an external_id are a note that counts them, on the first page and on all', async () => {
  const users = [ADA, { ...ADA, id: 2, external_id: null }, { ...nobody, id: 3 }]
  const result = await resultsOf('listUsers', { users })
  expect(result('good')).toMatchObject({ state: 'ok', notes: [none('2 of 3')] })
  expect(result('all pages together')).toMatchObject({ state: 'ok', notes: [none('2 of 3')] })
  const known = await resultsOf('listUsers', { users: [ADA] })
  expect(known('good')).toMatchObject({ state: 'ok', notes: [] })
})

test('one user, read or created, without an external_id is a note', async () => {
  const alone = { ...ADA, external_id: null }
  const read = await resultsOf('getUser', { users: [ADA, alone] })
  expect(read('good')).toMatchObject({ state: 'ok', notes: [none('1 of 1')] })
  const created = await resultsOf('createUsers', { users: [ADA, alone], created: [alone] })
  expect(created('good').notes).toContainEqual(none('1 of 1'))
})

test.each([[7], [{ id: 'ada' }], [['ada']]])('an external_id %j is a difference', async (external_id) => {
  const wrong = { ...ADA, external_id }
  expect((await resultsOf('listUsers', { users: [ADA, wrong] }))('good').state).toBe('differs')
  expect((await resultsOf('getUser', { users: [ADA, wrong] }))('good').state).toBe('differs')
  const created = await resultsOf('createUsers', { users: [ADA], created: [wrong] })
  expect(created('good')).toMatchObject({
    state: 'differs',
    differences: [{ expected: 'a string as external_id', actual: JSON.stringify(external_id) }],
  })
})
