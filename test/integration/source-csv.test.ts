import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FIXTURE } from '../support/fixture.ts'
import { readService } from '../support/read-service.ts'
import { openSite, type ServiceSite, startServiceSite } from '../support/site.ts'
import { directorySection, databaseConfig } from '../support/sync-config.ts'

const stack = new AsyncDisposableStack()
let service: ServiceSite

beforeAll(async () => {
  service = stack.use(await startServiceSite())
})

afterAll(() => stack.disposeAsync())

test('a daemon without a schedule runs when the files of its source are replaced', async () => {
  await using site = await openSite()
  const source = {
    type: 'csv',
    watch: true,
    settle: '100ms',
    users: {
      path: './export/*.csv',
      encoding: 'latin1',
      trailer: { pattern: '^END (\\d+)$' },
      map: { external_id: 'id', email: 'mail', name: 'name' },
    },
    groups: { column: 'teams', separator: ';', name: 'Team {teams}' },
  }
  await site.configure(databaseConfig([{ name: 'corp', source, directory: directorySection(service) }]))
  const folder = join(site.dir, 'export')
  await mkdir(folder)
  const replace = async (name: string, text: string) => {
    await site.write('next', Buffer.from(text, 'latin1'))
    await rename(join(site.dir, 'next'), join(folder, name))
  }
  await replace('a.csv', 'ID,Mail,Name,Teams\n1,ann@example.org,Ann Müßig,ops;dev\nEND 1\n')
  await using daemon = site.start('start')
  await daemon.waitForOutput(/run 1, done/)
  await replace('b.csv', 'teams,name,mail,id\ndev,Bo,bo@example.org,2\nEND 1\n')
  await daemon.waitForOutput(/run 2, done/)
  // Half of a file is a failed run, and takes nobody away.
  await replace('b.csv', 'teams,name,mail,id\n')
  await daemon.waitForOutput(/run 3, failed|run 3 failed/)
  const seen = await readService({ ...FIXTURE, baseUrl: service.baseUrl })
  expect(seen.users.get('1')?.name).toBe('Ann Müßig')
  expect([...seen.users.keys()].toSorted()).toEqual(['1', '2'])
  expect([...seen.groups].map(([id, { name, members }]) => [id, name, members]).toSorted()).toEqual([
    ['dev', 'Team dev', ['1', '2']],
    ['ops', 'Team ops', ['1']],
  ])
})
