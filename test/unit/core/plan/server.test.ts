import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Difference } from '../../../../src/core/block.ts'
import { type ServerEvidence, comparePositions } from '../../../../src/core/entries/position.ts'
import { judgeServer, type ServerMemory } from '../../../../src/core/plan/server.ts'

const HOUR = 3_600_000
const START = Date.parse('2026-11-22T12:00:00Z')

function at(ms: number, accepted: readonly string[] = []): Parameters<typeof judgeServer>[2] {
  return {
    now: new Date(START + ms),
    confirmAfterMs: HOUR,
    hidesServers: false,
    isAccepted: (token) => accepted.includes(token),
  }
}

function evidence(more: Partial<ServerEvidence> = {}): ServerEvidence {
  return {
    url: 'ldap://dc.example.org:389',
    address: '10.0.0.1',
    addresses: 2,
    database: 'dc=example,dc=org db',
    position: { 'dc=example,dc=org 001': '100' },
    hints: {},
    ...more,
  }
}

/** After a good read of this server; through JSON, as the store keeps it. */
function memoryOf(seen: ServerEvidence, ms = 0): ServerMemory {
  return JSON.parse(JSON.stringify(judgeServer(undefined, seen, at(ms)).next)) as ServerMemory
}

const position = (value: string, others: Record<string, string> = {}) => ({
  'dc=example,dc=org 001': value,
  ...others,
})

