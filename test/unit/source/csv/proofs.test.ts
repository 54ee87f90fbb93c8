import { createHash } from 'node:crypto'
import { appendFileSync, readdirSync, readlinkSync } from 'node:fs'
import { rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DirsyncdError } from '../../../../src/base/errors.ts'
import { NEVER, namesOf, read, refusal, sourceOf, usersOf, write } from '../../../support/csv-source.ts'
import { type TempDir, tempDir } from '../../../support/temp.ts'
import { eventually } from '../../../support/eventually.ts'

let dir: TempDir

beforeEach(async () => {
  dir = await tempDir()
})

afterEach(() => dir[Symbol.asyncDispose]())

const TEXT = 'id,mail,name\n1,a@x,Ann\n2,b@x,Bo\n'

test.each([
  ['with a count', '^END (\\d+)$', 'END 2\n'],
  ['with a count and no line end', '^END (\\d+)$', 'END 2'],
  ['with columns', '^T,(\\d+),', 'T,0002,2026-11-21\n'],
  ['without a count', '^-- end --$', '-- end --\n'],
  ['behind empty lines', '^END (\\d+)$', '\n,,\nEND 2\n\n'],
])('a trailer %s proves the end, and is no row', async (_, pattern, trailer) => {
  await write(dir.path, { 'users.csv': TEXT + trailer })
  const snapshot = await read(usersOf(dir.path, { trailer: { pattern } }))
  expect(namesOf(snapshot)).toEqual(['Ann', 'Bo'])
  expect(snapshot.unreadable).toBe(0)
})

test.each([
  ['no trailer', TEXT, 'users.csv does not end with the trailer (^END (\\d+)$)'],
  ['half of a trailer', `${TEXT}END`, 'does not end with the trailer'],
  ['half of a number', `${TEXT}END 1`, 'users.csv has 2 rows, and its trailer says 1'],
  ['rows that are missing', `${TEXT}END 3\n`, 'users.csv has 2 rows, and its trailer says 3'],
  ['rows behind the trailer', `${TEXT}END 2\n3,c@x,C\n`, 'does not end with the trailer'],
  ['a header only', 'id,mail,name\n', 'does not end with the trailer'],
])('with %s a file is incomplete', async (_, content, message) => {
  await write(dir.path, { 'users.csv': content })
  const reading = read(usersOf(dir.path, { trailer: { pattern: '^END (\\d+)$' } }))
  const said = await refusal(reading)
  expect(said.code).toBe('source-incomplete')
  expect(said.message).toContain(message)
})

test('a trailer that has no number where it is looked for is no proof', async () => {
  await write(dir.path, { 'users.csv': `${TEXT}END two\n` })
  expect(await refusal(read(usersOf(dir.path, { trailer: { pattern: '^END (.*)$' } })))).toEqual({
    code: 'source-incomplete',
    message:
      'the trailer of users.csv has "two" where the first group of trailer.pattern takes the number of rows; ' +
      'is the pattern right?',
  })
})

test('a bad row counts for the trailer, and is named', async () => {
  await write(dir.path, { 'users.csv': `${TEXT}3\n4,"d"x,D\nEND 4\n` })
  const { unreadable, notices } = await read(usersOf(dir.path, { trailer: { pattern: '^END (\\d+)$' } }))
  expect(unreadable).toBe(2)
  expect(notices.map(({ params }) => params)).toEqual([
    { from: 'users.csv, row 4', fault: '1 values instead of 3, "mail" is missing' },
    { from: 'users.csv, row 5', fault: 'column "mail": there is text after a closing quote' },
  ])
})

test.each([
  ['2\n', undefined],
  ['      2 users.csv\n', undefined],
  ['3\n', 'users.csv has 2 rows, and users.csv.rows says 3'],
  ['many\n', 'users.csv.rows does not begin with a number of rows'],
  [undefined, 'users.csv.rows, which has to be beside the file, cannot be read: it does not exist'],
])('a file of the number of rows that says %j', async (count, message) => {
  await write(dir.path, { 'users.csv': TEXT, ...(count !== undefined && { 'users.csv.rows': count }) })
  const reading = read(usersOf(dir.path, { rows: true }))
  if (message === undefined) return expect(namesOf(await reading)).toEqual(['Ann', 'Bo'])
  const said = await refusal(reading)
  expect(said.code).toBe('source-incomplete')
  expect(said.message).toContain(message)
})

