import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChangeOf } from '../../../src/core/plan/change.ts'
import type { BatchFault, Outcome } from '../../../src/core/plan/outcome.ts'
import { createBatch } from '../../../src/target/batch/create-batch.ts'
import { tryChange } from '../../../src/target/try-change.ts'
import { clientOf } from '../api/client/fixtures.ts'
import type { Entry } from './directory-server.ts'
import {
  type ListService,
  type ListServiceOptions,
  MIXING_WAYS,
  startListService,
  WAYS,
} from './list-service.ts'

function create(id: string): ChangeOf<'create-user'> {
  return { op: 'create-user', id, want: { email: `${id}@example.org`, name: `User ${id}` } }
}

function entry(id: string, over: object = {}): Entry {
  const blank = { id: 1, first_name: null, last_name: null }
  return { ...blank, external_id: id, email: `${id}@example.org`, name: `User ${id}`, ...over }
}

interface Told {
  /** What became of each id; `not sent` where nothing was. */
  readonly outcomes: Map<string, Outcome['result'] | 'not sent'>
  readonly details: Map<string, Outcome | undefined>
  readonly faults: BatchFault[]
  readonly requests: number
}

interface How {
  readonly check?: boolean
  readonly maySend?: () => boolean
}

async function createAll(
  server: ListService,
  ids: readonly string[],
  { check = false, maySend = () => true }: How = {},
): Promise<Told> {
  await using client = clientOf(server.baseUrl, { retries: { attempts: 1 }, timeouts: { writeMs: 500 } })
  const faults: BatchFault[] = []
  const how = { check, maySend, onFault: (fault: BatchFault) => void faults.push(fault) }
  const target = { directoryId: 7, seenAt: performance.now() }
  const details = new Map<string, Outcome | undefined>()
  let requests = 0
  for await (const { changes, outcome } of createBatch(
    client,
    target,
    ids.map(create),
    how,
    AbortSignal.timeout(20_000),
  )) {
    for (const { id } of changes) {
      expect(details.has(id), `${id} is told of twice`).toBe(false)
      details.set(id, outcome)
    }
    if (outcome !== undefined && 'requests' in outcome) requests += outcome.requests
  }
  const outcomes = new Map([...details].map(([id, outcome]) => [id, outcome?.result ?? 'not sent'] as const))
  return { outcomes, details, faults, requests }
}

const A_TO_D = ['a', 'b', 'c', 'd']

function all(result: string, ids: readonly string[] = A_TO_D): object {
  return new Map(ids.map((id) => [id, result]))
}

function idsOf({ users }: ListService): string[] {
  return users.map(({ external_id: id }) => id)
}

async function withService<T>(
  options: ListServiceOptions,
  work: (server: ListService) => Promise<T>,
): Promise<T> {
  await using server = await startListService(options)
  return await work(server)
}

const LOOKS = ['GET a', 'GET b', 'GET c', 'GET d']
const NOT_THERE = { status: 404, json: { title: 'no such user' } }

