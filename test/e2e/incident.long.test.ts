import { readFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FIXTURE } from '../support/fixture.ts'
import { type ProgramResult, runCommand } from '../support/program.ts'
import { readService } from '../support/read-service.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { databaseConfig, directorySection } from '../support/sync-config.ts'

const page = await readFile(new URL('../../docs/incident.md', import.meta.url), 'utf8')
/** Every command of the page that a test has run. */
const ran = new Set<string>()

let stack: AsyncDisposableStack
let service: ServiceSite
let site: Site
let people: Map<string, string>

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  service = stack.use(await startServiceSite())
  site = stack.use(await openSite({ answer: true }))
  people = new Map([['e-1001', 'Ana']])
  for (let number = 1; number < 20; number += 1) people.set(`e-${number}`, `Person ${number}`)
  const users = { path: './users.csv', map: { external_id: 'id', email: 'mail', name: 'name' } }
  const groups = { path: './groups.csv', map: { external_id: 'id', name: 'name' } }
  const members = { path: './members.csv', map: { group: 'group', user: 'user' } }
  await site.configure(
    databaseConfig([
      {
        name: 'corp',
        source: { type: 'csv', users, groups, members },
        // The service does not allow the second domain.
        directory: directorySection(service, { allowedDomains: ['example.org', 'elsewhere.example'] }),
        guards: { users: { maxDeletes: 2, maxDeletePercent: 100 }, memberships: { maxDeletePercent: 100 } },
      },
    ]),
  )
  await write()
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
})
afterEach(() => stack.disposeAsync())

async function write(mails: Readonly<Record<string, string>> = {}): Promise<void> {
  const rows = Array.from(people, ([id, name]) => `${id},${mails[id] ?? mailOf(id)},${name}\n`)
  await site.write('users.csv', `id,mail,name\n${rows.join('')}`)
  await site.write('groups.csv', 'id,name\nall,Everybody\n')
  await site.write('members.csv', `group,user\n${Array.from(people.keys(), (id) => `all,${id}\n`).join('')}`)
}

const mailOf = (id: string) => (id === 'e-1001' ? 'ana@example.org' : `${id}@example.org`)
const seen = () => readService({ ...FIXTURE, baseUrl: service.baseUrl })

/** Makes the source have everybody but these, and runs the sync. Returns the number of the run. */
async function runWithout(...ids: readonly string[]): Promise<string> {
  for (const id of ids) people.delete(id)
  await write()
  await site.run('sync', 'corp')
  return lastRun()
}

async function lastRun(): Promise<string> {
  const { lines } = await site.json('runs', '--limit', '1')
  return String(lines[0].run)
}

/** The commands of the blocks of a section. */
function commandsOf(heading: string): readonly string[] {
  const section = page.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!
  const blocks = [...section.matchAll(/\n```sh\n(.*?)\n```/gs)].map(([, text]) => text!)
  return blocks.flatMap((text) => text.split('\n'))
}

/** Runs the conformance test of the page against the service of the test. */
async function conform(command: string): Promise<ProgramResult> {
  const token = await site.write('token', FIXTURE.token)
  const here = command
    .replace('https://access.example.com', service.baseUrl)
    .replace('/run/secrets/token', token)
    .replace('--directory 7', `--directory ${FIXTURE.directoryId}`)
  return runCommand(here.split(' ').slice(1), { program: 'access-service' })
}

/** Runs a command of the page as it stands there, with another number of a run. */
function run(command: string, number = '12'): Promise<ProgramResult> {
  expect(page).toContain(command)
  ran.add(command)
  const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
  return site.run(...words.slice(1).map((word) => (word === '12' ? number : word)))
}

test('accounts are gone', async () => {
  const before = await seen()
  const number = await runWithout('e-1001', 'e-1')
  const [pause, runs, shown, explain, look, undo, plan, resume, ...rest] = commandsOf('Accounts are gone')
  expect(rest).toEqual([])
  expect(await run(pause!)).toMatchObject({ code: 0, stderr: '' })
  expect((await run(runs!)).stdout).toMatch(/^corp has been paused since .*accounts are gone/)
  expect((await run(shown!, number)).stdout).toMatch(/- delete user {3}e-1001 {2}Ana/)
  expect((await run(explain!)).stdout).toMatch(
    /^Ana \(user e-1001\) is not in the source, and not in the directory; deleted\s.*\sby\srun\s\d+/,
  )
  const dry = await run(look!, number)
  expect(dry).toMatchObject({ code: 2, stderr: '' })
  expect(dry.stdout).toMatch(/Does not come back:\n {2}2 users: the numeric id/)
  expect((await seen()).users.size).toBe(18)
  expect(await run(undo!, number)).toMatchObject({ code: 0, stderr: '' })
  expect(await seen()).toEqual(before)
  expect((await run(plan!)).stdout).toContain('2 deletions of users')
  for (const id of ['e-1001', 'e-1']) people.set(id, id === 'e-1001' ? 'Ana' : 'Person 1')
  await write()
  expect((await run(plan!)).stdout).toContain('no changes')
  expect((await run(resume!)).stdout).toContain('corp runs again')
  const part = await runWithout('e-1001', 'e-2')
  expect(await run('dirsyncd undo 12 --id e-1001', part)).toMatchObject({ code: 0 })
  expect([(await seen()).users.has('e-1001'), (await seen()).users.has('e-2')]).toEqual([true, false])
  expect(await run('dirsyncd undo 12 --only deletes', part)).toMatchObject({ code: 0 })
  expect((await seen()).users.has('e-2')).toBe(true)
})

