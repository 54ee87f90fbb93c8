import { expect, test } from 'vitest'
import { applyChange, type Applied, type TargetDirectory } from '../../../src/target/apply-change.ts'
import type { Change } from '../../../src/core/plan/change.ts'
import { clientOf, group, rejection, user } from '../api/client/fixtures.ts'
import { type DirectoryServer, type Entry, startDirectoryServer } from './directory-server.ts'

const ANN = { name: 'Ann', email: 'ann@example.org' }
const createUser: Change = { op: 'create-user', id: 'u1', want: { ...ANN, employeeId: '4711' } }
const updateUser: Change = {
  op: 'update-user',
  id: 'u1',
  have: { name: 'An', email: null },
  want: { name: 'Ann' },
}
const deleteUser: Change = {
  op: 'delete-user',
  id: 'u1',
  have: { name: 'Ann', email: null, groups: [] },
  why: 'gone',
}
const createGroup: Change = { op: 'create-group', id: 'g1', want: { name: 'All' } }
const updateGroup: Change = { op: 'update-group', id: 'g1', have: { name: 'Al' }, want: { name: 'All' } }
const deleteGroup: Change = { op: 'delete-group', id: 'g1', have: { name: 'All', members: [] }, why: 'gone' }
const setMembers: Change = { op: 'set-members', id: 'g1', name: 'All', have: [], want: ['a', 'b'] }

async function apply(
  server: DirectoryServer,
  change: Change,
  check = false,
  target: TargetDirectory = { directoryId: 7 },
): Promise<Applied> {
  await using client = clientOf(server.baseUrl)
  return await applyChange(client, target, change, { check }, new AbortController().signal)
}

function ann(over: Record<string, unknown> = {}): Entry {
  return { ...user(1), ...ANN, external_id: 'u1', ...over }
}

function all(over: Record<string, unknown> = {}): Entry {
  return { ...group('g1'), name: 'All', external_id: 'g1', ...over }
}

test.each([
  [createUser, { users: [expect.objectContaining({ ...ANN, external_id: 'u1', employee_id: '4711' })] }, 201],
  [updateUser, { users: [ann()] }, 200],
  [deleteUser, { users: [] }, 204],
  [createGroup, { groups: [expect.objectContaining({ external_id: 'g1', name: 'All' })] }, 201],
  [updateGroup, { groups: [all()] }, 200],
  [setMembers, { groups: [all({ external_member_ids: ['a', 'b'] })] }, 200],
  [deleteGroup, { groups: [] }, 204],
] satisfies [Change, object, number][])('$0.op: one request does it', async (change, after, status) => {
  await using server = await startDirectoryServer()
  if (!change.op.startsWith('create')) {
    server.users.push(ann({ name: 'An' }))
    server.groups.push(all({ name: 'Al' }))
  }
  expect(await apply(server, change)).toEqual({ result: 'applied', status, requests: 1 })
  expect(server).toMatchObject(after)
})

test('an empty set of members empties the group', async () => {
  await using server = await startDirectoryServer()
  server.groups.push(all({ external_member_ids: ['a'] }))
  await apply(server, { ...setMembers, want: [] })
  expect(server.groups).toEqual([all({ external_member_ids: [] })])
})

test.each([
  [createUser, 'GET users/u1'],
  [updateUser, 'GET users/u1'],
  [createGroup, 'GET groups/g1'],
  [updateGroup, 'GET groups/g1'],
  [setMembers, 'GET groups/g1'],
] satisfies [Change, string][])(
  '$0.op with check: what is there already is found and not sent',
  async (change, call) => {
    await using server = await startDirectoryServer()
    server.users.push(ann({ email: ' ANN@example.org' }))
    server.groups.push(all({ external_member_ids: ['b', 'a'] }))
    expect(await apply(server, change, true)).toEqual({ result: 'found', wasThere: true, requests: 1 })
    expect(server.calls()).toEqual([call])
  },
)

test.each([
  [deleteUser, 'GET users/u1'],
  [deleteGroup, 'GET groups/g1'],
] satisfies [Change, string][])(
  '$0.op with check: what is gone already is found, in a directory that is there',
  async (change, call) => {
    await using server = await startDirectoryServer()
    expect(await apply(server, change, true)).toEqual({ result: 'found', wasThere: true, requests: 2 })
    expect(server.calls()).toEqual([call, 'GET directory'])
  },
)

