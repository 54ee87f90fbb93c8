import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { readService } from '../support/read-service.ts'
import { FIXTURE } from '../support/fixture.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { directorySection, databaseConfig } from '../support/sync-config.ts'

const PEOPLE = 200
const GROUPS = 10

/** An export as it should be; quotes, commas and accents included. */
const whole = {
  'users.csv': `id,mail,name\n${rows(PEOPLE, (each) => `u${each},u${each}@example.org,"Sørensen ""Bo"", Nr. ${each}"`)}`,
  'groups.csv': `id,title\n${rows(GROUPS, (each) => `g${each},Team ${each}`)}`,
  'members.csv': `group,user\n${rows(PEOPLE, (each) => `g${each % GROUPS},u${each}`)}`,
}
type File = keyof typeof whole

const stack = new AsyncDisposableStack()
let service: ServiceSite
let site: Site

beforeAll(async () => {
  service = stack.use(await startServiceSite())
  site = stack.use(await openSite())
  const source = {
    type: 'csv',
    users: { path: './users.csv', map: { external_id: 'id', email: 'mail', name: 'name' } },
    groups: { path: './groups.csv', map: { external_id: 'id', name: 'title' } },
    members: { path: './members.csv', map: { group: 'group', user: 'user' } },
  }
  await site.configure(databaseConfig([{ name: 'corp', source, directory: directorySection(service) }]))
  await writeAll()
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
})

beforeEach(writeAll)

afterAll(() => stack.disposeAsync())

async function writeAll(): Promise<void> {
  for (const [name, text] of Object.entries(whole)) await site.write(name, text)
}

function rows(count: number, row: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => `${row(index)}\n`).join('')
}

/** The first half of a file, up to the first place behind its middle that the pattern matches. */
function cut(file: File, behind: RegExp): string {
  const text = whole[file]
  const middle = Math.floor(text.length / 2)
  const match = behind.exec(text.slice(middle))
  if (match === null) throw new Error(`there is no ${behind} in the second half of ${file}`)
  return text.slice(0, middle + match.index + match[0].length)
}

const MID_ROW = /\n[ug]\d+,[ug]\d/
const ROW_END = /\n/
const MID_QUOTES = /\n.*"Søren/

test.each<[string, File, string, RegExp]>([
  [
    'cut in the middle of a row',
    'users.csv',
    cut('users.csv', MID_ROW),
    /line \d+: the last row has no line end/,
  ],
  [
    'cut in the middle of quotes',
    'users.csv',
    cut('users.csv', MID_QUOTES),
    /quote is opened and never closed/,
  ],
  ['with another header', 'users.csv', whole['users.csv'].replace('mail', 'e-mail'), /has no column "mail"/],
  ['cut in the middle of a row', 'members.csv', cut('members.csv', MID_ROW), /the last row has no line end/],
  ['empty', 'groups.csv', '', /groups\.csv is empty/],
])('a file that is %s (%s) deletes nothing, and one sentence says why', async (_, file, text, words) => {
  await site.write(file, text)
  await expectFailure(words)
})

test('a missing file of the members deletes nothing', async () => {
  await rm(join(site.dir, 'members.csv'))
  await expectFailure(/cannot be read: it does not exist/)
})

test.each<[string, File, string, string]>([
  ['cut at the end of a row', 'users.csv', cut('users.csv', ROW_END), 'source-shrunk-users'],
  ['only its header', 'users.csv', 'id,mail,name\n', 'min-source-users'],
  ['cut at the end of a row', 'groups.csv', cut('groups.csv', ROW_END), 'source-shrunk-groups'],
  ['cut at the end of a row', 'members.csv', cut('members.csv', ROW_END), 'max-delete-percent-memberships'],
])('a file that is %s (%s) looks whole, and a guard holds it', async (_, file, text, guard) => {
  await site.write(file, text)
  const ended = await withoutWrites()
  expect(ended).toMatchObject({ code: 3, stderr: '' })
  expect(ended.stdout).toContain(guard)
})

test('a row that cannot be understood is named, and its run deletes nothing', async () => {
  const withoutLast = whole['users.csv'].replace(/u199,.*\n/, '')
  await site.write('users.csv', withoutLast.replace('"Sørensen ""Bo"", Nr. 7"', '"Sørensen "Bo", Nr. 7"'))
  const ended = await withoutWrites()
  expect(ended).toMatchObject({ code: 4, stderr: '' })
  expect(ended.stdout).toContain('users.csv, row 9: column "name": there is text after a closing quote')
})

test('the directory is as it was, and the whole files change nothing', async () => {
  const seen = await readService({ ...FIXTURE, baseUrl: service.baseUrl })
  expect([seen.users.size, seen.groups.size]).toEqual([PEOPLE, GROUPS])
  expect(seen.users.get('u7')).toEqual({ name: 'Sørensen "Bo", Nr. 7', email: 'u7@example.org' })
  for (const { members } of seen.groups.values()) expect(members).toHaveLength(PEOPLE / GROUPS)
  expect(await withoutWrites()).toMatchObject({ code: 0, stderr: '' })
})

async function expectFailure(words: RegExp): Promise<void> {
  const { code, stdout, stderr } = await withoutWrites()
  expect(code).toBe(1)
  expect(stderr).toMatch(/^corp: run \d+ failed: [^\n]+\n$/)
  expect(stderr).toMatch(words)
  expect(`${stdout}${stderr}`).not.toMatch(/\n\s+at |Error:/)
}

/** A sync that asks the service for nothing but GET. */
async function withoutWrites(): Promise<Awaited<ReturnType<Site['run']>>> {
  const before = (await service.requests()).length
  const ended = await site.run('sync', 'corp')
  const requests = (await service.requests()).slice(before)
  expect(requests.filter(({ method }) => method !== 'GET')).toEqual([])
  return ended
}