describe('a batch that is accepted', () => {
  test('and shown as sent is one request, whatever the order of the answer', () =>
    withService({ ways: ['show-other-order'] }, async (server) => {
      const { outcomes, requests, faults } = await createAll(server, A_TO_D)
      expect(outcomes).toEqual(all('applied'))
      expect(server.calls).toEqual(['POST a b c d'])
      expect({ requests, faults }).toEqual({ requests: 1, faults: [] })
    }))

  test.each(['show-nothing', 'show-object', 'show-half'] as const)('%s: each entry is looked up', (way) =>
    withService({ ways: [way] }, async (server) => {
      const { outcomes, faults } = await createAll(server, A_TO_D)
      expect(outcomes).toEqual(all('applied'))
      expect(server.calls).toEqual(['POST a b c d', ...LOOKS])
      expect(faults).toMatchObject([
        { detail: expect.stringMatching(/answered 201 .* 4 entries .* does not show each as sent$/) },
      ])
    }),
  )

  test.each(MIXING_WAYS)('%s: the run stops, and nothing is corrected', (way) =>
    withService({ ways: [way] }, async (server) => {
      const { outcomes, details } = await createAll(server, A_TO_D)
      expect(outcomes).toEqual(all('applied'))
      expect(details.get('a')).toMatchObject({
        mixedUp: expect.stringMatching(
          /^The service does not show what was sent to it: user "a" was created \(answer 201\) with the e-mail "a@example\.org", and shows the e-mail "b@example\.org", which was sent for user "b"\. So it is with 4 of 4 entries that were looked up of a list of 4\. Nothing more was sent\. .* set directory\.createBatch to 1\./,
        ),
      })
      expect(server.calls).toEqual(['POST a b c d', ...LOOKS])
    }),
  )

  test.each([
    ['is corrected', undefined, 'User c'],
    ['is created although the correction is refused', { status: 422 }, null],
  ] as const)('an entry without its name %s, and is named', (_, correction, name) =>
    withService({ ways: ['lose-a-name'], ...(correction && { correction }) }, async (server) => {
      const { outcomes, faults } = await createAll(server, A_TO_D)
      expect(outcomes).toEqual(all('applied'))
      expect(server.users[2]).toMatchObject({ external_id: 'c', name })
      expect(faults).toMatchObject([{ id: 'c' }])
    }),
  )

  test('and not shown: none is sent again, because the service may be slow', () =>
    withService(
      { ways: ['show-nothing'], reads: Array.from({ length: 4 }, () => NOT_THERE) },
      async (server) => {
        const { details } = await createAll(server, A_TO_D)
        const slow = { result: 'unavailable', status: 201, answeredBy: 'service', timedOut: true }
        for (const id of A_TO_D) expect(details.get(id)).toMatchObject(slow)
        expect(server.calls).toEqual(['POST a b c d', ...LOOKS])
      },
    ))

  test.each(['create-first', 'create-last', 'create-last-and-show-nothing'] as const)(
    '%s: a missing entry is looked up again later',
    (way) =>
      withService({ ways: [way] }, async (server) => {
        const { outcomes, faults } = await createAll(server, A_TO_D)
        const [there] = idsOf(server)
        for (const id of A_TO_D) expect(outcomes.get(id)).toBe(id === there ? 'applied' : 'unavailable')
        expect(faults).toHaveLength(1)
      }),
  )
})

test.each(['show-nothing', 'create-all-and-drop'] as const)(
  '%s: a user whom the service shows with another id counts as missing, and does not affect the others',
  (way) => {
    const other = entry('C', { email: 'c@example.org', name: 'User c' })
    const reads = [undefined, undefined, { status: 200, json: other }]
    return withService({ ways: [way], reads }, async (server) => {
      const { outcomes, details } = await createAll(server, A_TO_D)
      const others = way === 'show-nothing' ? 'applied' : 'found'
      expect(outcomes).toEqual(
        new Map([...(all(others, ['a', 'b', 'd']) as Map<string, string>), ['c', 'not-shown']]),
      )
      expect(details.get('c')).toMatchObject({ detail: expect.stringContaining('shows the entry "C" where') })
      expect(server.calls.filter((call) => call.startsWith('PATCH'))).toEqual([])
    })
  },
)

