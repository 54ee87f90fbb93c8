import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readService } from '../support/read-service.ts'
import { FIXTURE } from '../support/fixture.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { databaseConfig, directorySection } from '../support/sync-config.ts'

let stack: AsyncDisposableStack
let service: ServiceSite
let site: Site
let configure: (more?: object) => Promise<void>

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  service = stack.use(await startServiceSite())
  site = stack.use(await openSite())
  const users = { path: './users.csv', map: { external_id: 'id', email: 'mail', name: 'name' } }
  // The service refuses the addresses that the sync allows.
  const directory = directorySection(service, { allowedDomains: ['example.org', 'elsewhere.example'] })
  const corp = { name: 'corp', schedule: '1h', source: { type: 'csv', users }, directory }
  const idle = { ...corp, name: 'idle', directory: { ...directory, directoryId: 99 } }
  configure = (more = {}) => site.configure(databaseConfig([{ ...corp, ...more }, idle]))
  await configure()
  await site.write(
    'users.csv',
    'id,mail,name\nana,ana@example.org,Ana\nbo,bo@elsewhere.example,Bo\ncy,cy@elsewhere.example,Cy\n',
  )
  expect((await site.run('sync', 'corp')).code).toBe(4)
})
afterEach(() => stack.disposeAsync())

async function quarantinedIds(): Promise<readonly string[]> {
  return (await site.json('quarantine', 'list')).lines.map(({ id }) => id)
}

/** The commands of the quarantine, which ask a daemon or do the work themselves. */
export function quarantineTests(how: 'with a daemon' | 'without a daemon'): void {
  describe(`quarantine ${how}`, () => {
    beforeEach(async () => {
      if (how === 'without a daemon') return
      const daemon = stack.use(site.start('start'))
      await daemon.waitForOutput(/daemon started/)
    })

    test('list says whom, what, why, since when and when again', async () => {
      const shown = await site.run('quarantine', 'list')
      expect(shown).toMatchObject({ code: 0, stderr: '' })
      const [head, bo, why, cy] = shown.stdout.split('\n')
      expect(head).toMatch(/^SYNC +ID +REFUSED +SINCE +TRIED AGAIN$/)
      expect(bo).toMatch(/^corp +bo +create-user +\d{4}-\S+ \S+Z +after \d{4}-\S+ \S+Z$/)
      expect(why).toMatch(/^ {2}Bo: the service answered 422/)
      expect(cy).toMatch(/^corp +cy /)
      const { lines } = await site.json('quarantine', 'list', '--sync', 'corp')
      expect(lines).toMatchObject([
        { sync: 'corp', kind: 'user', id: 'bo', name: 'Bo', op: 'create-user' },
        { sync: 'corp', kind: 'user', id: 'cy', op: 'create-user' },
      ])
      expect(Date.parse(lines[0].triedAgainAt) - Date.parse(lines[0].triedAt)).toBe(24 * 3_600_000)
      expect((await site.run('quarantine', 'list', '--sync', 'idle')).stdout).toBe(
        'Nothing is in quarantine.\n',
      )
    })

    test('release lets the next run try exactly those again', async () => {
      expect(await site.run('quarantine', 'release', '--user', 'bo')).toEqual({
        code: 0,
        stderr: '',
        stdout:
          'Released 1 change from quarantine: 1 of corp. ' +
          'The next run tries it again, on schedule or now with dirsyncd sync corp.\n',
      })
      expect(await quarantinedIds()).toEqual(['cy'])
      const [run] = (await site.json('sync', 'corp')).lines
      expect(run.counts).toMatchObject({ planned: { 'create-user': 1 }, outcomes: { quarantined: 1 } })
      expect(await quarantinedIds()).toEqual(['bo', 'cy'])
      const { lines } = await site.json('quarantine', 'release', '--sync', 'corp')
      expect(lines).toMatchObject([{ released: 2, changes: [{ id: 'bo' }, { id: 'cy' }] }])
      expect(await quarantinedIds()).toEqual([])
      const { users } = await readService({ ...FIXTURE, baseUrl: service.baseUrl })
      expect([...users.keys()]).toEqual(['ana'])
    })

    test('releasing nothing says so', async () => {
      const nothing = 'Nothing is in quarantine, so nothing was released.\n'
      expect(await site.run('quarantine', 'release', '--sync', 'idle')).toMatchObject({
        code: 0,
        stdout: nothing,
      })
      expect(
        await site.run('quarantine', 'release', '--user', 'ana', '--group', 'bo', '--user', 'cy'),
      ).toEqual({
        code: 1,
        stdout: expect.stringMatching(/^Released 1 change /),
        stderr: 'Not in quarantine: user ana, group bo; dirsyncd quarantine list shows what is.\n',
      })
      expect(await quarantinedIds()).toEqual(['bo'])
      expect((await site.run('quarantine', 'release')).stdout).toMatch(/^Released 1 change /)
      expect(await site.run('quarantine', 'release')).toMatchObject({ code: 0, stdout: nothing })
      expect(await site.run('quarantine', 'release', '--sync', 'crop')).toMatchObject({
        code: 64,
        stderr: expect.stringContaining('did you mean corp?'),
      })
    })
  })
}

export function quarantineReportTests(): void {
  test('the report of a run says how to release what it left in quarantine, or to accept it', async () => {
    const report = await site.run('sync', 'corp')
    expect(report.stdout).toContain('quarantine (2): in quarantine')
    expect(report.stdout).toContain('The change is tried again after a day')
    expect(report.stdout).toMatch(/corp: no changes; 2 changes blocked \(quarantine\)\.\s+$/)
    await site.write('users.csv', 'id,mail,name\nana,ana@example.org,Ana\nbo,bo@elsewhere.example,Bo\n')
    const again = await site.run('sync', 'corp')
    expect(again.stdout).toContain('quarantine (1): in quarantine')
    expect(again.stdout).toMatch(/ create user {3}bo  .*: the service answered 422/)
    await configure({ entries: { users: { exclude: [{ id: 'bo' }, 'cy'] } } })
    expect(await site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
    expect(await quarantinedIds()).toEqual([])
  })
}
