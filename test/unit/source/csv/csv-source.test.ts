import { execFile } from 'node:child_process'
import { appendFile, mkdtemp, open, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect, promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { examplesOf } from '../../../../src/core/notice.ts'
import { DirsyncdError } from '../../../../src/base/errors.ts'
import { silentLog } from '../../../../src/base/log/log.ts'
import type { SourceSnapshot } from '../../../../src/core/entries/snapshot.ts'
import { createCsvSource } from '../../../../src/source/csv/csv-source.ts'
import { readCsv } from '../../../../src/source/csv/read-csv.ts'
import type { CsvSourceOptions } from '../../../../src/source/csv/options.ts'
import type { FoundEntry, Source } from '../../../../src/source/source.ts'
import { PATIENCE } from '../../../support/patience.ts'

const NEVER = new AbortController().signal
let directory = ''

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dirsyncd-csv-'))
})

afterEach(async () => {
  await rm(directory, { recursive: true, force: true })
})

const pathOf = (name: string) => join(directory, name)

function optionsFor(delimiter = ';'): CsvSourceOptions {
  const file = (name: string) => ({ path: pathOf(name), delimiter, encoding: 'utf8' as const })
  return {
    users: { ...file('users.csv'), map: { external_id: 'id', email: 'mail', name: '{first} {last}' } },
    groups: { ...file('groups.csv'), map: { external_id: 'id', name: 'title' } },
    members: { ...file('members.csv'), map: { group: 'group', user: 'user' } },
  }
}

function usersOnly(delimiter = ';'): Source {
  return createCsvSource({ users: optionsFor(delimiter).users }, silentLog())
}

async function readUsers(content: string | Buffer, delimiter = ';'): Promise<SourceSnapshot> {
  await writeFile(pathOf('users.csv'), content)
  return usersOnly(delimiter).read(NEVER)
}

async function refusal(content: string | Buffer): Promise<DirsyncdError> {
  const outcome = await readUsers(content).catch((error: unknown) => error)
  if (outcome instanceof DirsyncdError) return outcome
  return expect.fail(`this was read without an error of ours: ${inspect(outcome)}`)
}

const HEADER = 'id;mail;first;last;note\n'
import { statesOf } from '../../../support/states-of.ts'

test('users are read, with and without a byte order mark, and with blanks in the header', async () => {
  for (const header of [
    HEADER,
    `\ufeff${HEADER}`,
    // A quote that does not come first is none, and so the mark must be gone before anybody looks for quotes.
    `\ufeff"id";"mail";"first";"last";"note"\n`,
    'id ; mail; first ;last;note\n',
    HEADER.replace('\n', '\r\n'),
  ]) {
    const snapshot = await readUsers(`${header}1;a@x;Zoë;O'Brien;\n`)
    const user = {
      id: '1',
      email: 'a@x',
      name: "Zoë O'Brien",
      employeeId: undefined,
      from: 'users.csv, row 2',
    }
    expect(snapshot.users.get('1')).toEqual(user)
  }
})

test('quotes, delimiters and doubled quotes belong to a value', async () => {
  const snapshot = await readUsers('id,mail,first,last\n1,a@x,"Anna, Dr.","""Bo"""\n', ',')
  expect(snapshot.users.get('1')?.name).toBe('Anna, Dr. "Bo"')
})

test('ids are taken byte for byte', async () => {
  const snapshot = await readUsers(`${HEADER} 1;;;;\n1;;;;\n01;;;;\n__proto__;;;;\n`)
  expect([...snapshot.users.keys()]).toEqual([' 1', '1', '01', '__proto__'])
})

test('the last column keeps no carriage return, whatever the line ends', async () => {
  const snapshot = await readUsers('mail;first;last;id\na@x;A;B;1\r\nb@x;A;B;2\nc@x;A;B;3\r')
  expect([...snapshot.users.keys()]).toEqual(['1', '2', '3'])
})

test('empty rows and rows of delimiters are nobody', async () => {
  const snapshot = await readUsers(`${HEADER}\n;;;;\n1;;;;\n  \n\n`)
  expect([...snapshot.users.values()].map((user) => user.from)).toEqual(['users.csv, row 4'])
  expect(snapshot.unreadable).toBe(0)
})

test('a value of several lines shifts the line and not the row', async () => {
  for (const end of ['\n', '\r\n']) {
    const content = `${HEADER}1;;;;"one\ntwo"\n2;;;;\n3;;;;\n`.replaceAll('\n', end)
    const snapshot = await readUsers(content)
    expect([...snapshot.users.values()].map((user) => user.from)).toEqual([
      'users.csv, row 2',
      'users.csv, row 3 (line 4)',
      'users.csv, row 4 (line 5)',
    ])
  }
})