test('a change of the configuration is taken over without a restart', async () => {
  const daemon = stack.use(site.start('start'))
  await daemon.waitForOutput(/daemon started/)
  expect(await run('dirsyncd reload')).toMatchObject({ code: 0, stderr: '' })
})

test('somebody cannot get in', async () => {
  const [explain, ...rest] = commandsOf('Somebody cannot get in')
  expect(rest).toEqual([])
  expect((await run(explain!)).stdout).toMatch(
    /^Ana \(user e-1001\) is in the source, and is in the directory; both are equal/,
  )
  people.set('e-1001', 'Ana Horvat')
  await write()
  expect((await run(explain!)).stdout).toMatch(/in the directory with other values: the name is/)
  expect(await run('dirsyncd sync corp --user e-1001')).toMatchObject({ code: 0 })
  expect((await seen()).users.get('e-1001')?.name).toBe('Ana Horvat')

  await write({ 'e-1001': 'ana@elsewhere.example' })
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 4 })
  expect((await site.run('explain', 'corp', 'e-1001')).stdout).toContain('the service answered 422')
  expect(await run('dirsyncd quarantine release --sync corp --user e-1001')).toMatchObject({ code: 0 })
  await write()
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 0 })

  people.set('e-1001', 'Ana Novak')
  const asking = await runWithout('e-3', 'e-4', 'e-5')
  expect(await run('dirsyncd approve 12 --id e-1001', asking)).toMatchObject({ code: 3 })
  const { users } = await seen()
  expect([users.get('e-1001')?.name, users.has('e-3')]).toEqual(['Ana Novak', true])
})

test('a run asks', async () => {
  people.set('e-1001', 'Ana Horvat')
  people.set('new', 'Somebody New')
  const asking = await runWithout('e-3', 'e-4', 'e-5')
  const [shown, explain, part, whole, reject, ...rest] = commandsOf('A run asks')
  expect(rest).toEqual([])
  expect((await run(shown!, asking)).stdout).toMatch(
    /Needs approval:\n {2}max-deletes-users \(3\): 3 of 20 users/,
  )
  expect(await run(explain!)).toMatchObject({ code: 0, stderr: '' })
  expect(await run(part!, asking)).toMatchObject({ code: 3, stderr: '' })
  expect(
    [...(await seen()).users.keys()].filter((id) => ['new', 'e-3', 'e-4', 'e-5'].includes(id)),
  ).toHaveLength(4)
  const left = await lastRun()
  expect(await run(whole!, left)).toMatchObject({ code: 0, stderr: '' })
  expect((await seen()).users.size).toBe(18)
  expect((await site.run('runs', left)).stdout).toMatch(
    /approved by \S+ at .*: "the branch in Linz was closed"/,
  )
  const wrong = await runWithout('e-6', 'e-7', 'e-8')
  expect(await run(reject!, wrong)).toMatchObject({ code: 0, stderr: '' })
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 0 })
  expect((await seen()).users.size).toBe(18)

  const mistake = await runWithout('e-9', 'e-10', 'e-11')
  expect(await run('dirsyncd pause corp')).toMatchObject({ code: 0, stderr: '' })
  expect(await site.run('approve', mistake, '--all')).toMatchObject({ code: 0, stderr: '' })
  expect(await run('dirsyncd reject 12 --only deletes', mistake)).toMatchObject({ code: 0, stderr: '' })
  expect(await site.run('resume', 'corp', '--yes')).toMatchObject({ code: 0 })
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 0 })
  expect((await seen()).users.size).toBe(18)
})

test('the service refuses', async () => {
  await write({ 'e-1001': 'ana@elsewhere.example' })
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 4 })
  const [list, release, check, runs, contract, ...rest] = commandsOf('The service refuses')
  expect(rest).toEqual([])
  expect((await run(list!)).stdout).toMatch(/corp +e-1001 +update-user/)
  expect((await run(release!)).stdout).toMatch(/^Released 1 change from quarantine/)
  const checked = await run(check!)
  expect(checked.stdout).toMatch(/ok +token/)
  expect(checked.stdout).not.toContain('Person 1')
  expect((await run(runs!)).stdout).toContain('1 quarantined')
  expect((await conform(contract!)).stdout).toMatch(/The service follows the API description/)
})

test('asking for help', async () => {
  const [bundle, ...rest] = commandsOf('Asking for help')
  expect(rest).toEqual([])
  ran.add(bundle!)
  const { code, stdout } = await site.run(...bundle!.split(' ').slice(1), '-')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ runs: expect.any(Array) })
  expect(stdout).not.toContain('ana@example.org')
})

test('each command of the page was run', () => {
  const all = [...page.matchAll(/`(dirsyncd [^`\n]+)`|^(dirsyncd .*)$/gm)].map(
    ([, inline, line]) => inline ?? line!,
  )
  expect(all.filter((command) => !ran.has(command))).toEqual([])
})
