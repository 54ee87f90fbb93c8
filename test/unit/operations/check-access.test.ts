import { expect, test } from 'vitest'
import { checkAccess, type AccessLine } from '../../../src/operations/check-access.ts'
import { clientOf, user } from '../api/client/fixtures.ts'
import type { Reaction } from '../api/client/scripted-server.ts'
import { type DirectoryServer, startDirectoryServer } from '../target/directory-server.ts'

async function check(server: DirectoryServer, writes: boolean): Promise<AccessLine[]> {
  await using client = clientOf(server.baseUrl, { retries: { attempts: 1 } })
  return await checkAccess(client, { directoryId: 7 }, { writes }, AbortSignal.timeout(5000))
}

test('reading is proved without writing anything', async () => {
  await using server = await startDirectoryServer()
  server.users.push({ ...user(1), external_id: 'u1' })
  expect(await check(server, false)).toEqual([
    { label: 'directory', ok: true, detail: `directory 7 of organization 1 at ${server.baseUrl}` },
    { label: 'users', ok: true, detail: '1 user can be read' },
    { label: 'groups', ok: true, detail: '0 groups can be read' },
  ])
  expect(server.seen.every(({ method }) => method === 'GET')).toBe(true)
})

test.each([
  [{ status: 404 }, true, 'has the scope ORG'],
  [{ status: 422 }, true, 'was not refused'],
  [{ status: 403 }, false, 'needs the scope ORG for this endpoint'],
  [{ status: 200 }, true, 'accepted the change of an unknown user'],
] satisfies [Reaction, boolean, string][])(
  'a PATCH on nobody that answers %j proves writing: %j',
  async (reaction, ok, words) => {
    await using server = await startDirectoryServer()
    server.trouble.push({ method: 'PATCH', reaction })
    const lines = await check(server, true)
    expect(lines.at(-1)).toMatchObject({ label: 'writing', ok, detail: expect.stringContaining(words) })
    expect(server.calls().at(-1)).toMatch(/^PATCH users\/dirsyncd-check-[0-9a-f-]{36}$/)
  },
)

test.each([200, 404])('a web page with %i to a PATCH on nobody proves nothing', async (status) => {
  await using server = await startDirectoryServer()
  const reaction = { status, text: '<h1>Oops</h1>', headers: { 'content-type': 'text/html' } }
  server.trouble.push({ method: 'PATCH', reaction }, { method: 'PATCH', reaction })
  const line = (await check(server, true)).at(-1)
  expect(line).toMatchObject({ label: 'writing', ok: false })
  expect(line?.detail).toMatch(
    new RegExp(
      `^What answered PATCH \\S+ at \\S+ with ${status} is not the access-management service: it sent HTML, as a proxy or a ` +
        'login page does. Check directory.baseUrl and directory.proxy.?$',
    ),
  )
})

test('a directory that is not there is the only line', async () => {
  await using server = await startDirectoryServer()
  server.exists = false
  expect(await check(server, true)).toEqual([
    { label: 'directory', ok: false, detail: expect.stringContaining('Directory 7 does not exist') },
  ])
})

test('a scope that is missing for the groups shows in their line alone', async () => {
  await using server = await startDirectoryServer()
  const usual = { work: true } as const
  server.trouble.push({
    ...usual,
    reaction: { status: 200, json: { id: 7, name: 'x', doppler: false, target_type: 'x' } },
  })
  server.trouble.push({ reaction: { status: 200, json: [] } }, { reaction: { status: 403 } })
  expect(await check(server, false)).toMatchObject([
    { ok: true },
    { ok: true },
    { label: 'groups', ok: false },
  ])
})
