import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CsvSourceOptions } from '../../../../src/source/csv/options.ts'
import { NEVER, read, refusal, sourceOf, usersOf, write } from '../../../support/csv-source.ts'
import { type TempDir, tempDir } from '../../../support/temp.ts'

let dir: TempDir

beforeEach(async () => {
  dir = await tempDir()
})

afterEach(() => dir[Symbol.asyncDispose]())

const HEADER = 'id;mail;name\n'

function options(more: Partial<CsvSourceOptions['users']> = {}): CsvSourceOptions {
  return usersOf(dir.path, { delimiter: ';', encoding: 'auto', ...more })
}

async function said(content: string | Buffer, more: Partial<CsvSourceOptions['users']> = {}) {
  await write(dir.path, { 'users.csv': content })
  return refusal(read(options(more)))
}

/** The ids that were read, and the faults of the others. */
async function seen(content: string | Buffer) {
  await write(dir.path, { 'users.csv': content })
  const { users, unreadable, notices } = await read(options())
  return { ids: [...users.keys()], unreadable, faults: notices.map(({ params }) => params) }
}

test.each([
  ['a first line for Excel', `sep=;\r\n${HEADER}1;a@x;Ann\r\n`],
  ['a byte order mark and a quoted one', `\ufeff"sep=;"\r\n${HEADER}1;a@x;Ann\r\n`],
  ['empty rows above the header and below the last row', `\n;;\n${HEADER}1;a@x;Ann\n;;\n  \n\n`],
  ['decimal commas', 'id;mail;name;share\n1;a@x;Ann;0,5\n'],
  ['two columns of one name that nobody asks for', 'id;mail;name;note;Note\n1;a@x;Ann;x;y\n'],
  ['characters in the header that cannot be seen', `\u2060id;\u00a0mail;na\u00adme\n1;a@x;Ann\n`],
])('%s: the rows are read', async (_, content) => {
  expect(await seen(content)).toEqual({ ids: ['1'], unreadable: 0, faults: [] })
})

test.each<[string, string | Buffer, string, string]>([
  [
    'a first line that says another delimiter',
    'sep=,\r\nid,mail,name\r\n1,a@x,Ann\r\n',
    'config-invalid',
    'users.delimiter: is ";", and the first line of users.csv says ","; set it to ","',
  ],
  [
    'another delimiter',
    'id\tmail\tname\n1\ta@x\tAnn\n',
    'config-invalid',
    'users.map: users.csv has none of the columns "id", "mail", "name"; its columns are "id\tmail\tname"; try ' +
      'users.delimiter "\\t"',
  ],
  [
    'a title above the header',
    `Staff of 2026;;\n${HEADER}1;a@x;Ann\n`,
    'config-invalid',
    'users.map: users.csv has none of the columns "id", "mail", "name"; its columns are "Staff of 2026", "", ""',
  ],
  [
    'no line end behind the last row',
    `${HEADER}1;a@x;Ann\n2;b@x;Bo`,
    'source-incomplete',
    'users.csv, line 3: the last row has no line end, so the file may have been cut off; let the exporter end every row ' +
      'with a line break, or write a trailer or a sha256 file',
  ],
  [
    'a quote that is never closed',
    `${HEADER}1;"a@x;Ann\n2;b@x;Bo\n`,
    'source-incomplete',
    'users.csv, row 2: column "mail": a quote is opened and never closed; the file cannot be understood',
  ],
  ['a byte order mark only', '\ufeff', 'source-incomplete', 'users.csv is empty: there is not even a header'],
  [
    'a workbook',
    Buffer.from('PK\x03\x04\x14\0\x06\0\x08\0', 'latin1'),
    'source-incomplete',
    'users.csv is an Excel workbook or a ZIP archive, not CSV; save it as CSV (gzip is allowed)',
  ],
])('with %s the file is refused, and one sentence says what to do', async (_, content, code, message) => {
  expect(await said(content)).toEqual({ code, message })
})

test.each([
  [
    'a zero byte',
    '2;b@x;B\0o',
    'column "name": there is a zero byte in it; is the file damaged, or its encoding wrong?',
  ],
  [
    'a number that was shortened for its id',
    '1,23E+05;b@x;Bo',
    'column "id": "1,23E+05" is a long number that a spreadsheet has shortened; let it export the column as text',
  ],
  [
    'a formula that failed for its id',
    '#NV;b@x;Bo',
    'column "id": "#NV" is an error of a spreadsheet, not an id',
  ],
  [
    'a formula instead of its id',
    '="0002";b@x;Bo',
    'column "id": there is a quote in the middle of a value that does not begin with one',
  ],
  ['the header again', '\ufeffid;mail;name', 'it is the header again; were two files put together?'],
])('a row with %s is named, and the others go on', async (_, row, problem) => {
  expect(await seen(`${HEADER}1;a@x;Ann\n${row}\n3;c@x;Cy\n`)).toEqual({
    ids: ['1', '3'],
    unreadable: 1,
    faults: [{ from: 'users.csv, row 3', fault: problem }],
  })
})