const DIGEST = createHash('sha256').update(TEXT).digest('hex')

test.each([
  ["sha256sum's line", `${DIGEST}  users.csv\n`, undefined],
  ['a binary line with a path', `${DIGEST.toUpperCase()} *out/users.csv\r\n`, undefined],
  ['the digest alone', DIGEST, undefined],
  ['a tagged line', `SHA256 (users.csv) = ${DIGEST}\n`, undefined],
  ['several lines', `${'0'.repeat(64)}  groups.csv\n${DIGEST}  users.csv\n`, undefined],
  [
    'another digest',
    `${'0'.repeat(64)}  users.csv\n`,
    'users.csv does not have the digest in users.csv.sha256',
  ],
  ['other files', `${DIGEST}  a.csv\n${DIGEST}  b.csv\n`, 'users.csv.sha256 has no SHA-256 of users.csv'],
  ['nothing', '', 'users.csv.sha256 has no SHA-256 of users.csv'],
  ['no file', undefined, 'users.csv.sha256, which has to be beside the file, cannot be read'],
])('a digest: %s', async (_, digest, message) => {
  await write(dir.path, { 'users.csv': TEXT, ...(digest !== undefined && { 'users.csv.sha256': digest }) })
  const reading = read(usersOf(dir.path, { sha256: true }))
  if (message === undefined) return expect(namesOf(await reading)).toEqual(['Ann', 'Bo'])
  const said = await refusal(reading)
  expect(said.code).toBe('source-incomplete')
  expect(said.message).toContain(message)
})

test('a digest proves a file that is cut at the end of a row, and one without a last line end', async () => {
  await write(dir.path, { 'users.csv': 'id,mail,name\n1,a@x,Ann\n', 'users.csv.sha256': DIGEST })
  expect(await refusal(read(usersOf(dir.path, { sha256: true })))).toMatchObject({
    code: 'source-incomplete',
  })
  const open = TEXT.trimEnd()
  const digest = createHash('sha256').update(open).digest('hex')
  await write(dir.path, { 'users.csv': open, 'users.csv.sha256': digest })
  expect(namesOf(await read(usersOf(dir.path, { sha256: true })))).toEqual(['Ann', 'Bo'])
})

test('a gzip file is known by its bytes; its digest is that of the file', async () => {
  const rows = Array.from({ length: 20_000 }, (_, n) => `${n},p${n}@x,Zoë ${n}\n`)
  const zipped = gzipSync(`id,mail,name\n${rows.join('')}`)
  const digest = createHash('sha256').update(zipped).digest('hex')
  await write(dir.path, { 'users.csv': zipped, 'users.csv.sha256': digest })
  for (const encoding of ['utf8', 'auto'] as const) {
    const { users } = await read(usersOf(dir.path, { sha256: true, encoding }))
    expect(users.get('19999')?.name).toBe('Zoë 19999')
  }
})

test('a gzip file of several members is read to its end', async () => {
  await write(dir.path, { 'users.csv': Buffer.concat([gzipSync(TEXT), gzipSync('3,c@x,Cy\n')]) })
  expect(namesOf(await read(usersOf(dir.path)))).toEqual(['Ann', 'Bo', 'Cy'])
})

test('a gzip file that is cut off anywhere, or damaged, is incomplete', async () => {
  const zipped = gzipSync(TEXT)
  for (let end = 3; end < zipped.length; end += 1) {
    await write(dir.path, { 'users.csv': zipped.subarray(0, end) })
    expect(await refusal(read(usersOf(dir.path)))).toEqual({
      code: 'source-incomplete',
      message: 'users.csv: the gzip file ends too early, so it was cut off',
    })
  }
  const damaged = Buffer.from(zipped)
  damaged.writeUInt32LE(7, zipped.length - 8)
  await write(dir.path, { 'users.csv': damaged })
  expect((await refusal(read(usersOf(dir.path)))).message).toBe('users.csv: the gzip file is damaged')
})

