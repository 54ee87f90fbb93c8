import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { examplesOf } from '../../../../src/core/notice.ts'
import type { CsvSourceOptions } from '../../../../src/source/csv/options.ts'
import { NEVER, namesOf, read, refusal, sourceOf, usersOf, write } from '../../../support/csv-source.ts'
import { type TempDir, tempDir } from '../../../support/temp.ts'
import { statesOf } from '../../../support/states-of.ts'

let dir: TempDir

beforeEach(async () => {
  dir = await tempDir()
})

afterEach(() => dir[Symbol.asyncDispose]())

const at = (name: string) => join(dir.path, name)

test('the files of a glob are read in the order of their names, each with its own header', async () => {
  await write(dir.path, {
    'users-b.csv': 'name,id,mail,more\nBo,2,b@x,\n',
    'users-a.csv': 'id,mail,name\n1,a@x,Ann\n',
    'other.csv': 'id,mail,name\n9,z@x,Zed\n',
  })
  const { users } = await read(usersOf(dir.path, { path: at('users-*.csv') }))
  expect([...users.values()].map(({ id, name, from }) => [id, name, from])).toEqual([
    ['1', 'Ann', 'users-a.csv, row 2'],
    ['2', 'Bo', 'users-b.csv, row 2'],
  ])
})

test('a list is read in its order, and a file that it names twice once', async () => {
  await write(dir.path, { 'a.csv': 'id,mail,name\n1,a@x,Ann\n', 'b.csv': 'id,mail,name\n2,b@x,Bo\n' })
  const snapshot = await read(usersOf(dir.path, { path: [at('b.csv'), at('*.csv')] }))
  expect(namesOf(snapshot)).toEqual(['Bo', 'Ann'])
  expect(snapshot.notices).toEqual([])
})

test('files of one name are told apart by their folders', async () => {
  for (const [folder, name] of [
    ['north', 'Ann'],
    ['south', 'Bo'],
  ] as const) {
    await mkdir(at(folder))
    await write(at(folder), { 'users.csv': `id,mail,name\n1,a@x,${name}\n` })
  }
  const { users, notices } = await read(usersOf(dir.path, { path: at('*/users.csv') }))
  expect(users.size).toBe(0)
  const [north, south] = ['north', 'south'].map((folder) => `${at(`${folder}/users.csv`)}, row 2`) as [
    string,
    string,
  ]
  expect(notices).toMatchObject([
    { code: 'duplicate-id', params: { from: north, others: examplesOf([south]) } },
    { code: 'duplicate-id', params: { from: south, others: examplesOf([north]) } },
  ])
})

test('a glob that matches nothing is an error, and so is a missing file of a list', async () => {
  await write(dir.path, { 'a.csv': 'id,mail,name\n' })
  expect(await refusal(read(usersOf(dir.path, { path: at('users-*.csv') })))).toEqual({
    code: 'source-unreachable',
    message: `users.path: no file matches ${at('users-*.csv')}; is the export there, and may this user see it?`,
  })
  const { code, message } = await refusal(read(usersOf(dir.path, { path: [at('a.csv'), at('b.csv')] })))
  expect(code).toBe('source-unreachable')
  expect(message).toContain(`${at('b.csv')} (users.path) cannot be read: it does not exist`)
})

test('a file whose name only looks like a glob is that file', async () => {
  await write(dir.path, {
    'users[1].csv': 'id,mail,name\n1,a@x,Ann\n',
    'users1.csv': 'id,mail,name\n2,b@x,Bo\n',
  })
  expect(namesOf(await read(usersOf(dir.path, { path: at('users[1].csv') })))).toEqual(['Ann'])
})

test('the files that prove others are none of the glob', async () => {
  await write(dir.path, { users: 'id,mail,name\n1,a@x,Ann\n', 'users.rows': '1\n' })
  expect(namesOf(await read(usersOf(dir.path, { path: at('users*'), rows: true })))).toEqual(['Ann'])
})

