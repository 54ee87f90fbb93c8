import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Sighting } from '../../src/core/entries/recheck.ts'
import { loadLedger } from '../../src/store/ledgers.ts'
import type { ProxiedRequest } from '../support/api-proxy.ts'
import { eventually } from '../support/eventually.ts'
import type { SyncHarness } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('recheck')
const { hire, fire, seen } = bed

/** A pause of two seconds. */
const LIMITED = { status: 429, headers: { 'retry-after': '2' } } as const

let harness: SyncHarness
let writes: string[]

beforeEach(async () => {
  writes = []
  hire('a', 'b', 'c', 'd', 'e', 'f')
  bed.company.groups.set('g', { name: 'Group', members: ['a', 'b', 'f'] })
  bed.company.groups.set('h', { name: 'Other', members: ['f'] })
  harness = await bed.openWithWorker({ maxUserDeletes: 3, recheck: (id) => sighting(id) })
  expect(await harness.sync()).toMatchObject({ state: 'done' })
})

const there = async () => [...(await seen()).users.keys()].toSorted().join('')
const groups = async () =>
  [...(await seen()).groups].map(([id, { members }]) => `${id}:${members.join('')}`).toSorted()

/** What the source shows now of an id. */
let sighting = (id: string): Sighting =>
  bed.company.users.has(id) || bed.company.groups.has(id) ? 'present' : 'absent'

/** Until a change waits: in a pause, for longer than a recheck counts, in an outage, or after an attempt that failed. */
async function waits(why: 'pause' | 'outage' | 'failure' = 'pause'): Promise<void> {
  const until = {
    pause: sql`not_before > clock_timestamp()`,
    outage: sql`outages > 0`,
    failure: sql`c.unsure`,
  }
  await eventually(async () => {
    const { rows } = await sql`SELECT FROM dirsyncd.changes AS c JOIN dirsyncd.runs AS r USING (run)
      LEFT JOIN dirsyncd.targets AS t ON t.target = ${bed.target}
      WHERE r.sync = ${bed.sync} AND c.state = 'pending' AND chunk IS NULL AND ${until[why]}`.execute(bed.db)
    expect(rows).not.toEqual([])
  })
  if (why === 'pause') await sql`UPDATE dirsyncd.applying SET removes_until = now()`.execute(bed.db)
}

async function outages(): Promise<number> {
  const found = sql<{ outages: number }>`SELECT outages FROM dirsyncd.targets WHERE target = ${bed.target}`
  return (await found.execute(bed.db)).rows[0]!.outages
}

async function anotherOutage(before: number): Promise<void> {
  await eventually(async () => expect(await outages()).toBeGreaterThan(before))
}

/** The service answers writes so until the test says that it is well. */
function trouble(answer: (request: ProxiedRequest) => ReturnType<typeof bed.proxy.intercept>): () => void {
  bed.proxy.intercept = (request) => {
    // An outage begins when the run has read the directory.
    if (request.method === 'GET') return writes.length > 0 && answer(request) === 'cut' ? 'cut' : undefined
    writes.push(`${request.method} ${request.url.split('/').at(-1)}`)
    return answer(request)
  }
  return () => {
    writes = []
    bed.proxy.intercept = ({ method, url }) => {
      if (method !== 'GET') writes.push(`${method} ${url.split('/').at(-1)}`)
      return undefined
    }
  }
}

