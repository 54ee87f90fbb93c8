import { appendFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { FIXTURE } from '../support/fixture.ts'
import { readService } from '../support/read-service.ts'
import { openSite, startServiceSite } from '../support/site.ts'
import { directorySection, databaseConfig } from '../support/sync-config.ts'

/** What the files of an export hold, by name. */
type Export = Readonly<Record<'users' | 'groups' | 'members', string>>

function exportOf(people: readonly string[]): Export {
  return {
    users: `id,mail,name\n${people.map((name) => `${name},${name}@example.org,${name}\n`).join('')}`,
    groups: `id,title\nteam,Team of ${people.length}\n`,
    members: `group,user\n${people.map((name) => `team,${name}\n`).join('')}`,
  }
}

const source = {
  type: 'csv',
  watch: true,
  settle: '2s',
  users: { path: './users.csv', map: { external_id: 'id', email: 'mail', name: 'name' } },
  groups: { path: './groups.csv', map: { external_id: 'id', name: 'title' } },
  members: { path: './members.csv', map: { group: 'group', user: 'user' } },
}

test('three files of an export are one run, however they are replaced, and half of one is none', async () => {
  await using service = await startServiceSite()
  await using site = await openSite()
  await site.configure(databaseConfig([{ name: 'corp', source, directory: directorySection(service) }]))
  const seen = async () => {
    const { users, groups } = await readService({ ...FIXTURE, baseUrl: service.baseUrl })
    const team = groups.get('team')
    return [[...users.keys()].toSorted(), team?.name, team?.members]
  }
  for (const [name, text] of Object.entries(exportOf(['ann']))) await site.write(`${name}.csv`, text)
  await using daemon = site.start('start')
  await daemon.waitForOutput(/run 1, done/)

  // Renamed into their places, one after the other.
  for (const [name, text] of Object.entries(exportOf(['ann', 'bo']))) {
    await rename(await site.write('next', text), join(site.dir, `${name}.csv`))
    await sleep(100)
  }
  await daemon.waitForOutput(/run 2, done/)
  expect(await seen()).toEqual([['ann', 'bo'], 'Team of 2', ['ann', 'bo']])

  // Written in their places, the last one bit by bit.
  const { users, ...others } = exportOf(['ann', 'bo', 'cy'])
  for (const [name, text] of Object.entries(others)) await site.write(`${name}.csv`, text)
  await site.write('users.csv', '')
  for (const character of users) {
    await appendFile(join(site.dir, 'users.csv'), character)
    await sleep(10)
  }
  await daemon.waitForOutput(/run 3, done/)
  expect(await seen()).toEqual([['ann', 'bo', 'cy'], 'Team of 3', ['ann', 'bo', 'cy']])

  const { lines } = await site.json('runs')
  expect(lines.flat()).toHaveLength(3)
})