test.each([
  ['a tab', '\t', '"', 'id\tmail\tname\n1\ta@x\t"Ann\tB"\n', 'Ann\tB'],
  ['a bar and apostrophes', '|', "'", "id|mail|name\n1|a@x|'Ann|''B\"'\n", 'Ann|\'B"'],
  ['no quote at all', ';', null, 'id;mail;name\n1;a@x;"Ann" O\'B\n', '"Ann" O\'B'],
])('the values are taken apart by %s', async (_, delimiter, quote, content, name) => {
  await write(dir.path, { 'users.csv': content })
  expect(namesOf(await read(usersOf(dir.path, { delimiter, quote })))).toEqual([name])
})

test('neither case nor the blanks around a name matter in a header', async () => {
  await write(dir.path, { 'users.csv': ' ID,"E-Mail ",FullName\n1,a@x,Ann\n' })
  const map = { external_id: 'Id', email: 'e-mail', name: '{FULLNAME}' }
  const { users } = await read(usersOf(dir.path, { map }))
  expect(users.get('1')).toMatchObject({ email: 'a@x', name: 'Ann' })
})

test.each([
  [
    'id,Mail,mail,name',
    'users.map: users.csv has more than one column "mail"; its columns are "id", "Mail", "mail", "name"',
  ],
  [
    'id,post,title',
    'users.map: users.csv has none of the columns "mail", "name"; its columns are "id", "post", "title"',
  ],
  [
    'id|mail|name',
    'users.map: users.csv has none of the columns "id", "mail", "name"; its columns are "id|mail|name"; ' +
      'try users.delimiter "|"',
  ],
])('the header %j is refused', async (header, message) => {
  await write(dir.path, { 'users.csv': `${header}\n` })
  expect(await refusal(read(usersOf(dir.path)))).toEqual({ code: 'config-invalid', message })
})

function withColumn(groups: CsvSourceOptions['groups'] & { column: string }): CsvSourceOptions {
  return { ...usersOf(dir.path, { delimiter: ',' }), groups }
}

test('a column of the users names their groups', async () => {
  await write(dir.path, {
    'users.csv': 'id,mail,name,Teams\n1,a@x,Ann,ops; dev\n2,b@x,Bo,dev;;dev\n3,c@x,Cy,\n4,d@x,Di,Ops\n',
  })
  const source = sourceOf(withColumn({ column: 'teams', separator: ';', name: 'Team {teams}' }))
  const { groups, covers, seen } = await source.read(NEVER)
  expect([...groups.values()].map(({ id, name, members }) => [id, name, members])).toEqual([
    ['ops', 'Team ops', ['1']],
    ['dev', 'Team dev', ['1', '2']],
    ['Ops', 'Team Ops', ['4']],
  ])
  expect(covers).toEqual({ groups: true, members: true })
  expect(new Set(seen.group)).toEqual(new Set(['ops', 'dev', 'Ops']))
  expect(await statesOf(source.readIds('group', ['dev', 'hr'], NEVER))).toEqual(
    new Map([
      ['dev', 'present'],
      ['hr', 'absent'],
    ]),
  )
})

test('groups that a formula could not find are unknown, and not a group of that name', async () => {
  await write(dir.path, { 'users.csv': 'id,mail,name,teams\n1,a@x,Ann,ops\n2,b@x,Bo,#N/A\n' })
  const { groups, users, notices, unreadable } = await read(withColumn({ column: 'teams', separator: ';' }))
  expect([[...groups.keys()], [...users.keys()], unreadable]).toEqual([['ops'], ['1'], 1])
  const fault = 'column "teams": "#N/A" is an error of a spreadsheet, not an id'
  expect(notices.map(({ params }) => params)).toEqual([{ from: 'users.csv, row 3', fault }])
})