test.each([
  ['too few values', '2', '1 values instead of 5, "mail" is missing'],
  ['too many values', '2;b@x;B;B;;', '6 values instead of 5'],
  ['no id', ';b@x;B;B;', 'there is no id (external_id is "id")'],
  ['an id that leaves its path', '..;b@x;B;B;', 'the id ".." cannot be part of a URL path'],
  ['a quote in the middle', '2;b@x;B "x" C;B;', 'column "first": there is a quote in the middle'],
  ['text behind a quote', '2;"b"@x;B;B;', 'column "mail": there is text after a closing quote'],
])('a row with %s is unreadable, and the others go on', async (_, row, fault) => {
  const snapshot = await readUsers(`${HEADER}1;a@x;A;A;\n${row}\n3;c@x;C;C;\n`)
  expect([...snapshot.users.keys()]).toEqual(['1', '3'])
  expect(snapshot.unreadable).toBe(1)
  const from = 'users.csv, row 3'
  expect(snapshot.notices[0]?.params).toEqual({ from, fault: expect.stringContaining(fault) })
  expect(snapshot.users.get('3')?.from).toBe('users.csv, row 4')
})

test('a row may lack the last columns, as Excel leaves them out, and has nothing in them', async () => {
  const snapshot = await readUsers(`${HEADER}1;a@x;A;A\n2;b@x\n3;\n`)
  expect([...snapshot.users.values()].map(({ id, email }) => [id, email])).toEqual([
    ['1', 'a@x'],
    ['2', 'b@x'],
    ['3', undefined],
  ])
  expect([snapshot.unreadable, snapshot.notices]).toEqual([0, []])
})

test('a last row that lacks columns and has no line end is a file that was cut off', async () => {
  const reading = readUsers(`${HEADER}1;a@x;A;A;\n2;"b@x"`)
  await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
})

test.each([
  ['a mapped column', '2;"b@x;B;B;\n3;c@x";C;C;\n'],
  ['a column that nobody asked for', '2;b@x;B;B;"\n3;c@x;C;C;"\n'],
])('a missing quote that swallows a row in %s is unreadable', async (_, rows) => {
  const snapshot = await readUsers(`${HEADER}1;a@x;A;A;\n${rows}4;d@x;D;D;\n`)
  expect([...snapshot.users.keys()]).toEqual(['1', '4'])
  expect(snapshot.unreadable).toBe(1)
  expect(snapshot.notices[0]?.params).toMatchObject({
    fault: expect.stringContaining('is a quote missing?'),
  })
})

test('two rows of one id are both skipped and named', async () => {
  const snapshot = await readUsers(`${HEADER}1;;;;\n2;;;;\n1;;;;\n`)
  expect([...snapshot.users.keys()]).toEqual(['2'])
  expect(new Set(snapshot.seen.user)).toEqual(new Set(['1', '2']))
  const [first, second] = ['users.csv, row 2', 'users.csv, row 4'] as const
  expect(snapshot.notices.map(({ params }) => params)).toEqual([
    { from: first, others: examplesOf([second]) },
    { from: second, others: examplesOf([first]) },
  ])
})

test('a file that is cut anywhere but at the end of a row is refused', async () => {
  const whole = Buffer.from(`${HEADER}1;a@x;Zoë;"O'Brien";ab\n2;b@x;Bo;"c;d ""x""";"two\nlines"\n`)
  const rowEnds = new Set([HEADER.length, whole.indexOf('\n2;') + 1, whole.length, whole.length - 1])
  for (let end = 0; end <= whole.length; end += 1) {
    if (rowEnds.has(end)) continue
    const error = await refusal(whole.subarray(0, end))
    expect([end, error.code]).toEqual([end, 'source-incomplete'])
  }
  for (const end of rowEnds) await readUsers(whole.subarray(0, end))
})

test.each([
  ['nothing', '', 'is empty: there is not even a header'],
  [
    'a quote that is never closed',
    `${HEADER}1;"a@x;A;A;\n2;b@x;B;B;\n`,
    'a quote is opened and never closed',
  ],
  [
    'Latin-1',
    Buffer.from(`${HEADER}1;a@x;A;A;\n2;b@x;Zo\xeb;B;\n`, 'latin1'),
    'users.csv, line 3, character 9: this is not utf-8',
  ],
  ['UTF-16', Buffer.from(`\ufeff${HEADER}`, 'utf16le'), 'it looks like utf-16le'],
])('a file of %s is incomplete', async (_, content, message) => {
  const error = await refusal(content)
  expect(error).toMatchObject({ code: 'source-incomplete' })
  expect(error.message).toContain(message)
})

test('a file with only a header is an empty company, which the guards judge', async () => {
  expect((await readUsers(HEADER)).users.size).toBe(0)
})