describe('a user who is back while the delete waits is not deleted', () => {
  test.each([
    ['in an outage', 'cut'],
    ['of a service that asks for a pause', LIMITED],
  ] as const)('%s', async (_, answer) => {
    fire('a', 'b')
    const well = trouble(() => answer)
    const run = harness.sync()
    await waits(answer === 'cut' ? 'outage' : 'pause')
    hire('a')
    // The next attempt may follow a recheck that was made before.
    if (answer === 'cut') await anotherOutage(await outages())
    well()
    const ended = await run
    expect(await there()).toBe('acdef')
    expect(writes).toEqual(['DELETE b'])
    expect(ended).toMatchObject({
      state: 'done',
      blocks: [{ code: 'seen-again', changes: 1 }],
      counts: { planned: { 'delete-user': 1 }, blocked: { 'delete-user': 1 }, outcomes: { applied: 1 } },
    })
    expect(await harness.exitCode(ended)).toBe(4)
    expect(await harness.blocked(ended)).toEqual(['delete-user a seen-again'])
  })

  test('after an attempt that failed', async () => {
    fire('a')
    const well = trouble(() => ({ status: 500 }))
    const run = harness.sync()
    await waits('failure')
    hire('a')
    well()
    expect(await run).toMatchObject({ state: 'done', blocks: [{ code: 'seen-again' }] })
    expect(await there()).toBe('abcdef')
  })

  test('and that an operator approved; the approval ends', async () => {
    fire('a', 'b', 'c', 'd')
    const held = await harness.sync()
    expect(held.state).toBe('held')
    const well = trouble(() => LIMITED)
    const approved = harness.approve(held.run)
    await waits()
    hire('a', 'b', 'c')
    const hangs = Promise.withResolvers<void>()
    well()
    const answer = bed.proxy.intercept
    bed.proxy.intercept = async (request) => {
      if (request.method !== 'GET') await hangs.promise
      return answer(request)
    }
    // The approvals end at once, so that they do no harm where the process is killed now.
    const of = { sync: bed.sync, target: bed.target, origin: 'sync' }
    await eventually(async () => expect((await loadLedger(bed.db, of)).ledger.approvals.size).toBe(1))
    hangs.resolve()
    await approved
    expect(await there()).toBe('abcef')
    expect(await harness.sync()).toMatchObject({ blocks: [] })
    fire('a', 'b', 'c', 'e')
    const anew = await harness.sync()
    expect(anew).toMatchObject({ state: 'held', counts: { asking: { 'delete-user': 4 } } })
    await expect(harness.approve(held.run)).rejects.toThrow('nothing to decide')
    expect(await there()).toBe('abcef')
  })
})

test.each(['the first', 'another'])(
  'a user whom %s recheck found is another question after that',
  async (which) => {
    const before = sighting
    fire('a', 'b', 'c', 'd')
    const held = await harness.sync()
    const well = which === 'another' ? trouble(() => LIMITED) : () => undefined
    if (which === 'the first') sighting = (id) => (id === 'a' ? 'present' : before(id))
    const approving = harness.approve(held.run)
    if (which === 'another') await waits()
    sighting = (id) => (id === 'a' ? 'present' : before(id))
    well()
    const approved = await approving
    expect(await harness.exitCode(approved)).toBe(4)
    sighting = before
    expect(await there()).toBe('aef')
    await expect(harness.approve(held.run)).rejects.toThrow('nothing to decide')
    const anew = await harness.sync()
    expect(anew).toMatchObject({ counts: { asking: { 'delete-user': 1 } } })
    await expect(harness.approve(held.run, { ids: ['a'] })).rejects.toThrow('nothing')
    expect(await there()).toBe('aef')
    await harness.approve(anew.run)
    expect(await there()).toBe('ef')
  },
)

test('a user who is back while the delete hangs is looked up before it is sent again', async () => {
  await harness[Symbol.asyncDispose]()
  const patient = await bed.openWithWorker({ recheck: (id) => sighting(id) })
  hire('x', 'y')
  await patient.sync()
  fire('a', 'b', 'c', 'd', 'e', 'f')
  const gates = { a: Promise.withResolvers<void>(), others: Promise.withResolvers<void>() }
  const held = new Set<string>()
  bed.proxy.intercept = async ({ method, url }) => {
    const id = url.split('/').at(-1)!
    if (method !== 'DELETE' || held.has(id)) return undefined
    held.add(id)
    await (id === 'a' ? gates.a : gates.others).promise
    return id === 'a' ? LIMITED : undefined
  }
  const run = patient.sync()
  // As many as one worker sends at once.
  await eventually(() => expect([...held].toSorted().join('')).toBe('abcd'))
  hire('a')
  await sql`UPDATE dirsyncd.applying SET removes_until = now()`.execute(bed.db)
  gates.others.resolve()
  await eventually(async () => expect(await there()).not.toMatch(/[bcd]/))
  // The others that wait are not looked up meanwhile.
  await sleep(500)
  gates.a.resolve()
  expect(await run).toMatchObject({ state: 'done', blocks: [{ code: 'seen-again', changes: 1 }] })
  expect(await there()).toBe('axy')
})

