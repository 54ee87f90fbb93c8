import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Company, CSV_SOURCE, csvFiles, fixtureOf, people } from '../support/company.ts'
import { expectDirectory } from '../support/company-site.ts'
import { createDatabase, STORE_TEMPLATE } from '../support/databases.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { directorySection, NO_GUARDS } from '../support/sync-config.ts'

interface Size {
  readonly people: number
  readonly groups: number
  /** So many groups have the first person. */
  readonly groupsOfOne: number
}

/** And each person is in so many, beside the group of everybody. */
const GROUPS_OF_ALL = 5

/** @param quit so many of its groups the first person has left */
function company({ people: many, groups: manyGroups, groupsOfOne }: Size, quit = 0): Company {
  const { users } = people(many)
  const ids = [...users.keys()]
  const groups = new Map([['all', { name: 'Everybody', members: ids.toSorted() }]])
  const members = Array.from({ length: manyGroups }, (): string[] => [])
  for (const [index, id] of ids.entries()) {
    if (index === 0) continue
    for (let each = 0; each < GROUPS_OF_ALL; each += 1)
      members[(index * GROUPS_OF_ALL + each) % manyGroups]!.push(id)
  }
  for (const [index, listed] of members.entries()) {
    if (index >= quit && index < groupsOfOne) listed.push(ids[0]!)
    groups.set(`g${index}`, { name: `Group ${index}`, members: listed.toSorted() })
  }
  return { users, groups }
}

export function testLargeGroups(size: Size): void {
  let stack: AsyncDisposableStack
  let service: ServiceSite
  let site: Site

  beforeAll(async () => {
    stack = new AsyncDisposableStack()
    service = stack.use(await startServiceSite({ fixture: fixtureOf(people(size.people)) }))
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
    expect(await become(company(size))).toMatchObject({
      'create-group': size.groups + 1,
      'set-members': size.groups + 1,
    })
    expect(await become(company(size, size.groupsOfOne))).toMatchObject({ 'set-members': size.groupsOfOne })
    const { code, stdout } = await site.run('plan', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout).counts.unchanged).toBe(size.people + size.groups + 1)
  })
}