test('a file that is not there cannot be read', async () => {
  await expect(usersOnly().read(NEVER)).rejects.toMatchObject({ code: 'source-unreachable' })
  await expect(usersOnly().read(NEVER)).rejects.toThrow(
    `${pathOf('users.csv')} (users.path) cannot be read: it does not exist`,
  )
})

test('a device is no file', async () => {
  const source = createCsvSource({ users: { ...optionsFor().users, path: '/dev/zero' } }, silentLog())
  await expect(source.read(NEVER)).rejects.toMatchObject({
    code: 'source-unreachable',
    message: '/dev/zero (users.path) cannot be read: it is not a file',
  })
})

test('a pipe is no file, and nobody waits for what it may bring', async () => {
  await promisify(execFile)('mkfifo', [pathOf('users.csv')])
  const reading = usersOnly()
    .read(NEVER)
    .catch((error: unknown) => error)
  const outcome = await Promise.race([reading, delay(PATIENCE.timeout, 'it waits', { ref: false })])
  // Lets go who waits for a writer.
  await using _writer = await open(pathOf('users.csv'), 'r+')
  expect(outcome).toMatchObject({
    code: 'source-unreachable',
    message: `${pathOf('users.csv')} (users.path) cannot be read: it is not a file`,
  })
})

test('a directory is no file', async () => {
  const users = { ...optionsFor().users, path: directory }
  const source = createCsvSource({ users }, silentLog())
  await expect(source.read(NEVER)).rejects.toMatchObject({ code: 'source-unreachable' })
})

test.each([
  [
    'is missing',
    'id;first;last\n',
    'users.map: users.csv has no column "mail"; its columns are "id", "first", "last"',
  ],
  ['is there twice', 'id;mail;first;last;mail\n', 'users.map: users.csv has more than one column "mail"'],
])('a column that %s is a wrong configuration', async (_, header, message) => {
  const error = await refusal(header)
  expect(error).toMatchObject({ code: 'config-invalid' })
  expect(error.message).toContain(message)
})

test('a file that changes while it is read is incomplete', async () => {
  const path = pathOf('users.csv')
  await writeFile(path, HEADER + '1;a@x;A;A;\n'.repeat(50_000))
  let grown: Promise<void> | undefined
  const input = { path, delimiter: ';', columns: ['id'], key: 'users' }
  const reading = readCsv(input, NEVER, {
    onUnreadable: () => undefined,
    onRow: () => {
      grown ??= appendFile(path, '2;b@x;B;B;\n')
    },
  })
  await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
  await grown
})

test('a read that is told to stop stops', async () => {
  await writeFile(pathOf('users.csv'), HEADER + '1;a@x;A;A;\n'.repeat(50_000))
  const controller = new AbortController()
  const reading = usersOnly().read(controller.signal)
  controller.abort()
  await expect(reading).rejects.toMatchObject({ code: 'interrupted' })
  await expect(usersOnly().read(AbortSignal.abort())).rejects.toMatchObject({ code: 'interrupted' })
})

test('without files of groups or of members the source says nothing about them', async () => {
  await writeFile(pathOf('users.csv'), `${HEADER}1;;;;\n`)
  await writeFile(pathOf('groups.csv'), 'id;title\ng1;One\n')
  const { users, groups } = optionsFor()
  const usersAlone = await usersOnly().read(NEVER)
  expect(usersAlone.covers).toEqual({ groups: false, members: false })
  const withoutMembers = await createCsvSource({ users, ...(groups && { groups }) }, silentLog()).read(NEVER)
  expect(withoutMembers.covers).toEqual({ groups: true, members: false })
})

test('groups have their members, and strangers are counted by group', async () => {
  await writeFile(pathOf('users.csv'), `${HEADER}1;;;;\n2;;;;\n2;;;;\n3;;;;\n`)
  await writeFile(pathOf('groups.csv'), 'id;title\ng1;One\ng2;Two\ng3;\n')
  await writeFile(pathOf('members.csv'), 'group;user\ng1;3\ng1;1\ng1;3\ng1;2\ng1;9\ng1;8\ng9;1\n;1\n')
  const snapshot = await createCsvSource(optionsFor(), silentLog()).read(NEVER)
  expect([...snapshot.groups.values()].map(({ id, members }) => [id, members])).toEqual([
    ['g1', ['1', '2', '3']],
    ['g2', []],
  ])
  expect(new Set(snapshot.seen.group)).toEqual(new Set(['g1', 'g2', 'g3']))
  const noGroups = { groups: 0, shared: examplesOf([]) }
  expect(snapshot.unreadable).toBe(1)
  expect(
    snapshot.notices.filter(({ kind }) => kind === 'group').map(({ id, code, params }) => [id, code, params]),
  ).toEqual([
    [undefined, 'unreadable', { from: 'members.csv, row 9', fault: 'column "group" is empty' }],
    ['g1', 'unknown-members', { from: 'groups.csv, row 2', ...examplesOf(['8', '9']), ...noGroups }],
    ['g3', 'no-name', { from: 'groups.csv, row 4' }],
    ['g9', 'unknown-members', { from: null, ...examplesOf(['1']), ...noGroups }],
  ])
})

