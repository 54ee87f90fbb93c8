import { expect, test } from 'vitest'
import { lookBack } from '../../../src/target/look-up.ts'
import { clientOf, rejection } from '../api/client/fixtures.ts'
import { startDirectoryServer } from './directory-server.ts'

const CREATED = { op: 'create-user', id: 'u1', want: { name: 'Ann' } } as const

async function lookAt(server: Awaited<ReturnType<typeof startDirectoryServer>>) {
  await using client = clientOf(server.baseUrl)
  return await lookBack(client, 7, CREATED, AbortSignal.timeout(5000))
}

test('a directory that is gone is not taken for an entry that is not there', async () => {
  await using server = await startDirectoryServer()
  expect(await lookAt(server)).toEqual({ result: 'looked', shown: undefined })
  server.exists = false
  expect(await rejection(lookAt(server))).toMatchObject({ code: 'directory-unknown' })
})
