import { expect, test } from 'vitest'
import type { DirectorySnapshot } from '../../../src/core/entries/snapshot.ts'
import { readDirectory } from '../../../src/target/read-directory.ts'
import { clientOf, group, rejection, user } from '../api/client/fixtures.ts'
import type { Reaction } from '../api/client/scripted-server.ts'
import { type DirectoryServer, type Entry, startDirectoryServer } from './directory-server.ts'

async function read(
  server: DirectoryServer,
  options: Partial<Parameters<typeof readDirectory>[1]> = {},
): Promise<DirectorySnapshot> {
  await using client = clientOf(server.baseUrl, { retries: { attempts: 1 } })
  const all = { directoryId: 7, readConcurrency: 4, membership: 'report', ...options } as const
  return await readDirectory(client, all, AbortSignal.timeout(5000))
}

function put(
  server: DirectoryServer,
  users: readonly Record<string, unknown>[],
  groups: readonly Record<string, unknown>[] = [],
): void {
  server.users.push(...(users as { external_id: string }[]))
  server.groups.push(...(groups as { external_id: string }[]))
}

test('users and groups of many pages become one snapshot', async () => {
  await using server = await startDirectoryServer()
  const users = Array.from({ length: 432 }, (_, index) => user(index + 1))
  put(server, users, [group('g1', { external_member_ids: ['u2', 'u10', 'u1', 'u2'] })])
  const snapshot = await read(server)
  expect(snapshot).toMatchObject({ notices: [], moved: false })
  expect(snapshot.users.size).toBe(432)
  expect(snapshot.users.get('u432')).toEqual({ id: 'u432', email: 'u432@example.org', name: 'User 432' })
  expect(snapshot.groups.get('g1')).toEqual({ id: 'g1', name: 'Group g1', members: ['u1', 'u10', 'u2'] })
  expect(server.calls()[0]).toBe('GET directory')
})

test.each(['users', 'groups'] as const)(
  '%s that do not rest make the snapshot one that moved',
  async (list) => {
    await using server = await startDirectoryServer()
    put(
      server,
      Array.from({ length: 150 }, (_, index) => user(index + 1)),
      Array.from({ length: 150 }, (_, index) => group(`g${index + 1}`)),
    )
    // Somebody adds an entry to this list before each of its pages.
    server.total = (name, entries) => {
      const next = entries.length + 1
      if (name === list) server[list].push((list === 'users' ? user(next) : group(`g${next}`)) as Entry)
      return entries.length
    }
    expect(await read(server)).toMatchObject({ moved: true })
  },
)

test.each([
  ['users', 3],
  ['users', 0],
  ['groups', 3],
  ['groups', 0],
] as const)('%s without a total are not proved to be complete (%i entries)', async (list, count) => {
  await using server = await startDirectoryServer()
  const ids = Array.from({ length: count }, (_, index) => index + 1)
  put(server, list === 'users' ? ids.map((id) => user(id)) : [], [])
  if (list === 'groups')
    put(
      server,
      [],
      ids.map((id) => group(`g${id}`)),
    )
  server.total = (name, entries) => (name === list ? undefined : entries.length)
  expect(await read(server)).toMatchObject({ moved: true })
})

test.each([
  ['a user without an id', [user(1), user(2, { external_id: null })], []],
  ['two users with one id', [user(1), user(2, { external_id: 'u1' })], []],
  ['a group without an id', [], [group('a'), group('')]],
  ['two groups with one id', [], [group('a'), group('a', { name: 'Again' })]],
])('a list with %s does not prove who is absent', async (_, users, groups) => {
  await using server = await startDirectoryServer()
  put(server, users, groups)
  expect(await read(server)).toMatchObject({ moved: true })
})

test('with membership off no members are kept', async () => {
  await using server = await startDirectoryServer()
  put(server, [], [group('g1', { external_member_ids: ['u2'] })])
  expect((await read(server, { membership: 'off' })).groups.get('g1')).toMatchObject({ members: [] })
})

test.each([[null], [undefined], [''], ['..']])(
  'a user whose external id is %j is named and left out',
  async (id) => {
    await using server = await startDirectoryServer()
    put(server, [user(1), user(2, { external_id: id, name: 'Bo' })])
    const { users, notices } = await read(server)
    expect([...users.keys()]).toEqual(['u1'])
    expect(notices).toEqual([
      {
        kind: 'user',
        id: undefined,
        code: 'unaddressable',
        params: {
          ownId: 2,
          name: 'Bo',
          fault: expect.stringMatching(/^the id /),
        },
      },
    ])
  },
)

test('of two users with one external id the first is kept, and the notice has their ids in the service', async () => {
  await using server = await startDirectoryServer()
  put(server, [user(1), user(2), user(3, { external_id: 'u1' }), user(4, { external_id: 'u1' })])
  const { users, notices } = await read(server)
  expect(users.get('u1')).toMatchObject({ name: 'User 1' })
  expect(notices).toEqual([
    {
      kind: 'user',
      id: 'u1',
      code: 'shared-id',
      params: { ownIds: [1, 3, 4] },
    },
  ])
})

test('two groups with one external id are noticed, though groups have no other id', async () => {
  await using server = await startDirectoryServer()
  put(server, [], [group('a'), group('b'), group('a', { name: 'Again' })])
  const { groups, notices } = await read(server)
  expect(groups.get('a')).toMatchObject({ name: 'Group a' })
  expect(notices).toMatchObject([
    {
      kind: 'group',
      id: 'a',
      code: 'shared-id',
      params: { ownIds: [] },
    },
  ])
})