test('a user who was deleted in the run, and is back, is not what it rechecks', async () => {
  fire('f')
  hire('x')
  bed.company.groups.set('g', { name: 'Group', members: ['a', 'b', 'x'] })
  let isDeleted = false
  bed.proxy.intercept = ({ method, url }) => {
    if (method === 'DELETE') {
      isDeleted = true
      hire('f')
    }
    return method !== 'GET' && url.endsWith('/groups/g') && !isDeleted ? { status: 500 } : undefined
  }
  const ended = await harness.sync()
  expect(ended).toMatchObject({ state: 'done', blocks: [], counts: { outcomes: { applied: 3 } } })
  expect([await there(), await groups()]).toEqual(['abcdex', ['g:abx', 'h:']])
})

test('a group that is back while its delete waits is not deleted, and a user who is back stays in the groups', async () => {
  const { groups: all } = bed.company
  const h = all.get('h')!
  all.delete('h')
  fire('f')
  const well = trouble(() => LIMITED)
  const run = harness.sync()
  await waits()
  all.set('h', h)
  hire('f')
  well()
  expect(await run).toMatchObject({ state: 'done', blocks: [{ code: 'seen-again', changes: 2 }] })
  expect([await there(), await groups()]).toEqual(['abcdef', ['g:abf', 'h:f']])
  expect(writes).toEqual([])
})

test('in a long run, what waits to be removed is looked up again, once more after half a minute', async () => {
  hire('x')
  fire('a', 'b')
  bed.company.groups.set('g', { name: 'Group', members: ['f', 'x'] })
  const isCreating = Promise.withResolvers<void>()
  const mayGoOn = Promise.withResolvers<void>()
  bed.proxy.intercept = async ({ method, url }) => {
    if (method === 'POST' && url.endsWith('/users')) {
      isCreating.resolve()
      await mayGoOn.promise
    }
    return undefined
  }
  const run = harness.sync()
  await isCreating.promise
  await sql`UPDATE dirsyncd.applying SET removes_until = now()`.execute(bed.db)
  hire('a')
  mayGoOn.resolve()
  expect(await run).toMatchObject({ state: 'done', blocks: [{ code: 'seen-again' }] })
  // The list that is sent for the new member would lack who is deleted in the same run.
  expect([await there(), await groups()]).toEqual(['acdefx', ['g:afx', 'h:f']])
})

test('a user in the grace period who is back before the groups were changed stays in them', async () => {
  const patient = bed.open({ grace: { deleteAfter: { user: { runs: 3 } } }, recheck: (id) => sighting(id) })
  fire('a', 'b')
  const well = trouble(() => LIMITED)
  const run = patient.sync()
  await waits()
  hire('a')
  well()
  expect(await run).toMatchObject({ state: 'done', blocks: [{ code: 'grace' }, { code: 'seen-again' }] })
  expect([await there(), await groups()]).toEqual(['abcdef', ['g:af', 'h:f']])
})

test('what one recheck found and what the next one finds is one reason', async () => {
  const before = sighting
  let back = 'c'
  sighting = (id) => (id === back ? 'present' : before(id))
  fire('a', 'b', 'c')
  const well = trouble(() => LIMITED)
  const run = harness.sync()
  await waits()
  back = 'a'
  well()
  const ended = await run
  sighting = before
  expect(ended).toMatchObject({ state: 'done', blocks: [{ code: 'seen-again', changes: 2 }] })
  expect(await harness.blocked(ended)).toEqual(['delete-user a seen-again', 'delete-user c seen-again'])
  expect(await there()).toBe('acdef')
})

test('a source that cannot be asked again ends the run, and nothing more is deleted', async () => {
  fire('a')
  const well = trouble(() => ({ status: 503 }))
  const run = harness.sync()
  await waits('failure')
  const { users } = bed.company
  const has = users.has.bind(users)
  users.has = () => {
    throw new Error('the server is down')
  }
  well()
  expect((await run).state).toBe('failed')
  users.has = has
  expect(await there()).toBe('abcdef')
  expect(writes).toEqual([])
  expect(await harness.sync()).toMatchObject({ state: 'done', counts: { outcomes: { applied: 1 } } })
})

test('the e-mail of a user who is back is not given to another one', async () => {
  bed.company.users.set('x', { name: 'Person a', email: 'a@example.org' })
  fire('a')
  const well = trouble(() => ({ status: 503 }))
  const run = harness.sync()
  await waits('failure')
  hire('a')
  well()
  expect(await run).toMatchObject({ state: 'done', blocks: [{ code: 'seen-again' }] })
  const { users } = await seen()
  expect([users.get('a')?.email, users.get('x')]).toEqual([
    'a@example.org',
    { name: 'Person a', email: null },
  ])
})
