import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSite, type Site } from '../support/site.ts'
import { embeddedConfig, OWN_DATABASE } from '../support/sync-config.ts'

let stack: AsyncDisposableStack
let site: Site

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  site = stack.use(await openSite())
})

afterEach(() => stack.disposeAsync())

function configure(more: object = {}): Promise<void> {
  const source = { type: 'csv', users: { path: './users.csv', map: { external_id: 'id', name: 'name' } } }
  const directory = {
    baseUrl: 'http://127.0.0.1:9',
    organizationId: 1,
    directoryId: 1,
    token: { env: 'TOKEN' },
  }
  return site.configure(embeddedConfig([{ name: 'corp', source, directory }], more))
}

function giveTo(owner: string, ...paths: readonly string[]): void {
  execFileSync('chown', ['-R', owner, ...paths])
}

/** All that the data directory has, with the numbers of the users. */
function filesOf(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => `${name} ${lstatSync(join(dir, name)).uid}`)
    .toSorted()
}

function advice(): string {
  return (
    `The data directory ${site.dataDir} belongs to user nobody, who could not open what root makes in it: run the ` +
    'command as that user, as with `sudo -u nobody …`.'
  )
}

/** Only root can give files away. */
describe.runIf(process.geteuid?.() === 0)('a data directory of another user', () => {
  test.each([[['runs']], [['sync', 'corp']]])(
    'root is refused before %j writes anything',
    async (command) => {
      await configure()
      giveTo('nobody', site.dataDir)
      const before = filesOf(site.dataDir)
      expect(await site.run(...command)).toMatchObject({ code: 1, stderr: `${advice()}\n` })
      expect(filesOf(site.dataDir)).toEqual(before)
    },
  )

  test('root is refused in check and in a move', async () => {
    await configure()
    giveTo('nobody', site.dataDir)
    const before = filesOf(site.dataDir)
    expect((await site.run('check')).stdout.replaceAll(/\s+/g, ' ')).toContain(advice())
    await configure({ store: OWN_DATABASE })
    expect((await site.run('store', 'move')).stderr).toContain(advice())
    expect(filesOf(site.dataDir)).toEqual(before)
  })
})