test('the error of a spreadsheet is no name, and is told', async () => {
  await write(dir.path, { 'users.csv': 'id,mail,name\n1,a@x,#N/A\n2,#REF!,"C#"\n' })
  const { users, notices } = await read(usersOf(dir.path))
  expect([...users.values()].map(({ id, name, email }) => [id, name, email])).toEqual([
    ['1', undefined, 'a@x'],
    ['2', 'C#', undefined],
  ])
  expect(notices.filter(({ code }) => code === 'value-failed')).toEqual([
    expect.objectContaining({
      id: '1',
      params: {
        from: 'users.csv, row 2',
        fault: 'column "name": "#N/A" is an error of a spreadsheet, not a value',
      },
    }),
    expect.objectContaining({
      id: '2',
      params: {
        from: 'users.csv, row 3',
        fault: 'column "mail": "#REF!" is an error of a spreadsheet, not a value',
      },
    }),
  ])
})

test('an unnamed column at the end is not missed', async () => {
  expect(await seen('id;mail;name;\n1;a@x;Ann;\n2;b@x;Bo\n')).toEqual({
    ids: ['1', '2'],
    unreadable: 0,
    faults: [],
  })
})

test('a column without a name is missed by its number', async () => {
  await write(dir.path, { 'users.csv': 'mail;;name;id\na@x;;Ann;1\nb@x\n' })
  const { notices } = await read(options())
  expect(notices.map(({ params }) => params)).toEqual([
    { from: 'users.csv, row 3', fault: '1 values instead of 4, value 2 is missing' },
  ])
})

test('ids that only look alike are different ones, and what cannot be seen is doubted', async () => {
  const rows = ['7;a@x;Ann', '007;b@x;Bo', '\u200b7;c@x;Cy', 'E5;d@x;Di', '1e5;e@x;Ed', '#7!x;f@x;Fi']
  expect(await seen(`${HEADER}${rows.join('\n')}\n`)).toEqual({
    ids: ['7', '007', '\u200b7', 'E5', '1e5', '#7!x'],
    unreadable: 0,
    faults: [
      {
        from: 'users.csv, line 4, character 1',
        fault:
          'there is the invisible character U+200B, and it is part of the value (only the first one is reported)',
      },
    ],
  })
})

test('a shortened id in the members is named, and proves nobody absent', async () => {
  await write(dir.path, {
    'users.csv': `${HEADER}1;a@x;Ann\n`,
    'groups.csv': 'id;title\ng;G\n2E+10;H\n',
    'members.csv': 'group;user\ng;1\ng;1,5E+07\n',
  })
  const file = (name: string) => ({ path: join(dir.path, name), delimiter: ';', encoding: 'utf8' as const })
  const source = sourceOf({
    ...options(),
    groups: { ...file('groups.csv'), map: { external_id: 'id', name: 'title' } },
    members: { ...file('members.csv'), map: { group: 'group', user: 'user' } },
  })
  const { notices, groups } = await source.read(NEVER)
  expect(groups.get('g')?.members).toEqual(['1'])
  const long = 'is a long number that a spreadsheet'
  expect(notices.map(({ params }) => params)).toEqual([
    { from: 'groups.csv, row 3', fault: expect.stringContaining(`column "id": "2E+10" ${long}`) },
    { from: 'members.csv, row 3', fault: expect.stringContaining(`column "user": "1,5E+07" ${long}`) },
  ])
  expect((await refusal(source.readIds('group', ['x'], NEVER))).message).toContain(
    'no entry can be proved absent, because of groups.csv, row 3',
  )
})

test('the files of a glob may differ in encoding and header, each named when it is wrong', async () => {
  await write(dir.path, {
    'a.csv': `${HEADER}1;a@x;Zoë\n`,
    'b.csv': Buffer.from('NAME;Id;mail;more\nZoë;2;b@x;m\n', 'utf16le').swap16(),
    'c.csv': Buffer.from(`\ufeff${HEADER}3;c@x;Zoë\n`, 'utf16le'),
  })
  const all = options({ path: join(dir.path, '*.csv') })
  const { users } = await read(all)
  expect([...users.values()].map(({ id, name, from }) => [id, name, from])).toEqual([
    ['1', 'Zoë', 'a.csv, row 2'],
    ['2', 'Zoë', 'b.csv, row 2'],
    ['3', 'Zoë', 'c.csv, row 2'],
  ])
  await write(dir.path, { 'b.csv': 'name;mail\nBo;b@x\n' })
  expect((await refusal(read(all))).message).toBe(
    'users.map: b.csv has no column "id"; its columns are "name", "mail"',
  )
  await write(dir.path, { 'b.csv': '' })
  expect((await refusal(read(all))).message).toBe('b.csv is empty: there is not even a header')
})

test.each<[string, (digest: string) => string | Buffer]>([
  [
    "a path of Windows among others'",
    (digest) => `${'0'.repeat(64)} *C:\\out\\groups.csv\r\n${digest} *C:\\out\\users.csv\r\n`,
  ],
  ["PowerShell's redirection", (digest) => Buffer.from(`\ufeff${digest}  users.csv\r\n`, 'utf16le')],
  [
    "certutil's output",
    (digest) => `SHA256 hash of users.csv:\r\n${digest}\r\nCertUtil: -hashfile command completed\r\n`,
  ],
])('a digest is found in %s', async (_, file) => {
  const text = `${HEADER}1;a@x;Ann\n`
  const digest = createHash('sha256').update(text).digest('hex')
  await write(dir.path, { 'users.csv': text, 'users.csv.sha256': file(digest) })
  expect((await read(options({ sha256: true }))).users.size).toBe(1)
  await write(dir.path, { 'users.csv': `${text}2;b@x;Bo\n` })
  expect((await refusal(read(options({ sha256: true })))).code).toBe('source-incomplete')
})