const PAGE = { status: 404, text: '<h1>Not Found</h1>', headers: { 'content-type': 'text/html' } }

test.each([deleteUser, updateUser])(
  '$op that a web page answers with 404 is looked up and sent again',
  async (change) => {
    await using server = await startDirectoryServer()
    server.users.push(ann({ name: 'An' }))
    server.trouble.push({ reaction: PAGE })
    expect(await apply(server, change)).toMatchObject({ result: 'applied', requests: 3 })
    expect(server.users).toEqual(change === deleteUser ? [] : [ann()])
  },
)

test.each([
  ['delete-user without check', deleteUser, false],
  ['delete-user with check', deleteUser, true],
  ['create-user with check', createUser, true],
] satisfies [string, Change, boolean][])(
  '%s: a look that a web page answers with 404 does not say that nobody is there',
  async (_, change, check) => {
    await using server = await startDirectoryServer()
    server.users.push(ann())
    if (!check) server.trouble.push({ method: 'DELETE', reaction: PAGE })
    server.trouble.push({ method: 'GET', reaction: PAGE })
    const error = await rejection(apply(server, change, check))
    expect(error).toMatchObject({ kind: 'unexpected-answer', maybeDone: true })
    expect(server.users).toHaveLength(1)
  },
)

test('a create that finds the entry under its id compares it and is content', async () => {
  await using server = await startDirectoryServer()
  server.users.push(ann())
  expect(await apply(server, createUser)).toEqual({ result: 'found', wasThere: true, requests: 2 })
  expect(server.calls()).toEqual(['POST users', 'GET users/u1'])
})

test('a create that finds another value under its id sends only what differs', async () => {
  await using server = await startDirectoryServer()
  server.users.push(ann({ name: 'Anna' }))
  const applied = { result: 'applied', status: 200, wasThere: true, requests: 3 }
  expect(await apply(server, createUser)).toEqual(applied)
  expect(server.seen.at(-1)).toMatchObject({ method: 'PATCH', body: 'name=Ann' })
})

test('a create with check that finds another value updates it and sends no POST', async () => {
  await using server = await startDirectoryServer()
  server.groups.push(all({ name: 'Old' }))
  expect(await apply(server, createGroup, true)).toMatchObject({ result: 'applied', requests: 2 })
  expect(server.calls()).toEqual(['GET groups/g1', 'PATCH groups/g1'])
})

test('a conflict about something else than the id is thrown', async () => {
  await using server = await startDirectoryServer()
  server.trouble.push({ method: 'POST', reaction: { status: 409, json: { detail: 'e-mail taken' } } })
  await using client = clientOf(server.baseUrl)
  const failure = applyChange(
    client,
    { directoryId: 7 },
    createUser,
    { check: false },
    new AbortController().signal,
  )
  expect(await rejection(failure)).toMatchObject({ kind: 'conflict', detail: 'e-mail taken' })
})

test.each([
  [updateUser, false],
  [updateUser, true],
  [updateGroup, false],
  [setMembers, true],
] satisfies [Change, boolean][])('$0.op finds nothing (check: $1): missing', async (change, check) => {
  await using server = await startDirectoryServer()
  expect(await apply(server, change, check)).toMatchObject({ result: 'missing', status: 404 })
})

test('a delete that finds nothing is done already', async () => {
  await using server = await startDirectoryServer()
  expect(await apply(server, deleteUser)).toEqual({ result: 'already', status: 404, requests: 2 })
})

test('whether the directory is there is asked once for many changes', async () => {
  await using server = await startDirectoryServer()
  const target = { directoryId: 7 }
  for (let i = 0; i < 5; i += 1) await apply(server, deleteUser, false, target)
  expect(server.calls().filter((call) => call === 'GET directory')).toHaveLength(1)
})

test.each([createUser, updateUser, deleteUser, createGroup, updateGroup, setMembers, deleteGroup])(
  '$op in a directory that is gone stops the run',
  async (change) => {
    await using server = await startDirectoryServer()
    server.exists = false
    for (const check of [false, true]) {
      const error = await rejection(apply(server, change, check))
      expect(error).toMatchObject({ code: 'directory-unknown' })
      expect((error as Error).message).toBe(
        `Directory 7 does not exist in organization 1 at ${server.baseUrl}: check directoryId, organizationId and baseUrl.`,
      )
    }
  },
)