describe('a server that shows its position', () => {
  test('the first read may change everything, and its position is kept', () => {
    const { scope, next, meanwhile, trouble } = judgeServer(undefined, evidence(), at(0))
    expect({ scope, meanwhile, trouble }).toEqual({ scope: 'everything' })
    expect(next).toMatchObject({
      address: '10.0.0.1',
      database: 'dc=example,dc=org db',
      position: position('100'),
    })
  })

  test('that went on while it was read is judged by where it was before, and is kept where it was then', () => {
    const memory = memoryOf(evidence())
    const caughtUp = { position: position('102'), positionAtStart: position('99') }
    expect(judgeServer(memory, evidence(caughtUp), at(HOUR))).toMatchObject({
      scope: 'nothing',
      state: { params: { difference: { key: 'dc=example,dc=org 001', known: '100', seen: '99' } } },
    })
    const goesOn = { position: position('102'), positionAtStart: position('100') }
    expect(judgeServer(memory, evidence(goesOn), at(HOUR))).toMatchObject({
      scope: 'everything',
      next: { position: position('102') },
    })
  })

  test.each([
    ['equal', position('100')],
    ['newer', position('101')],
    ['newer by another origin', position('100', { 'dc=example,dc=org 002': '1' })],
  ])('%s: everything, and its position is kept once the run has completed', (_, seen) => {
    const memory = memoryOf(evidence())
    const judgement = judgeServer(memory, evidence({ position: seen }), at(HOUR))
    expect(judgement).toMatchObject({ scope: 'everything', next: { position: seen } })
    expect(judgement.meanwhile?.position).toEqual(memory.position)
  })

  test('older: nothing, and the sentence names both servers, the key and both values', () => {
    const memory = memoryOf(evidence())
    const other = evidence({ address: '10.0.0.2', position: position('99') })
    const { scope, state, trouble, next, meanwhile } = judgeServer(memory, other, at(HOUR))
    expect(scope).toBe('nothing')
    expect(state).toEqual({
      code: 'not-newer',
      params: {
        how: 'older',
        server: 'ldap://dc.example.org:389 (10.0.0.2)',
        last: 'ldap://dc.example.org:389 (10.0.0.1)',
        difference: { key: 'dc=example,dc=org 001', known: '100', seen: '99' },
        since: '2026-11-22T13:00:00.000Z',
        until: '2026-11-23T13:00:00.000Z',
        needsApproval: false,
      },
    })
    expect(trouble?.needsApproval).toBe(false)
    expect(next).toEqual({ ...memory, notNewerSince: '2026-11-22T13:00:00.000Z' })
    expect(meanwhile).toEqual(next)
  })

  test.each([
    [
      'incomparable',
      { position: position('99', { 'dc=example,dc=org 002': '1' }) },
      'diverged',
      { key: 'dc=example,dc=org 001', known: '100', seen: '99' },
    ],
    [
      'of another database',
      { database: 'dc=example,dc=org other', position: position('200') },
      'other-database',
      { key: 'database', known: 'dc=example,dc=org db', seen: 'dc=example,dc=org other' },
    ],
    [
      'unreadable',
      { position: undefined },
      'hidden',
      { key: 'dc=example,dc=org 001', known: '100', seen: null },
    ],
  ])('%s: additions only, and the last good read stays what is compared with', (_, more, how, difference) => {
    const memory = memoryOf(evidence())
    const { scope, state, next } = judgeServer(memory, evidence(more), at(HOUR))
    expect(scope).toBe('additions')
    expect(state).toMatchObject({ code: 'not-newer', params: { how, difference } })
    expect(next.position).toEqual(memory.position)
  })

  describe('after entries were added on the word of another server', () => {
    const OTHER = position('99', { 'dc=example,dc=org 002': '7' })
    const fromOther = judgeServer(memoryOf(evidence()), evidence({ position: OTHER }), at(0))
    const added = fromOther.withAdditions

    test('its position is kept, and nothing where the server was only older or is of another database', () => {
      expect(fromOther.next.added).toBeUndefined()
      expect(added).toMatchObject({ position: position('100'), added: [OTHER] })
      const others = [{ position: position('99') }, { position: OTHER, database: 'dc=example,dc=org other' }]
      for (const each of others)
        expect(judgeServer(memoryOf(evidence()), evidence(each), at(0)).withAdditions).toBeUndefined()
    })

    test('a server that has not heard of them only adds, as long as it is so', () => {
      const judgement = judgeServer(added, evidence({ position: position('101') }), at(HOUR))
      expect(judgement).toMatchObject({ scope: 'additions', next: { added: [OTHER] } })
      expect(judgement.state.params).toMatchObject({
        how: 'lacks-additions',
        difference: { key: 'dc=example,dc=org 002', known: '7', seen: null },
      })
      const both = { 'dc=example,dc=org 002': '7' }
      const { scope, next } = judgeServer(added, evidence({ position: position('101', both) }), at(HOUR))
      expect([scope, next.added]).toEqual(['everything', undefined])
    })

    test('a later position of the same server replaces the earlier one', () => {
      const later = position('99', { 'dc=example,dc=org 002': '8' })
      const again = judgeServer(added, evidence({ position: later }), at(HOUR))
      expect(again.withAdditions?.added).toEqual([later])
      const third = position('99', { 'dc=example,dc=org 003': '1' })
      const more = judgeServer(added, evidence({ position: third }), at(HOUR))
      expect(more.withAdditions?.added).toEqual([OTHER, third])
    })

    test('a person can accept a server that will never hear of them', () => {
      const behind = evidence({ position: position('101') })
      const token = judgeServer(added, behind, at(HOUR)).trouble?.token ?? ''
      const { scope, next } = judgeServer(added, behind, at(HOUR, [token]))
      expect([scope, next.added]).toEqual(['everything', undefined])
    })
  })

  test('after a day an operator must decide', () => {
    let memory = memoryOf(evidence())
    const old = evidence({ position: position('99') })
    memory = judgeServer(memory, old, at(HOUR)).next
    expect(judgeServer(memory, old, at(25 * HOUR - 1)).trouble?.needsApproval).toBe(false)
    const { trouble, state } = judgeServer(memory, old, at(25 * HOUR))
    expect(trouble?.needsApproval).toBe(true)
    expect(state.params).toMatchObject({ since: '2026-11-22T13:00:00.000Z', needsApproval: true })
  })

  test('the day begins anew when the server was as new in between, although that run did not complete', () => {
    const old = evidence({ position: position('99') })
    const troubled = judgeServer(memoryOf(evidence()), old, at(0)).next
    const recovered = judgeServer(troubled, evidence(), at(20 * HOUR)).meanwhile
    expect(judgeServer(recovered, old, at(25 * HOUR)).trouble?.needsApproval).toBe(false)
  })

  test('a clock that was set back does not delay the decision for ever', () => {
    const old = evidence({ position: position('99') })
    const ahead = judgeServer(memoryOf(evidence()), old, at(10_000 * HOUR)).next
    const { next } = judgeServer(ahead, old, at(0))
    expect(judgeServer(next, old, at(24 * HOUR)).trouble?.needsApproval).toBe(true)
  })

  test('acceptance replaces the known position when the run completes, and not before', () => {
    const memory = memoryOf(evidence())
    const old = evidence({ position: position('99') })
    const token = judgeServer(memory, old, at(0)).trouble?.token ?? ''
    const judgement = judgeServer(memory, old, at(HOUR, [token]))
    expect(judgement).toMatchObject({
      scope: 'everything',
      trouble: undefined,
      next: { position: position('99') },
    })
    expect(judgement.meanwhile).toEqual(memory)
    expect(judgeServer(judgement.next, old, at(2 * HOUR)).scope).toBe('everything')
  })

  test('the token stays while the server moves on, and differs for another server, database or last good read', () => {
    const memory = memoryOf(evidence())
    const tokenOf = (known: ServerMemory, seen: Partial<ServerEvidence>) =>
      judgeServer(known, evidence({ position: position('50'), ...seen }), at(0)).trouble?.token
    const token = tokenOf(memory, {})
    expect(token).toMatch(/^server-[0-9a-f]{32}$/)
    expect(
      tokenOf({ ...memory, notNewerSince: '2026-11-20T00:00:00.000Z' }, { position: position('51') }),
    ).toBe(token)
    const others = [
      tokenOf(memory, { address: '10.0.0.3' }),
      tokenOf(memory, { url: 'ldap://other.example.org:389' }),
      tokenOf(memory, { database: 'other' }),
      tokenOf({ ...memory, position: position('101') }, {}),
    ]
    expect(new Set([token, ...others]).size).toBe(5)
  })
})