describe('a batch that is refused', () => {
  test('is looked up, and each missing entry is sent alone', () =>
    withService({ ways: [], refused: ['c'] }, async (server) => {
      const { outcomes, faults } = await createAll(server, A_TO_D)
      expect(outcomes).toEqual(
        new Map([...(all('applied', ['a', 'b', 'd']) as Map<string, string>), ['c', 'refused']]),
      )
      expect(server.calls).toEqual(['POST a b c d', ...LOOKS, 'POST a', 'POST b', 'POST c', 'POST d'])
      expect(faults).toHaveLength(1)
    }))

  test('ends where nothing more may be sent', () =>
    withService({ ways: ['refuse'] }, async (server) => {
      let left = 3
      const { outcomes } = await createAll(server, A_TO_D, { maySend: () => left-- > 0 })
      expect([...outcomes.values()]).toEqual(['applied', 'applied', 'not sent', 'not sent'])
    }))

  test('with 409: those that exist are compared and updated, the others are created', () =>
    withService({ ways: [], existing: [entry('b', { name: 'Old' }), entry('d')] }, async (server) => {
      const { outcomes } = await createAll(server, A_TO_D)
      expect(server.calls).toEqual(['POST a b c d', ...LOOKS, 'PATCH b', 'POST a', 'POST c'])
      expect(outcomes.get('d')).toBe('found')
      expect(server.users.find(({ external_id: id }) => id === 'b')).toMatchObject({ name: 'User b' })
      expect(idsOf(server).toSorted()).toEqual(A_TO_D)
    }))

  test.each([
    ['create-until-refused', ['c'], ['POST a b c d', 'POST c', 'POST d']],
    ['create-some-and-refuse-length', [], ['POST a b c d', 'POST d']],
  ] as const)('%s: nobody who is there is sent again', (way, refused, posts) =>
    withService({ ways: [way], refused }, async (server) => {
      const { details } = await createAll(server, A_TO_D)
      expect(server.calls.filter((call) => call.startsWith('POST'))).toEqual(posts)
      expect(details.get('a')).toMatchObject({ result: 'found' })
      expect(details.get('a')).not.toHaveProperty('wasThere')
    }),
  )

  test('and mixed up stops the run where its entries were known to be missing', () =>
    withService({ ways: ['mix-and-refuse'] }, async (server) => {
      const { details } = await createAll(server, A_TO_D, { check: true })
      expect(details.get('a')).toMatchObject({ mixedUp: expect.stringContaining('sent for user "b"') })
      expect(server.calls.filter((call) => !call.startsWith('GET'))).toEqual(['POST a b c d'])
    }))
})

describe('an unknown outcome', () => {
  test.each(['create-all-and-drop', 'create-all-and-show-page', 'create-all-and-hang'] as const)(
    '%s: each is looked up and found, and none is sent again',
    (way) =>
      withService({ ways: [way] }, async (server) => {
        const { details, faults } = await createAll(server, A_TO_D)
        expect(server.calls).toEqual(['POST a b c d', ...LOOKS])
        for (const id of A_TO_D) {
          expect(details.get(id)).toMatchObject({ result: 'found' })
          expect(details.get(id)).not.toHaveProperty('wasThere')
        }
        expect(faults).toHaveLength(1)
      }),
  )

  test.each(['create-half-and-drop', 'create-half-and-time-out', 'create-none-and-drop'] as const)(
    '%s: a missing entry is not sent again, because the service may still create it',
    (way) =>
      withService({ ways: [way] }, async (server) => {
        const { outcomes } = await createAll(server, A_TO_D)
        const half = way === 'create-none-and-drop' ? 'unavailable' : 'found'
        expect([...outcomes.values()].toSorted()).toEqual([half, half, 'unavailable', 'unavailable'])
        expect(server.calls).toEqual(['POST a b c d', ...LOOKS])
      }),
  )

  test('a 429 stops all of it, and nothing was done', () =>
    withService({ ways: ['limit-rate'] }, async (server) => {
      const { outcomes, faults } = await createAll(server, A_TO_D)
      expect(outcomes).toEqual(all('rate-limited'))
      expect(server.calls).toHaveLength(1)
      expect(faults).toEqual([])
    }))

  test('with check, only those are sent that are not there', () =>
    withService({ ways: [], existing: [entry('a')] }, async (server) => {
      const { details } = await createAll(server, A_TO_D, { check: true })
      expect(details.get('a')).toMatchObject({ result: 'found', wasThere: true })
      expect(server.calls).toEqual([...LOOKS, 'POST b c d'])
    }))
})

