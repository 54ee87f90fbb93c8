import { expect, test } from 'vitest'
import { findLeftBehind, leftBehindText, TRIAL } from '../../../../src/operations/init/left-behind.ts'
import { deleteLeftBehind } from '../../../../src/operations/init/try-out.ts'
import { clientOf, user } from '../../api/client/fixtures.ts'
import { type DirectoryServer, startDirectoryServer } from '../../target/directory-server.ts'

const trial = (number: number) => `dirsyncd-check-00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const ofCompany = (number: number) => ({ ...user(number), external_id: `u${number}` })
const group = (id: string, name = TRIAL.name) => ({ external_id: id, name, external_member_ids: [] })

/** Has such an id by chance, and a name of its own. */
const OF_COMPANY = group(trial(9), 'Checkers')

async function startWith(people: number): Promise<DirectoryServer> {
  const server = await startDirectoryServer()
  server.users.push(
    { ...user(0), external_id: trial(0), name: TRIAL.name },
    ...Array.from({ length: people }, (_, index) => ofCompany(index + 1)),
    { ...user(people + 1), external_id: trial(1), name: TRIAL.name },
  )
  server.groups.push(group('dirsyncd-check-list'), OF_COMPANY, group(trial(0)))
  return server
}

const signal = () => AbortSignal.timeout(10_000)

test('what was left is found among the first and the last of many, and nobody else is deleted', async () => {
  await using server = await startWith(3000)
  await using client = clientOf(server.baseUrl)
  const found = await findLeftBehind(client, 7, signal())
  expect(found).toEqual([
    { kind: 'group', id: trial(0) },
    { kind: 'user', id: trial(0) },
    { kind: 'user', id: trial(1) },
  ])
  expect(server.seen).toHaveLength(11)
  expect(await deleteLeftBehind({ client, directoryId: 7, signal: signal() }, found)).toEqual([])
  expect([server.users.length, server.groups]).toEqual([3000, [group('dirsyncd-check-list'), OF_COMPANY]])
})

test('a service without a total, or with one page, is asked once for each kind', async () => {
  await using server = await startWith(50)
  await using client = clientOf(server.baseUrl)
  server.total = () => undefined
  expect(await findLeftBehind(client, 7, signal())).toHaveLength(3)
  expect(server.seen).toHaveLength(2)
})

test('some of them are named', () => {
  const users = [1, 2, 3, 4, 5, 6].map((number) => ({ kind: 'user', id: `id${number}` }) as const)
  expect(leftBehindText(users.slice(0, 1))).toMatch(/^the user id1 was made by dirsyncd /)
  expect(leftBehindText(users.slice(0, 2))).toMatch(/^the user id1 and the user id2 were made by dirsyncd /)
  expect(leftBehindText(users)).toMatch(/, the user id4 and 2 more were made by dirsyncd /)
})