describe('a server that shows no position', () => {
  const only = {
    addresses: 1,
    database: undefined,
    position: undefined,
    hints: { dataversion: '1', 'lastusn;a': '5' },
  }

  test('the only one, as it was: everything', () => {
    const memory = memoryOf(evidence(only))
    expect(judgeServer(undefined, evidence(only), at(0)).scope).toBe('everything')
    expect(judgeServer(memory, evidence(only), at(HOUR)).scope).toBe('everything')
  })

  test('behind an address that may hide several: deletes wait for a second read', () => {
    const alone = evidence({ position: undefined, addresses: 1 })
    const { scope, state } = judgeServer(undefined, alone, { ...at(0), hidesServers: true })
    expect(scope).toBe('confirmed-deletes')
    expect(state).toMatchObject({ code: 'no-state', params: { why: { how: 'perhaps-several' } } })
    expect(judgeServer(undefined, alone, at(0)).scope).toBe('everything')
  })

  test('one of several: deletes wait for a second read', () => {
    const several = evidence({ ...only, addresses: 3 })
    const { scope, state } = judgeServer(memoryOf(several), several, at(HOUR))
    expect(scope).toBe('confirmed-deletes')
    expect(state).toMatchObject({
      code: 'no-state',
      params: { why: { how: 'several-addresses', addresses: 3 } },
    })
    expect(judgeServer(undefined, several, at(0)).scope).toBe('confirmed-deletes')
  })

  test.each<[Difference, Partial<ServerEvidence>]>([
    [{ key: 'address', known: '10.0.0.1', seen: '10.0.0.9' }, { address: '10.0.0.9' }],
    [{ key: 'dataversion', known: '1', seen: '2' }, { hints: { dataversion: '2', 'lastusn;a': '5' } }],
    [{ key: 'lastusn;a', known: '5', seen: '4' }, { hints: { dataversion: '1', 'lastusn;a': '4' } }],
    [{ key: 'database', known: null, seen: 'x' }, { database: 'x' }],
  ])('%o: deletes wait until the change is as old as a confirmed delete', (difference, more) => {
    const changed = evidence({ ...only, ...more })
    const { scope, state, next } = judgeServer(memoryOf(evidence(only)), changed, at(0))
    expect(scope).toBe('confirmed-deletes')
    expect(state).toMatchObject({ code: 'no-state', params: { why: { how: 'other-server', difference } } })
    const soon = judgeServer(next, changed, at(HOUR - 1))
    expect(soon.scope).toBe('confirmed-deletes')
    expect(judgeServer(soon.next, changed, at(HOUR)).scope).toBe('everything')
  })

  test('one that begins to show its position is believed, and the position is kept', () => {
    const { scope, next } = judgeServer(memoryOf(evidence(only)), evidence(), at(HOUR))
    expect([scope, next.position]).toEqual(['everything', position('100')])
  })
})

/** What a server may show in a row of reads. */
const step = fc.record({
  hours: fc.nat({ max: 30 }),
  accept: fc.boolean(),
  completes: fc.boolean(),
  address: fc.constantFrom('10.0.0.1', '10.0.0.2'),
  addresses: fc.constantFrom(1, 2),
  database: fc.constantFrom('db', 'other', undefined),
  position: fc.option(
    fc.dictionary(fc.constantFrom('a', 'b'), fc.integer({ min: 1, max: 4 }).map(String), {
      noNullPrototype: true,
    }),
    { nil: undefined },
  ),
})

test('whatever servers show: the known position never falls, and less never becomes everything, but by acceptance', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let memory: ServerMemory | undefined
      let ms = 0
      for (const { hours, accept, completes, ...more } of steps) {
        ms += hours * HOUR
        const seen = evidence(more)
        const circumstances = {
          now: new Date(START + ms),
          confirmAfterMs: HOUR,
          hidesServers: false,
          isAccepted: () => accept,
        }
        const { scope, next, meanwhile, trouble } = judgeServer(memory, seen, circumstances)
        const known = memory?.position
        const isAsNew =
          known === undefined ||
          (seen.position !== undefined &&
            ['equal', 'newer'].includes(
              comparePositions({ ...memory, position: known }, { ...seen, position: seen.position }).order,
            ))
        if (!isAsNew && !accept) {
          expect(['additions', 'nothing']).toContain(scope)
          expect(trouble).toBeDefined()
          expect([next.position, next.database]).toEqual([known, memory?.database])
        }
        if (isAsNew) expect(['everything', 'confirmed-deletes']).toContain(scope)
        expect([meanwhile?.position, meanwhile?.database]).toEqual([known, memory?.database])
        memory = completes ? next : meanwhile
      }
    }),
  )
})