/** Applies as a worker does: what has no outcome yet is tried again, looked up, and alone. */
async function applyLikeAWorker(
  server: ListService,
  ids: readonly string[],
  check: boolean,
): Promise<Map<string, string>> {
  await using client = clientOf(server.baseUrl, { retries: { attempts: 1 } })
  const ends = new Map<string, string>()
  const note = ({ outcomes }: Told): string[] => {
    for (const [id, result] of outcomes) ends.set(id, result)
    return [...outcomes].flatMap(([id, result]) => (result === 'rate-limited' ? [id] : []))
  }
  let fresh = note(await createAll(server, ids, { check }))
  while (fresh.length > 0) fresh = note(await createAll(server, fresh, { check }))
  const target = { directoryId: 7, seenAt: performance.now() }
  for (let attempt = 2; attempt <= 5; attempt += 1) {
    for (const [id, end] of ends) {
      if (end !== 'unavailable') continue
      const outcome = await tryChange(
        client,
        target,
        create(id),
        { check: true },
        AbortSignal.timeout(20_000),
      )
      ends.set(id, outcome.result)
    }
  }
  return ends
}

test('whichever list the service mixes up, no user is sent twice or corrected, and nothing is sent after it', () =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 12 }),
      fc.array(fc.constantFrom('refuse', 'create-all', 'create-half-and-drop', ...MIXING_WAYS), {
        maxLength: 6,
      }),
      async (length, ways) => {
        const ids = Array.from({ length }, (_, index) => `u${index}`)
        await withService({ ways }, async (server) => {
          const { details } = await createAll(server, ids)
          const mixed = server.users.filter(({ external_id: id, email }) => email !== `${id}@example.org`)
          const stops = [...details.values()].some((outcome) => outcome !== undefined && 'mixedUp' in outcome)
          expect(stops).toBe(mixed.length > 0)
          expect(new Set(idsOf(server)).size).toBe(server.users.length)
          expect(server.calls.filter((call) => call.startsWith('PATCH'))).toEqual([])
          const last = server.calls.findLast((call) => call.startsWith('POST'))
          if (stops) expect(last?.split(' ').slice(1)).toEqual(mixed.map(({ external_id: id }) => id))
        })
      },
    ),
    { numRuns: 60 },
  ))

test("whatever the service does with lists, each user is created once, with the user's own values", () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        length: fc.integer({ min: 2, max: 12 }),
        ways: fc.array(fc.constantFrom(...WAYS), { maxLength: 6 }),
        existing: fc.uniqueArray(fc.nat(11), { maxLength: 3 }),
        differing: fc.boolean(),
        refused: fc.uniqueArray(fc.nat(11), { maxLength: 3 }),
        lost: fc.array(fc.constantFrom(undefined, undefined, 500 as const, 'drop' as const), {
          maxLength: 12,
        }),
        check: fc.boolean(),
      }),
      async ({ length, ways, existing, differing, refused, lost, check }) => {
        const ids = Array.from({ length }, (_, index) => `u${index}`)
        const there = ids.filter((_, index) => existing.includes(index))
        const no = ids.filter((id, index) => refused.includes(index) && !there.includes(id))
        await withService(
          {
            ways,
            existing: there.map((id) => entry(id, differing ? { name: 'Old' } : {})),
            refused: no,
            reads: lost.map((each) => (typeof each === 'number' ? { status: each } : each)),
          },
          async (server) => {
            const ends = await applyLikeAWorker(server, ids, check)
            const left = ids.filter((id) => !no.includes(id))
            const sorted = server.users.toSorted(
              (a, b) => ids.indexOf(a.external_id) - ids.indexOf(b.external_id),
            )
            expect(sorted).toMatchObject(
              left.map((id) => ({ external_id: id, email: `${id}@example.org`, name: `User ${id}` })),
            )
            expect(sorted).toHaveLength(left.length)
            for (const id of left) expect(['applied', 'found']).toContain(ends.get(id))
            for (const id of no) expect(ends.get(id)).toBe('refused')
          },
        )
      },
    ),
    { numRuns: 60 },
  ))