test.each([createUser, updateUser, deleteUser, createGroup, updateGroup, setMembers, deleteGroup])(
  '$op whose answer is lost after the work is found, and not sent twice',
  async (change) => {
    await using server = await startDirectoryServer()
    if (!change.op.startsWith('create')) {
      server.users.push(ann({ name: 'An' }))
      server.groups.push(all({ name: 'Al' }))
    }
    server.trouble.push({ work: true, reaction: 'drop' })
    expect(await apply(server, change)).toEqual({ result: 'found', requests: expect.any(Number) })
    expect(server.seen.filter(({ method }) => method !== 'GET')).toHaveLength(1)
  },
)

test.each([createUser, createGroup])(
  '$op whose request is lost is looked up, and is not sent again before a next attempt',
  async (change) => {
    await using server = await startDirectoryServer()
    server.trouble.push({ reaction: 'drop' })
    expect(await rejection(apply(server, change))).toMatchObject({ kind: 'unreachable', maybeDone: true })
    expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'GET'])
    expect(await apply(server, change, true)).toMatchObject({ result: 'applied' })
  },
)

test.each([updateUser, deleteUser, updateGroup, setMembers, deleteGroup])(
  '$op whose request is lost before the work is sent again',
  async (change) => {
    await using server = await startDirectoryServer()
    server.users.push(ann({ name: 'An' }))
    server.groups.push(all({ name: 'Al' }))
    server.trouble.push({ reaction: 'drop' })
    expect(await apply(server, change)).toMatchObject({ result: 'applied' })
  },
)

test('a create whose answer is lost while somebody else creates it differently ends with our values', async () => {
  await using server = await startDirectoryServer()
  server.trouble.push({
    reaction: 'drop',
    meanwhile: () => server.users.push(ann({ email: 'x@example.org' })),
  })
  expect(await apply(server, createUser)).toMatchObject({ result: 'applied' })
  expect(server.users).toEqual([ann()])
})

test('a create whose answer is lost, and whose correction meets a 429, may be done: it is looked up again', async () => {
  await using server = await startDirectoryServer()
  server.trouble.push({ reaction: 'drop', meanwhile: () => server.users.push(ann({ name: 'Anna' })) })
  server.trouble.push({ method: 'PATCH', reaction: { status: 429, headers: { 'retry-after': '60' } } })
  const error = await rejection(apply(server, createUser))
  expect(error).toMatchObject({ kind: 'rate-limited', maybeDone: true })
})

/** What a service shows for `u1` and `g1` that ignores upper and lower case in ids. */
const OTHERS: Record<string, object> = { user: ann({ external_id: 'U1' }), group: all({ external_id: 'G1' }) }

test.each([createUser, updateUser, deleteUser, createGroup, updateGroup, setMembers, deleteGroup])(
  '$op leaves an entry alone that a look shows with another id',
  async (change) => {
    const shown = OTHERS[change.op.endsWith('-user') ? 'user' : 'group']!
    await using server = await startDirectoryServer()
    server.trouble.push({ method: 'GET', reaction: { status: 200, json: shown } })
    expect(await rejection(apply(server, change, true))).toMatchObject({ name: 'OtherEntry' })
    expect(server.seen.map(({ method }) => method)).toEqual(['GET'])
  },
)

test.each([{ status: 409 }, { status: 503 }, 'drop'] as const)(
  'a create that is answered with %o leaves an entry alone that has another id',
  async (reaction) => {
    await using server = await startDirectoryServer()
    server.trouble.push({ method: 'POST', reaction })
    server.trouble.push({ method: 'GET', reaction: { status: 200, json: OTHERS['user']! } })
    expect(await rejection(apply(server, createUser))).toMatchObject({ name: 'OtherEntry' })
    expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'GET'])
  },
)

test('a look in front of a change does not wait for a 429', async () => {
  await using server = await startDirectoryServer()
  server.trouble.push({ reaction: { status: 429, headers: { 'retry-after': '60' } } })
  expect(await rejection(apply(server, createUser, true))).toMatchObject({
    kind: 'rate-limited',
    retryAfterMs: 60_000,
  })
})
