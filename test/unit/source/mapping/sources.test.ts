import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { SourceSnapshot } from '../../../../src/core/entries/snapshot.ts'
import { silentLog } from '../../../../src/base/log/log.ts'
import { createCsvSource } from '../../../../src/source/csv/csv-source.ts'
import type { UserMap } from '../../../../src/source/mapping.ts'

let directory = ''

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dirsyncd-mapping-'))
})

afterEach(async () => {
  await rm(directory, { recursive: true, force: true })
})

async function readUsers(
  map: Omit<UserMap, 'external_id'>,
  lines: readonly string[],
): Promise<SourceSnapshot> {
  const path = join(directory, 'users.csv')
  await writeFile(path, lines.map((line) => `${line}\n`).join(''))
  const users = { path, delimiter: ';', encoding: 'utf8' as const, map: { external_id: 'id', ...map } }
  return await createCsvSource({ users }, silentLog()).read(new AbortController().signal)
}

test('columns are attributes, those with a blank in their name too', async () => {
  const map = { email: '= lower(first(mail, uid + "@example.org"))', name: '= upper(attr("Full Name"))' }
  const snapshot = await readUsers(map, ['id;mail;uid;Full Name', '1;A@x;a;Anna', '2;;B;Bert', '3;;;Carl'])
  const fields = [...snapshot.users.values()].map(({ email, name }) => [email, name])
  expect(fields).toEqual([
    ['a@x', 'ANNA'],
    ['b@example.org', 'BERT'],
    [undefined, 'CARL'],
  ])
  expect(snapshot.notices).toEqual([])
})

test('a column that the file does not have is named with what it has', async () => {
  const read = readUsers({ email: '= lower(first(mail, Mails))' }, ['id;mail;uid', '1;a@x;a'])
  await expect(read).rejects.toThrow(/users\.map: .*"Mails".*"id", "mail", "uid"/)
})

test('a value that cannot be worked out is missing, named, and no reason to delete anybody', async () => {
  const snapshot = await readUsers({ email: '= mail', name: '= uid' }, [
    'id;mail;uid',
    `1;${'a'.repeat(2_000)}@x;anna`,
    '2;b@x;bert',
  ])
  expect(snapshot.users.get('1')).toMatchObject({ email: undefined, name: 'anna' })
  expect(snapshot.users.get('2')).toMatchObject({ email: 'b@x', name: 'bert' })
  expect(new Set(snapshot.seen.user)).toEqual(new Set(['1', '2']))
  expect(snapshot.unreadable).toBe(0)
  expect(snapshot.notices).toEqual([
    {
      kind: 'user',
      id: '1',
      code: 'value-failed',
      params: {
        from: 'users.csv, row 2',
        fault: 'users.map.email: it has 2,002 characters; the limit is 1,024',
      },
    },
  ])
})