test.each([
  ['users', [user(1), user(2), user(1)]],
  ['groups', [group('a'), group('b'), group('a')]],
] as const)('%s of which the list shows one twice are an error', async (list, entries) => {
  await using server = await startDirectoryServer()
  put(server, list === 'users' ? entries : [], list === 'groups' ? entries : [])
  expect(await rejection(read(server))).toMatchObject({
    code: 'directory-unexpected',
    message: expect.stringContaining(
      'page 1 holds an entry twice, and only 2 of the 3 entries listed are distinct',
    ),
  })
})

test.each([
  [
    'the directory is unknown',
    { status: 404 },
    'directory-unknown',
    'Directory 7 does not exist in organization 1 at',
  ],
  ['the token is refused', { status: 401 }, 'token-refused', 'Check that the token'],
  ['the scope is missing', { status: 403 }, 'scope-missing', 'needs the scope ORG_READ for this endpoint'],
  ['the service is broken', { status: 500 }, 'directory-unreachable', '500 Internal Server Error'],
  ['nobody answers', 'drop', 'directory-unreachable', 'Check baseUrl'],
  ['something else answers', { status: 200, text: 'hello' }, 'directory-unexpected', 'not JSON'],
  [
    'an answer is cut off',
    { status: 200, text: ' {"id": 7, "na' },
    'directory-unexpected',
    'cut off or damaged. The next run reads again',
  ],
  [
    'a proxy refuses the token',
    page(401),
    'token-refused',
    'Check directory.baseUrl and directory.proxy. If they are right: check that the token is',
  ],
  ['a proxy refuses the path', page(403), 'scope-missing', '403 Forbidden with HTML, as a proxy or a'],
  [
    'a proxy has no service',
    page(502),
    'directory-unreachable',
    '502 Bad Gateway with HTML, as a proxy or a',
  ],
] satisfies [string, Reaction, string, string][])(
  'when %s the error says so',
  async (_, reaction, code, words) => {
    await using server = await startDirectoryServer()
    server.trouble.push({ reaction }, { reaction })
    const error = await rejection(read(server))
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) })
    expect((error as Error).message).toContain(server.baseUrl)
  },
)

function page(
  status: number,
  headers: Record<string, string> = { 'content-type': 'text/html' },
): Exclude<Reaction, string> {
  return { status, text: '\n<!DOCTYPE html><html><body>Please log in</body></html>', headers }
}

test.each([
  ['', page(200)],
  [', which is named JSON', page(200, { 'content-type': 'application/json' })],
  [' without a type', page(200, {})],
  ['', page(404)],
  ['', page(400)],
])('a web page%s in %j is not the service', async (_, reaction) => {
  await using server = await startDirectoryServer()
  server.trouble.push({ reaction })
  expect(await rejection(read(server))).toMatchObject({
    code: 'directory-unexpected',
    message:
      `What answered GET /api/v2/organizations/1/admin/directories/7 at ${server.baseUrl} with ${reaction.status} is not the ` +
      'access-management service: it sent HTML, as a proxy or a login page does. Check directory.baseUrl and directory.proxy.',
  })
})

test.each([
  [
    'drop-in-page',
    /^What answered GET \S+ at \S+ with 200 is not the access-management service: it sent HTML/,
  ],
  [
    'drop-in-body',
    /: the connection was closed before the whole answer came\. Check baseUrl, what stands between/,
  ],
] as const)('an answer that breaks off (%s) says so', async (reaction, words) => {
  await using server = await startDirectoryServer()
  server.trouble.push({ reaction }, { reaction })
  expect(((await rejection(read(server))) as Error).message).toMatch(words)
})

test.each<[string, (server: DirectoryServer) => void]>([
  ['totals contradict each other', (server) => (server.total = (_, entries) => entries.length + 1)],
  ['a field is missing', (server) => server.users.push({ external_id: 'u2' })],
])('when %s the error does not blame baseUrl', async (_, lie) => {
  await using server = await startDirectoryServer()
  put(server, [user(1)])
  lie(server)
  const error = (await rejection(read(server))) as Error
  expect(error).toMatchObject({ code: 'directory-unexpected' })
  expect(error.message).toMatch(
    /\. The next run reads again; if this goes on, look at what stands between dirsyncd and the service \(a proxy, a cache\)\.$/,
  )
})

test('one page that cannot be read fails the whole reading', async () => {
  await using server = await startDirectoryServer()
  put(
    server,
    Array.from({ length: 950 }, (_, index) => user(index + 1, index === 420 ? { email: 7 } : {})),
  )
  const error = await rejection(read(server))
  expect(error).toMatchObject({
    code: 'directory-unexpected',
    message: expect.stringContaining('[20].email'),
  })
})

test('a reading that is called off ends as interrupted', async () => {
  await using server = await startDirectoryServer()
  server.trouble.push({ reaction: 'silence' })
  await using client = clientOf(server.baseUrl)
  const options = { directoryId: 7, readConcurrency: 4, membership: 'report' } as const
  const error = await rejection(readDirectory(client, options, AbortSignal.timeout(30)))
  expect(error).toMatchObject({ code: 'interrupted' })
})
