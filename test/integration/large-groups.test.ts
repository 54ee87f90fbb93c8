import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Company, CSV_SOURCE, csvFiles, fixtureOf, people } from '../support/company.ts'
import { expectDirectory } from '../support/company-site.ts'
import { createDatabase, STORE_TEMPLATE } from '../support/databases.ts'
import { inLong } from '../support/long.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { directorySection, NO_GUARDS } from '../support/sync-config.ts'

const PEOPLE = inLong(600, 100_000)
const GROUPS = inLong(40, 20_000)
/** So many groups have the first person. */
const GROUPS_OF_ONE = inLong(30, 2000)
/** And each person is in so many, beside the group of everybody. */
const GROUPS_OF_ALL = 5

/** @param quit so many of its groups the first person has left */
function company(quit = 0): Company {
  const { users } = people(PEOPLE)
  const ids = [...users.keys()]
  const groups = new Map([['all', { name: 'Everybody', members: ids.toSorted() }]])
  const members = Array.from({ length: GROUPS }, (): string[] => [])
  for (const [index, id] of ids.entries()) {
    if (index === 0) continue
    for (let each = 0; each < GROUPS_OF_ALL; each += 1)
      members[(index * GROUPS_OF_ALL + each) % GROUPS]!.push(id)
  }
  for (const [index, listed] of members.entries()) {
    if (index >= quit && index < GROUPS_OF_ONE) listed.push(ids[0]!)
    groups.set(`g${index}`, { name: `Group ${index}`, members: listed.toSorted() })
  }
  return { users, groups }
}

let stack: AsyncDisposableStack
let service: ServiceSite
let site: Site

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  service = stack.use(await startServiceSite({ fixture: fixtureOf(people(PEOPLE)) }))
  site = stack.use(await openSite())
  await site.configure({
    dataDir: './data',
    store: await createDatabase(STORE_TEMPLATE),
    queue: 'store',
    admin: { listen: false },
    syncs: [{ name: 'corp', source: CSV_SOURCE, directory: directorySection(service), guards: NO_GUARDS }],
  })
})
afterAll(() => stack.disposeAsync())

async function become(next: Company): Promise<unknown> {
  for (const [name, text] of Object.entries(csvFiles(next))) await site.write(name, text)
  const { code, stdout, stderr } = await site.run('sync', '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  await expectDirectory(service, next)
  return JSON.parse(stdout).counts.planned
}

test('a group of everybody, many groups, and somebody in hundreds of them: all are written, and then nothing differs', async () => {
  expect(await become(company())).toMatchObject({ 'create-group': GROUPS + 1, 'set-members': GROUPS + 1 })
  expect(await become(company(GROUPS_OF_ONE))).toMatchObject({ 'set-members': GROUPS_OF_ONE })
  const { code, stdout } = await site.run('plan', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout).counts.unchanged).toBe(PEOPLE + GROUPS + 1)
})
