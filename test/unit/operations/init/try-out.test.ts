import { beforeEach, expect, test } from 'vitest'
import { tryDomains, tryMembers } from '../../../../src/operations/init/try-out.ts'
import { clientOf, user } from '../../api/client/fixtures.ts'
import type { Reaction } from '../../api/client/scripted-server.ts'
import { type DirectoryServer, startDirectoryServer } from '../../target/directory-server.ts'

let said: string[]
const say = (sentence: string) => void said.push(sentence)

beforeEach(() => {
  said = []
})

async function tried(server: DirectoryServer, signal: AbortSignal = AbortSignal.timeout(5000)) {
  await using client = clientOf(server.baseUrl, { retries: { attempts: 1 } })
  return await tryMembers({ client, directoryId: 7, signal, say })
}

const idsAway = (text: string) => text.replaceAll(/dirsyncd-check-[0-9a-f-]{36}/g, 'ID')

const somebody = { ...user(1), external_id: 'u1' }

async function startFilled(): Promise<DirectoryServer> {
  const server = await startDirectoryServer()
  server.users.push(somebody)
  return server
}

/** Nothing of anybody was touched, and nothing stays. */
function expectClean({ users, groups, seen }: DirectoryServer): void {
  expect([users, groups]).toEqual([[somebody], []])
  const written = seen.filter(({ method }) => method !== 'GET' && method !== 'POST')
  expect(written.filter(({ url }) => !/\/dirsyncd-check-[0-9a-f-]{36}$/.test(url))).toEqual([])
}

test('a service that shows the member takes members', async () => {
  await using server = await startFilled()
  expect(await tried(server)).toEqual({ found: { isShown: true }, detail: undefined, left: [] })
  expectClean(server)
  expect(server.calls().map(idsAway)).toEqual([
    'POST users',
    'POST groups',
    'PATCH groups/ID',
    'GET groups/ID',
    'DELETE groups/ID',
    'GET groups/ID',
    'DELETE users/ID',
    'GET users/ID',
  ])
  expect(said.map(idsAway)).toEqual([
    'Making the user and the group ID, writing the one into the other, and deleting both …',
  ])
})

test('a service that ignores the member takes none', async () => {
  await using server = await startFilled()
  server.trouble.push({ method: 'PATCH', reaction: { status: 200, json: {} } })
  expect(await tried(server)).toEqual({ found: { isShown: false }, detail: undefined, left: [] })
  expectClean(server)
})

test('a service that refuses the member takes none, and says why', async () => {
  await using server = await startFilled()
  server.trouble.push({ method: 'PATCH', reaction: { status: 422, json: { detail: 'no such field' } } })
  expect(await tried(server)).toEqual({
    found: { isShown: false, why: expect.stringMatching(/422 [^:]+: no such field\.$/) },
    detail: undefined,
    left: [],
  })
  expectClean(server)
})

test('a page of a proxy does not say that members are refused', async () => {
  await using server = await startFilled()
  const reaction = { status: 406, text: '<h1>Blocked</h1>', headers: { 'content-type': 'text/html' } }
  for (let at = 0; at < 4; at += 1) server.trouble.push({ method: 'PATCH', reaction })
  expect(await tried(server)).toMatchObject({ found: undefined, left: [] })
  expectClean(server)
})

test('where the user or the group cannot be made, nothing is found out', async () => {
  await using server = await startFilled()
  server.trouble.push({ method: 'POST', reaction: { status: 422, json: { detail: 'email is missing' } } })
  expect(await tried(server)).toEqual({
    found: undefined,
    detail: expect.stringMatching(/422 [^:]+: email is missing\.$/),
    left: [],
  })
  expectClean(server)
  expect(server.calls()).toEqual(['POST users'])
})

test('an error of the service that refuses the user is shown in its words', async () => {
  await using server = await startFilled()
  server.trouble.push({
    method: 'POST',
    reaction: { status: 403, json: { detail: 'the directory is full' } },
  })
  expect(await tried(server)).toEqual({
    found: undefined,
    detail: expect.stringMatching(/403 [^:]+: the directory is full\.$/),
    left: [],
  })
})

const PAGE = { text: '<h1>Oops</h1>', headers: { 'content-type': 'text/html' } }

test.for<[Reaction, string]>([
  [{ status: 503 }, 'the service answered the request to make it with 503, and may still make it'],
  [{ status: 200, ...PAGE }, 'a web page answered the request to make it, and not the service'],
  [{ status: 502, ...PAGE }, 'a web page answered the request to make it, and not the service'],
  ['drop', 'the request to make it had no answer'],
])('what was asked for and has %j for an answer may come later, and is named', async ([reaction, why]) => {
  await using server = await startFilled()
  server.trouble.push({ method: 'POST', reaction })
  const { found, left } = await tried(server)
  expect(found).toBe(undefined)
  expect(left.map(idsAway)).toEqual([
    `The user ID may appear in the directory later, because ${why}; delete it then.`,
  ])
  expect(server.calls().filter((call) => call.includes('groups'))).toEqual([])
})