test('the second look reads the file again', async () => {
  await writeFile(pathOf('users.csv'), `${HEADER}1;;;;\n2;;;;\n2;;;;\n`)
  const source = usersOnly()
  await source.read(NEVER)
  await writeFile(pathOf('users.csv'), `${HEADER}2;;;;\n2;;;;\n3;;;;\n`)
  expect(await statesOf(source.readIds('user', ['1', '2', '3', '__proto__'], NEVER))).toEqual(
    new Map([
      ['1', 'absent'],
      ['2', 'present'],
      ['3', 'present'],
      ['__proto__', 'absent'],
    ]),
  )
  expect(await statesOf(source.readIds('group', ['g'], NEVER))).toEqual(new Map([['g', 'present']]))
})

test.each([
  ['is cut off', `${HEADER}1;;;`],
  ['has a row without an id', `${HEADER};x;;;\n`],
  ['has a row that does not parse', `${HEADER}1\n`],
])('a second look at a file that %s proves nobody absent', async (_, content) => {
  await writeFile(pathOf('users.csv'), content)
  await expect(usersOnly().readIds('user', ['1'], NEVER)).rejects.toMatchObject({
    code: 'source-incomplete',
  })
})

test('a probe names the files, their rows and columns, their encoding and age, and what is empty', async () => {
  await writeFile(pathOf('users.csv'), `${HEADER}1;a@x;;;\n2; ;;L;\n`)
  const written = new Date(Date.now() - 26 * 3_600_000)
  await utimes(pathOf('users.csv'), written, written)
  const at = `${written.toISOString().slice(0, 19).replace('T', ' ')}Z`
  expect(await usersOnly().probe(NEVER)).toEqual([
    {
      label: 'users',
      detail: `${pathOf('users.csv')}: 2 rows with the columns id, mail, first, last, note`,
      level: 'ok',
    },
    { label: 'encoding', detail: `utf-8, written ${at}, 26 h ago`, level: 'info' },
    { label: 'users', detail: 'mapped and empty in every row: first', level: 'warn' },
  ])
  await utimes(pathOf('users.csv'), new Date(0), new Date(0))
  expect((await usersOnly().probe(NEVER))[1]).toMatchObject({
    level: 'warn',
    detail: expect.stringMatching(
      /^utf-8, written 1970-01-01 00:00:00Z, \d+ days ago; does the export still run\?$/,
    ),
  })
})

async function find(who: string): Promise<readonly FoundEntry[]> {
  return (await usersOnly().find({ who, kinds: ['user', 'group'] }, NEVER)).entries
}

test('an entry is found by its id, e-mail or name, with how its values came about', async () => {
  await writeFile(pathOf('users.csv'), `${HEADER}1;a@x;A;B;\n2;;;;\n`)
  const [trace] = await find('1')
  expect(trace).toMatchObject({ kind: 'user', ids: ['1'], from: 'users.csv, row 2' })
  expect(trace?.fields.map(({ field, value }) => [field, value])).toEqual([
    ['email', 'a@x'],
    ['name', 'A B'],
    ['employee_id', undefined],
  ])
  for (const who of ['A@X', ' a b', 'B A', 'users.csv, row 2']) expect(await find(who)).toEqual([trace])
  for (const who of ['3', 'A', 'B', '']) expect(await find(who)).toEqual([])
})

test('entries that share an id are all found, by whatever one of them is looked for', async () => {
  await writeFile(pathOf('users.csv'), `${HEADER}1;a@x;A;B;\n2;c@x;C;D;\n1;e@x;E;F;\n`)
  const { entries, snapshot } = await usersOnly().find({ who: 'e@x', kinds: ['user'] }, NEVER)
  expect(entries.map(({ from }) => from)).toEqual(['users.csv, row 2', 'users.csv, row 4'])
  expect(snapshot.notices.map(({ code, id }) => [code, id])).toEqual([
    ['duplicate-id', '1'],
    ['duplicate-id', '1'],
  ])
})

test.each<[string, (options: CsvSourceOptions) => CsvSourceOptions]>([
  [
    'users.map.name: unclosed "{"',
    ({ users }) => ({ users: { ...users, map: { external_id: 'id', name: '{a' } } }),
  ],
  [
    'members: there is a file of members and none of groups',
    ({ users, members }) => ({ users, ...(members && { members }) }),
  ],
])('%s', (message, change) => {
  expect(() => createCsvSource(change(optionsFor()), silentLog())).toThrow(message)
})