test('behind a gzip file may be padding, and nothing else', async () => {
  const padded = Buffer.concat([gzipSync(TEXT), Buffer.alloc(512)])
  await write(dir.path, { 'users.csv': padded })
  expect(namesOf(await read(usersOf(dir.path)))).toEqual(['Ann', 'Bo'])
  await write(dir.path, { 'users.csv': Buffer.concat([gzipSync(TEXT), Buffer.from('3,c@x,Cy\n')]) })
  expect((await refusal(read(usersOf(dir.path)))).message).toBe('users.csv: the gzip file is damaged')
})

test('a file that is older than maxAge is refused', async () => {
  await write(dir.path, { 'users.csv': TEXT })
  const options = usersOf(dir.path, { maxAgeMs: 60_000 })
  expect(namesOf(await read(options))).toEqual(['Ann', 'Bo'])
  const then = new Date(Math.floor(Date.now() / 1000 - 61) * 1000)
  await utimes(join(dir.path, 'users.csv'), then, then)
  expect(await refusal(read(options))).toEqual({
    code: 'source-incomplete',
    message: `users.csv was written ${then.toISOString()}, which is longer ago than users.maxAge; does the export still run?`,
  })
})

/** Another row in each turn of the loop, so that no machine is too busy to write one before the files have settled. */
async function whileUsersGrow<T>(work: Promise<T>): Promise<T> {
  let next = setImmediate(grow)
  function grow(): void {
    appendFileSync(join(dir.path, 'users.csv'), '2,b@x,Bo\n')
    next = setImmediate(grow)
  }
  try {
    return await work
  } finally {
    clearImmediate(next)
  }
}

test('a file that is still being written is not read', async () => {
  await write(dir.path, { 'users.csv': 'id,mail,name\n1,a@x,Ann\n' })
  const reading = refusal(read({ ...usersOf(dir.path), settleMs: 50 }))
  expect(await whileUsersGrow(reading)).toEqual({
    code: 'source-incomplete',
    message: `${join(dir.path, 'users.csv')} is still being written (it changed within 50 ms); the next run reads it again`,
  })
  await write(dir.path, { 'users.csv': TEXT })
  expect(namesOf(await read({ ...usersOf(dir.path), settleMs: 10 }))).toEqual(['Ann', 'Bo'])
})

test('a file that is still being written proves nobody absent', async () => {
  await write(dir.path, { 'users.csv': 'id,mail,name\n1,a@x,Ann\n' })
  const source = sourceOf({ ...usersOf(dir.path), settleMs: 50 })
  const said = await whileUsersGrow(refusal(source.readIds('user', ['2'], NEVER)))
  expect(said.code).toBe('source-incomplete')
  expect(said.message).toContain('is still being written')
})

test('files that are as they were read are neither waited for nor read again to prove who is absent', async () => {
  await write(dir.path, { 'users.csv': 'id,mail,name\n1,a@x,Ann\n' })
  const source = sourceOf({ ...usersOf(dir.path), settleMs: 10 })
  const { users } = await source.read(NEVER)
  expect([...users.keys()]).toEqual(['1'])
  // A signal that is aborted ends every wait.
  const recheck = () => source.readIds('user', ['1', '2'], AbortSignal.abort())
  expect(await recheck()).toEqual(
    new Map([
      ['1', { state: 'present' }],
      ['2', { state: 'absent' }],
    ]),
  )
  await write(dir.path, { 'users.csv': 'id,mail,name\n2,b@x,Bo\n' })
  expect(await refusal(recheck())).toMatchObject({ code: 'interrupted' })
})