test('a group of a column is found by its text or its name', async () => {
  await write(dir.path, {
    'users.csv': 'id,mail,name,teams\n1,a@x,Ann,ops;dev\n2,b@x,Bo,dev\n3,c@x,Cy,dev\n',
  })
  const source = sourceOf(withColumn({ column: 'teams', separator: ';', name: '= "Team " + upper(teams)' }))
  const find = async (who: string) => (await source.find({ who, kinds: ['group'] }, NEVER)).entries
  const [trace] = await find('dev')
  expect(trace).toMatchObject({
    kind: 'group',
    ids: ['dev'],
    from: 'column "teams"',
    fields: [{ field: 'name', value: 'Team DEV' }],
    members: 3,
  })
  expect(trace?.fields[0]?.steps[0]?.text).toBe('teams has "dev"')
  expect(await find('team dev')).toEqual([trace])
  expect(await find('dev;ops')).toEqual([])
})

test('without a separator the whole text is one group', async () => {
  await write(dir.path, { 'users.csv': 'id,mail,name,team\n1,a@x,Ann,R&D; Lab\n' })
  const { groups } = await read(withColumn({ column: 'team' }))
  expect([...groups.values()].map(({ id, name }) => [id, name])).toEqual([['R&D; Lab', 'R&D; Lab']])
})

test('without its column the file is refused, and a row that cannot be read proves no group absent', async () => {
  const options = withColumn({ column: 'teams', separator: ';' })
  await write(dir.path, { 'users.csv': 'id,mail,name\n1,a@x,Ann\n' })
  expect((await refusal(read(options))).message).toContain('groups.column: users.csv has no column "teams"')
  await write(dir.path, { 'users.csv': 'id,mail,name,teams\n1,a@x,Ann\n' })
  expect((await read(options)).unreadable).toBe(1)
  expect(await refusal(sourceOf(options).readIds('group', ['g'], NEVER))).toMatchObject({
    code: 'source-incomplete',
  })
})

test.each<[string, () => CsvSourceOptions]>([
  [
    'groups.name: the name of a group can only be made of "teams", not of "mail"',
    () => withColumn({ column: 'teams', name: '{mail}' }),
  ],
  ['users.quote: it is also the delimiter', () => usersOf(dir.path, { quote: ',' })],
  [
    'users.trailer.pattern: "END (" is not a regular expression of RE2 (',
    () => usersOf(dir.path, { trailer: { pattern: 'END (' } }),
  ],
  [
    'users.trailer.pattern: "END(?!x)" is not a regular expression of RE2 (',
    () => usersOf(dir.path, { trailer: { pattern: 'END(?!x)' } }),
  ],
  [
    'users.encoding: "utf-99" is not a known encoding; write utf8, windows-1250, another WHATWG label, or auto',
    () => usersOf(dir.path, { encoding: 'utf-99' }),
  ],
  [
    'members: there is a file of members and groups.column, so leave one of them out',
    () => ({
      ...withColumn({ column: 'teams' }),
      members: { ...usersOf(dir.path).users, map: { group: 'g', user: 'u' } },
    }),
  ],
  [
    'members.map: group and user are both the column "GID"; name the two different columns that have their ids',
    () => ({
      ...usersOf(dir.path),
      groups: { ...usersOf(dir.path).users, map: { external_id: 'gid', name: 'title' } },
      members: { ...usersOf(dir.path).users, map: { group: 'gid', user: 'GID' } },
    }),
  ],
])('%s', (message, options) => {
  expect(() => sourceOf(options())).toThrow(message)
})

test('a probe names several files, and doubts their text', async () => {
  await write(dir.path, { 'u1.csv': 'id,mail,name\n1,a@x,Ann\n', 'u2.csv': 'id,mail,name\n2,b@x,JÃ¼rg\n' })
  const lines = await sourceOf(usersOf(dir.path, { path: at('u?.csv') })).probe(NEVER)
  const details = lines.map(({ level, detail }) => `${level}: ${detail}`).join('\n')
  expect(details).toContain(`ok: ${at('u?.csv')}: 2 rows in 2 files with the columns id, mail, name`)
  expect(details).toContain('warn: u2.csv, line 2, character 8: "Ã¼" looks like')
})