test('what is still there after it was deleted is named', async () => {
  await using server = await startFilled()
  server.trouble.push({ method: 'DELETE', reaction: { status: 204 } })
  const { left } = await tried(server)
  expect(left.map(idsAway)).toEqual([
    'The service said that the group ID was deleted, and still shows it. Delete it in the service.',
  ])
})

test('what was made without an answer is deleted, too', async () => {
  await using server = await startFilled()
  server.trouble.push({ method: 'POST', work: true, reaction: { status: 503 } })
  expect(await tried(server)).toMatchObject({ left: [] })
  expectClean(server)
})

test('what cannot be deleted is named', async () => {
  await using server = await startFilled()
  server.trouble.push({ method: 'DELETE', reaction: { status: 403, json: { detail: 'not yours' } } })
  const { found, left } = await tried(server)
  expect(found).toEqual({ isShown: true })
  expect(left).toEqual([
    expect.stringMatching(
      /^The group dirsyncd-check-\S+ could not be deleted: .*not yours\. Delete it in the service\.$/,
    ),
  ])
  expect(server.groups).toHaveLength(1)
})

test('an interruption leaves nothing behind', async () => {
  await using server = await startFilled()
  const ending = new AbortController()
  server.trouble.push({
    method: 'PATCH',
    work: true,
    reaction: { status: 200, json: {} },
    meanwhile: () => ending.abort(),
  })
  await expect(tried(server, ending.signal)).rejects.toThrow(/abort/i)
  expectClean(server)
})

test.for<[string, number, number]>([
  ['the user', 0, 1000],
  ['the group', 1, 1000],
  ['the group longer than the request is open', 1, 5000],
])('an interruption while the service creates %s leaves nothing behind', async ([, before, takes]) => {
  await using server = await startFilled()
  const ending = new AbortController()
  if (before > 0) server.trouble.push({ method: 'POST', work: true })
  const slow = {
    method: 'POST',
    work: true,
    takes,
    meanwhile: () => void setTimeout(() => ending.abort(), 200),
  }
  server.trouble.push(slow)
  await expect(tried(server, ending.signal)).rejects.toThrow(/abort/i)
  expect(said.slice(1).map(idsAway)).toEqual(['Deleting ID again, for at most 6 s …'])
  expectClean(server)
})

test('an interruption while the service is silent soon names what is left', async () => {
  await using server = await startFilled()
  const ending = new AbortController()
  const meanwhile = () => ending.abort()
  server.trouble.push({ method: 'DELETE', reaction: 'silence', meanwhile })
  const begun = performance.now()
  await expect(tried(server, ending.signal)).rejects.toThrow(/abort/i)
  expect(performance.now() - begun).toBeLessThan(30_000)
  expect(said.map(idsAway)).toEqual([
    expect.stringMatching(/^Making the user and the group ID,/),
    'Deleting ID again, for at most 6 s …',
    expect.stringMatching(/^The group ID could not be deleted: .* in time\. Delete it in the service\.$/),
  ])
  expect([server.users, server.groups.length]).toEqual([[somebody], 1])
})

test('the domains that are refused are left out of those that the service takes', async () => {
  await using server = await startFilled()
  await using client = clientOf(server.baseUrl, { retries: { attempts: 1 } })
  server.trouble.push(
    { method: 'PATCH', work: true, reaction: { status: 200, json: {} } },
    { method: 'PATCH', reaction: { status: 422, json: { detail: 'outside the domains' } } },
  )
  const where = { client, directoryId: 7, signal: AbortSignal.timeout(5000), say }
  expect(await tryDomains(where, ['a.example', 'b.example', 'ü.example'])).toEqual({
    found: ['a.example', 'ü.example'],
    detail: undefined,
    left: [],
  })
  expectClean(server)
  const bodies = server.seen
    .filter(({ method }) => method === 'PATCH')
    .map(({ body }) => decodeURIComponent(body))
  expect(bodies.every((body) => /email=dirsyncd-check-[0-9a-f-]{36}@/.test(body))).toBe(true)
})

test('where no user can be created, no domain is found out', async () => {
  await using server = await startFilled()
  await using client = clientOf(server.baseUrl, { retries: { attempts: 1 } })
  server.trouble.push({ method: 'PATCH', reaction: { status: 403, json: { detail: 'not yours' } } })
  const where = { client, directoryId: 7, signal: AbortSignal.timeout(5000), say }
  expect(await tryDomains(where, ['a.example'])).toMatchObject({ found: undefined, left: [] })
  expectClean(server)
})