test.each([
  ['can be told to stop', undefined, 'interrupted'],
  ['passes the reason to stop on', new DirsyncdError('store-owned', 'the lease was lost'), 'store-owned'],
])('who waits for the files to settle %s', async (_, reason, code) => {
  await write(dir.path, { 'users.csv': TEXT })
  const stop = new AbortController()
  const reading = refusal(sourceOf({ ...usersOf(dir.path), settleMs: 60_000 }).read(stop.signal))
  stop.abort(reason)
  expect(await reading).toMatchObject({ code })
})

test('who only looks at the files does not wait for them to settle, and is told that a run does', async () => {
  await write(dir.path, { 'users.csv': 'id,mail,name\n1,a@x,Ann\n' })
  const source = sourceOf({ ...usersOf(dir.path), settleMs: 60_000 })
  expect(namesOf(await source.read(AbortSignal.timeout(5000), { isForDisplay: true }))).toEqual(['Ann'])
  const lines = await source.probe(NEVER)
  expect(lines[0]?.detail).toMatch(/: 1 row with the columns id, mail, name$/)
  expect(lines.at(-1)).toEqual({
    label: 'settle',
    detail: 'a run reads the files when none has changed for 60 s; a check does not wait for that',
    level: 'info',
  })
})

/** The path of a file that takes long to read: long enough to be disturbed. */
async function longFile(): Promise<string> {
  const rows = Array.from({ length: 60_000 }, (_, n) => `${n},p${n}@x,Person ${n}\n`)
  await write(dir.path, { 'users.csv': `id,mail,name\n${rows.join('')}`, 'new.csv': TEXT })
  return join(dir.path, 'users.csv')
}

/** Resolves when this process reads the file. */
async function untilOpen(path: string): Promise<void> {
  await eventually(() => {
    const open = readdirSync('/proc/self/fd').map((fd) => linkOf(`/proc/self/fd/${fd}`))
    expect(open).toContain(path)
  })
}

/** A file may have been closed meanwhile. */
function linkOf(fd: string): string | undefined {
  try {
    return readlinkSync(fd)
  } catch {
    return undefined
  }
}

test.each<[string, (path: string) => Promise<void>, string]>([
  ['is replaced', (path) => rename(join(dir.path, 'new.csv'), path), 'changed while it was read'],
  ['vanishes', (path) => rm(path), 'went away while it was read'],
])('a file that %s while it is read is incomplete', async (_, disturb, message) => {
  const path = await longFile()
  const reading = refusal(sourceOf(usersOf(dir.path)).read(NEVER))
  await untilOpen(path)
  await disturb(path)
  expect(await reading).toEqual({
    code: 'source-incomplete',
    message: `${path} ${message}; the next run reads it again`,
  })
})

test('files that change while others are read are not mixed', async () => {
  const path = await longFile()
  await write(dir.path, { 'groups.csv': 'id,title\ng,G\n' })
  const groups = {
    ...usersOf(dir.path).users,
    path: join(dir.path, 'groups.csv'),
    map: { external_id: 'id', name: 'title' },
  }
  const reading = refusal(read({ ...usersOf(dir.path), groups }))
  await untilOpen(path)
  await write(dir.path, { 'groups.csv': 'id,title\ng,Other\n' })
  expect((await reading).message).toContain('groups.csv changed while the files were read')
})

test('badRows: refuse stops at rows that skip only names', async () => {
  await write(dir.path, { 'users.csv': `${TEXT}3\n,d@x,D\n` })
  const options = usersOf(dir.path)
  expect((await read(options)).unreadable).toBe(2)
  expect(await refusal(read({ ...options, badRows: 'refuse' }))).toEqual({
    code: 'source-incomplete',
    message:
      '2 rows cannot be understood, and badRows is refuse: users.csv, row 4: 1 values instead of 3, "mail" is missing',
  })
})

test('a quote that is never closed does not take a large file into memory', async () => {
  const rows = '2,b@x,Bo\n'.repeat(600_000)
  await write(dir.path, { 'users.csv': `id,mail,name\n1,a@x,"Ann\n${rows}` })
  expect((await refusal(read(usersOf(dir.path)))).message).toContain(
    'users.csv, row 2: column "name": the row is longer than 4 MB',
  )
})
