import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { discoverCsv, proposeColumns, proposeGroupColumns } from '../../../../src/source/csv/discover.ts'
import { createFolder } from '../../config/folder.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const signal = new AbortController().signal

async function discover(content: string | Uint8Array, format: object = {}) {
  const folder = await createFolder()
  onTestFinished(() => folder[Symbol.asyncDispose]())
  const path = join(folder.path, 'users.csv')
  await writeFile(path, content)
  return discoverCsv({ path, ...format }, 'users', signal)
}

const ROWS = 'id;Vorname;Nachname;E-Mail;Firma\n7;Jürgen;Müller;j@x.org;X\n8;Ana;Šarić;;X\n'

test('delimiter, encoding and columns', async () => {
  const found = await discover(ROWS)
  expect(found).toMatchObject({ delimiter: ';', encoding: 'utf-8', rows: 2 })
  expect(found.columns).toMatchObject([
    { name: 'id', filled: 2, isUnique: true, hasAddresses: false },
    { name: 'Vorname', filled: 2, isUnique: true, hasAddresses: false },
    { name: 'Nachname', filled: 2, isUnique: true, hasAddresses: false },
    { name: 'E-Mail', filled: 1, isUnique: false, hasAddresses: true },
    { name: 'Firma', filled: 2, isUnique: false, hasAddresses: false },
  ])
  expect(proposeColumns(found)).toEqual({
    id: ['id', 'Vorname', 'Nachname'],
    isIdLikely: true,
    noIds: [],
    email: ['E-Mail'],
    name: ['{Vorname} {Nachname}'],
    employeeId: [],
  })
})

test.for([
  ['a comma', ROWS.replaceAll(';', ','), ','],
  ['a tab', ROWS.replaceAll(';', '\t'), '\t'],
  ['gzip', gzipSync(ROWS), ';'],
  ["Excel's own mark", `sep=;\r\n${ROWS}`, ';'],
  ['UTF-16', Buffer.from(`\ufeff${ROWS}`, 'utf16le'), ';'],
] as const)('with %s', async ([, content, delimiter]) => {
  const found = await discover(content)
  expect([found.delimiter, found.columns.length, found.rows]).toEqual([delimiter, 5, 2])
})

test('a quoted header with another delimiter than a comma', async () => {
  const found = await discover('"id";"Name, first"\n"7";"Ana"\n')
  expect(found).toMatchObject({ delimiter: ';', columns: [{ name: 'id' }, { name: 'Name, first' }], rows: 1 })
})

test('only the beginning of a file is read, so damage at its end is no error', async () => {
  const rows = Array.from({ length: 50_100 }, (_, at) => `${at};a${at}@x.org\n`).join('')
  const found = await discover(`id;mail\n${rows}50100;"damaged\n`)
  expect(found).toMatchObject({ delimiter: ';', rows: 50_000, isCut: true })
  await expect(discover('id;mail\n1;"damaged\n')).rejects.toThrow(/a quote is opened and never closed/)
})

test('an encoding that cannot be found is asked for in the error', async () => {
  const bytes = Buffer.from(ROWS, 'latin1')
  await expect(discover(bytes)).rejects.toThrow(/set the encoding in which this line is right/)
  expect(await discover(bytes, { encoding: 'windows-1252' })).toMatchObject({
    encoding: 'windows-1252',
    rows: 2,
  })
})

test.each([
  ['one of ten', 'email', 9, 1, ['email']],
  ['most, in a column that is called so', 'E-Mail-Adresse', 1, 9, ['E-Mail-Adresse']],
  ['some, in a column with another name', 'contact', 6, 4, ['contact']],
  ['most, in a column with another name', 'contact', 4, 6, []],
  ['all, in a column that is called so', 'mail', 0, 10, []],
])('values that are no addresses: %s', async (_, name, good, bad, expected) => {
  const addresses = Array.from({ length: good }, (_each, at) => `p${at}@a.example`)
  const values = [...addresses, ...Array<string>(bad).fill('nix')]
  const found = await discover(`id,${name}\n${values.map((value, at) => `${at},${value}`).join('\n')}\n`)
  expect(proposeColumns(found).email).toEqual(expected)
})

test('a column that is called as an e-mail is goes before those of other people', async () => {
  const found = await discover(
    'id,manager_email,contact,mail\n1,m@x.org,c@x.org,a@x.org\n2,m@x.org,c@x.org,nix\n',
  )
  expect(proposeColumns(found).email).toEqual(['mail', 'manager_email', 'contact'])
})

test('a file with a header only has nothing to propose as an id', async () => {
  const found = await discover('id,mail\n')
  expect(found.rows).toBe(0)
  expect(proposeColumns(found).id).toEqual([])
})

test('groups', async () => {
  const groups = await discover('title,group_id\nSales,g1\nOps,g2\n')
  expect(proposeGroupColumns(groups)).toEqual({ id: ['group_id', 'title'], name: ['title', 'group_id'] })
})

test('columns that a mapping cannot name are no proposals', async () => {
  const { columns } = await discover('id,mail,mail,= mail\n1,a@x.org,b@x.org,c\n')
  expect(columns.map(({ name }) => name)).toEqual(['id'])
})
