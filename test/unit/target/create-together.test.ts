import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../src/api/client/api-error.ts'
import { failureOfReply } from '../../../src/api/client/failure.ts'
import type { CreateUser } from '../../../src/core/plan/change.ts'
import type { ListFault, Outcome } from '../../../src/core/plan/outcome.ts'
import { createTogether } from '../../../src/target/together/create-together.ts'
import type { Patience } from '../../../src/target/together/entries.ts'
import { nextAfter } from '../../../src/target/together/next.ts'
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

function create(id: string): CreateUser {
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
  readonly limits: number[]
  readonly faults: ListFault[]
  readonly requests: number
}

interface How {
  readonly check?: boolean
  readonly maySend?: () => boolean
  readonly proved?: Map<string, number>
  readonly refusesWhole?: Set<number | undefined>
  readonly patience?: Patience
}

const SHORT: Patience = { first: 1, giveUp: 4 }

async function createAll(
  server: ListService,
  ids: readonly string[],
  {
    check = false,
    maySend = () => true,
    proved = new Map(),
    refusesWhole = new Set(),
    patience = SHORT,
  }: How = {},
): Promise<Told> {
  await using client = clientOf(server.baseUrl, { retries: { attempts: 1 }, timeouts: { writeMs: 500 } })
  const faults: ListFault[] = []
  const how = { check, maySend, patience, onListFault: (fault: ListFault) => void faults.push(fault) }
  const target = { directoryId: 7, proved, refusesWhole, seenAt: performance.now() }
  const details = new Map<string, Outcome | undefined>()
  let requests = 0
  for await (const { changes, outcome } of createTogether(
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
  return { outcomes, details, limits: faults.map(({ entries }) => entries), faults, requests }
}

const POST = {
  operation: 'createUsers',
  method: 'POST',
  scope: 'ORG',
  path: '/users',
  baseUrl: 'http://x',
} as const
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

describe('a list that is accepted', () => {
  test('is one request, whatever the order of the answer', () =>
    withService({ ways: ['show-other-order'] }, async (server) => {
      const { outcomes, requests, limits } = await createAll(server, A_TO_D)
      expect(outcomes).toEqual(all('applied'))
      expect(server.calls).toEqual(['POST a b c d'])
      expect({ requests, limits }).toEqual({ requests: 1, limits: [] })
    }))

  test.each(['show-nothing', 'show-object'] as const)(
    '%s: every entry of the first list is looked up, and the first and last of further ones',
    (way) =>
      withService({ ways: [way, way] }, async (server) => {
        const proved = new Map<string, number>()
        expect((await createAll(server, A_TO_D, { proved })).outcomes).toEqual(all('applied'))
        expect(server.calls).toEqual(['POST a b c d', 'GET a', 'GET b', 'GET c', 'GET d'])
        const second = await createAll(server, ['e', 'f', 'g', 'h'], { proved })
        expect(server.calls.slice(5)).toEqual(['POST e f g h', 'GET e', 'GET h'])
        expect(second).toMatchObject({
          outcomes: all('applied', ['e', 'f', 'g', 'h']),
          limits: [],
          requests: 3,
        })
      }),
  )

  test('of which the service shows the half: the others are looked up', () =>
    withService({ ways: ['show-half'] }, async (server) => {
      const { outcomes, limits } = await createAll(server, A_TO_D)
      expect(outcomes).toEqual(all('applied'))
      expect(server.calls).toEqual(['POST a b c d', 'GET c', 'GET d'])
      expect(limits).toEqual([])
    }))

  test.each(MIXING_WAYS)('%s: the run stops, and nothing is corrected', (way) =>
    withService({ ways: [way] }, async (server) => {
      const { outcomes, details, limits } = await createAll(server, A_TO_D)
      expect(outcomes).toEqual(all('applied'))
      expect(details.get('a')).toMatchObject({
        mixedUp: expect.stringMatching(
          /^The service does not show what was sent to it: user "a" was created \(answer 201\) with the e-mail "a@example\.org", and shows the e-mail "b@example\.org", which was sent for user "b"\. So it is with 4 of 4 entries that were looked up of a list of 4\. Nothing more was sent\. .* set directory\.createBatch to 1\./,
        ),
      })
      expect(server.calls).toEqual(['POST a b c d', 'GET a', 'GET b', 'GET c', 'GET d'])
      expect(limits).toEqual([])
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
      const detail = 'got the name "User c", and shows no name (one of a list of 4)'
      expect(faults).toEqual([{ entries: 1, id: 'c', detail }])
    }),
  )

  const NOT_THERE = { status: 404, json: { title: 'no such user' } }

  test('and shown a moment later proves as much', () =>
    withService({ ways: ['show-nothing'], reads: [NOT_THERE, NOT_THERE, NOT_THERE] }, async (server) => {
      const proved = new Map<string, number>()
      const { outcomes, limits } = await createAll(server, A_TO_D, { proved })
      expect({ outcomes, limits, proved: proved.size }).toEqual({
        outcomes: all('applied'),
        limits: [],
        proved: 1,
      })
      // Until it shows, the first one stands for all.
      expect(server.calls).toEqual([
        'POST a b c d',
        'GET a',
        'GET a',
        'GET a',
        'GET a',
        'GET b',
        'GET c',
        'GET d',
      ])
    }))

  test.each([0, 4])('and not shown at all is the next run’s, where lists of %i were proved', (length) =>
    withService(
      { ways: ['show-nothing'], reads: Array.from({ length: 50 }, () => NOT_THERE) },
      async (server) => {
        const proved = new Map([['create-user email name', length]])
        const { details, faults } = await createAll(server, A_TO_D, { proved })
        for (const id of A_TO_D) expect(details.get(id)).toMatchObject({ result: 'not-shown', status: 201 })
        expect(faults).toEqual([
          {
            entries: 1,
            id: 'a',
            detail: 'was accepted with 201, and is not there (one of a list of 4)',
            isSingle: false,
          },
        ])
        expect(server.calls.filter((call) => call.startsWith('POST'))).toHaveLength(1)
      },
    ),
  )

  test('without one of its entries is told as such: lists may go on', () =>
    withService({ ways: ['lose-one'] }, async (server) => {
      const { outcomes, faults } = await createAll(server, A_TO_D)
      expect(outcomes).toEqual(new Map([...(all('applied') as Map<string, string>), ['c', 'unavailable']]))
      expect(faults).toMatchObject([{ id: 'c', isSingle: true }])
    }))

  test('lists that were proved and go wrong later are noticed by their first and last entry', () =>
    withService({ ways: ['mix-emails-and-show-nothing'] }, async (server) => {
      const proved = new Map([['create-user email name', 4]])
      const { details } = await createAll(server, A_TO_D, { proved })
      expect(details.get('a')).toMatchObject({ mixedUp: expect.stringContaining('4 of 4 entries') })
      expect(proved.size).toBe(0)
    }))

  test.each(['create-first', 'create-last', 'create-last-and-show-nothing'] as const)(
    '%s: a missing entry is looked up again later, and no list is sent any more',
    (way) =>
      withService({ ways: [way] }, async (server) => {
        const { details, limits } = await createAll(server, A_TO_D)
        const [there] = idsOf(server)
        for (const id of A_TO_D) {
          const missing = { result: 'unavailable', status: 201, answeredBy: 'service' }
          expect(details.get(id)).toMatchObject(id === there ? { result: 'applied' } : missing)
        }
        expect(limits).toEqual([1])
      }),
  )

  test('whose lookup fails proves nothing, and tells of no limit', () =>
    withService(
      { ways: ['show-nothing'], reads: [undefined, { status: 500 }, { status: 500 }] },
      async (server) => {
        const proved = new Map<string, number>()
        const { outcomes, limits } = await createAll(server, A_TO_D, { proved })
        expect([...outcomes.values()]).toEqual(['applied', 'unavailable', 'unavailable', 'unavailable'])
        expect({ limits, proved: proved.size }).toEqual({ limits: [], proved: 0 })
      },
    ))
})

test.each(['show-nothing', 'create-all-and-drop'] as const)(
  '%s: a user whom the service shows with another id counts as missing, and does not affect the others',
  (way) => {
    const other = entry('C', { email: 'c@example.org', name: 'User c' })
    const reads = [undefined, undefined, { status: 200, json: other }]
    return withService({ ways: [way], reads }, async (server) => {
      const { outcomes, details } = await createAll(server, A_TO_D, { patience: { first: 1, giveUp: 0 } })
      const others = way === 'show-nothing' ? 'applied' : 'found'
      expect(outcomes).toEqual(
        new Map([...(all(others, ['a', 'b', 'd']) as Map<string, string>), ['c', 'not-shown']]),
      )
      expect(details.get('c')).toMatchObject({ detail: expect.stringContaining('shows the entry "C" where') })
      expect(server.calls.filter((call) => call.startsWith('PATCH'))).toEqual([])
    })
  },
)

describe('a list that is refused', () => {
  test('is halved until the refused entry stands alone; the others are created', () =>
    withService({ ways: [], refused: ['c'] }, async (server) => {
      const { outcomes, limits } = await createAll(server, A_TO_D)
      expect(outcomes).toEqual(
        new Map([...(all('applied', ['a', 'b', 'd']) as Map<string, string>), ['c', 'refused']]),
      )
      expect(idsOf(server)).toEqual(['a', 'b', 'd'])
      const posts = ['POST a b c d', 'POST a b', 'POST c d', 'POST c', 'POST d']
      const looks = ['GET a', 'GET b', 'GET c', 'GET d', 'GET c', 'GET d']
      expect(server.calls).toEqual([
        posts[0],
        ...looks.slice(0, 4),
        ...posts.slice(1, 3),
        ...looks.slice(4),
        ...posts.slice(3),
      ])
      expect(limits).toEqual([])
    }))

  test('is looked up whole until no entry of a list was there, and then at its ends', () =>
    withService({ ways: [], refused: ['c', 'y'] }, async (server) => {
      const refusesWhole = new Set<number | undefined>()
      await createAll(server, A_TO_D, { refusesWhole })
      expect(refusesWhole).toEqual(new Set([422]))
      const before = server.calls.length
      await createAll(server, ['w', 'x', 'y', 'z'], { refusesWhole })
      expect(server.calls.slice(before, before + 4)).toEqual(['POST w x y z', 'GET w', 'GET z', 'POST w x'])
    }))

  test.each([
    [400, 'look-at-ends'],
    [404, 'halve'],
    [409, 'look-and-go-on'],
    [413, 'halve'],
    [415, 'halve'],
    [422, 'look-at-ends'],
    [401, 'share'],
    [403, 'share'],
    [429, 'share'],
    [302, 'share'],
    [425, 'share'],
    [408, 'look'],
    [500, 'look'],
    [503, 'look'],
    [504, 'look'],
  ] as const)('%i: %s', (status, next) => {
    const reply = { status, headers: {}, body: '' }
    const error = new ApiError(POST, failureOfReply(reply, true, [], 0))
    expect(nextAfter(error, false)).toBe(next)
  })

  test('for its length: no longer one is sent than was accepted', () =>
    withService({ ways: ['refuse-length', 'refuse-length', 'refuse-length'] }, async (server) => {
      const { outcomes, limits } = await createAll(server, A_TO_D)
      expect(outcomes).toEqual(all('applied'))
      expect(server.calls).toEqual(['POST a b c d', 'POST a b', 'POST c d'])
      expect(limits).toEqual([2])
    }))

  test('nothing more is sent when it may not', () =>
    withService({ ways: ['refuse'] }, async (server) => {
      let left = 2
      const { outcomes, limits } = await createAll(server, A_TO_D, { maySend: () => left-- > 0 })
      expect([...outcomes]).toEqual([
        ['a', 'applied'],
        ['b', 'applied'],
        ['c', 'not sent'],
        ['d', 'not sent'],
      ])
      expect(limits).toEqual([])
    }))

  test('with 409: those that exist are compared and updated, the others are created', () =>
    withService({ ways: [], existing: [entry('b', { name: 'Old' }), entry('d')] }, async (server) => {
      const { details, limits } = await createAll(server, A_TO_D)
      expect(server.calls).toEqual([
        'POST a b c d',
        'GET a',
        'GET b',
        'GET c',
        'GET d',
        'PATCH b',
        'POST a c',
      ])
      expect(details.get('b')).toMatchObject({ result: 'applied', status: 200 })
      // Behind one that is missing: a service that created the list up to the conflict would not have created this one.
      expect(details.get('d')).toMatchObject({ result: 'found', wasThere: true })
      expect(server.users.find(({ external_id: id }) => id === 'b')).toMatchObject({ name: 'User b' })
      expect(idsOf(server).toSorted()).toEqual(A_TO_D)
      expect(limits).toEqual([])
    }))
})

describe('a list of which the service creates a part, and then refuses it', () => {
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

  test('and mixes it up: the run stops where they were known to be missing', () =>
    withService({ ways: ['mix-and-refuse'] }, async (server) => {
      const { details } = await createAll(server, A_TO_D, { check: true })
      expect(details.get('a')).toMatchObject({ mixedUp: expect.stringContaining('sent for user "b"') })
      expect(server.calls.filter((call) => !call.startsWith('GET'))).toEqual(['POST a b c d'])
    }))
})

describe('an unknown outcome', () => {
  test.each(['create-all-and-drop', 'create-all-and-show-page'] as const)(
    '%s: each is looked up and found, and none is sent again',
    (way) =>
      withService({ ways: [way] }, async (server) => {
        const { details } = await createAll(server, A_TO_D)
        expect(server.calls).toEqual(['POST a b c d', 'GET a', 'GET b', 'GET c', 'GET d'])
        for (const id of A_TO_D) {
          expect(details.get(id)).toMatchObject({ result: 'found' })
          expect(details.get(id)).not.toHaveProperty('wasThere')
        }
      }),
  )

  test('a 429 stops all of it, and nothing was done', () =>
    withService({ ways: ['limit-rate'] }, async (server) => {
      expect((await createAll(server, A_TO_D)).outcomes).toEqual(all('rate-limited'))
      expect(server.calls).toHaveLength(1)
    }))

  test('with check, only those are sent that are not there', () =>
    withService({ ways: [], existing: [entry('a')] }, async (server) => {
      const { details } = await createAll(server, A_TO_D, { check: true })
      expect(details.get('a')).toMatchObject({ result: 'found', wasThere: true })
      expect(server.calls).toEqual(['GET a', 'GET b', 'GET c', 'GET d', 'POST b c d'])
    }))

  test.each(['create-all-and-hang', 'create-half-and-time-out'] as const)(
    '%s: next ones are half as long',
    (way) =>
      withService({ ways: [way] }, async (server) => {
        expect((await createAll(server, A_TO_D)).limits).toEqual([2])
      }),
  )
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
