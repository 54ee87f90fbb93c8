import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redact } from '../../../src/operations/bundle/redact.ts'

const BY = { salt: 'a salt', withTexts: false }
const HASH = expect.stringMatching(/^\[hidden [0-9a-f]{12}\]$/)

describe('the parameters of a fact', () => {
  const group = { group: 'groups', list: 'cn=groups,dc=corp,dc=test' }

  test.each<[string, object]>([
    ['counts, limits and codes', { kind: 'users', deletes: 1_204, of: 20_000, limit: 50, how: 'no-members' }],
    ['times', { since: '2026-11-21T07:29:03.000Z', until: '2026-11-22T07:29:03Z', needsApproval: false }],
    ['what is empty', { name: null, undo: null, at: new Date(0) }],
    ['fields', { fields: ['email', 'name'] }],
  ])('keep %s', (_what, params) => {
    expect(redact(params, BY)).toEqual(params)
  })

  test.each<[string, object]>([
    ['an id that is a short number', { email: 'x', owner: '731', how: 'held' }],
    ['the ids of members', { examples: ['731', '732'], total: 2 }],
    ['a name of program words', { how: 'no-members', group: 'groups', had: 31 }],
    ['a nested name', { reason: { code: 'unresolved', params: { ...group, member: 'groups' } } }],
    ["the service's own ids", { ownIds: [731, 7_311], ownId: 731 }],
    ['an e-mail address', { now: { name: null, email: '731@groups.test' } }],
    ['the operator', { by: 'groups', run: 7 }],
    ['a place and a sentence', { from: 'cn=groups', fault: 'groups 731', answer: '731', reason: 'groups' }],
    ['a time that is none', { at: 'groups', since: '731' }],
  ])('lose %s', (_what, params) => {
    expect(JSON.stringify(redact(params, BY))).not.toMatch(/731|"[^"]*groups[^"]*"(?!:)/)
  })
})

test('a text has one hash in a bundle, and another one in another bundle', () => {
  const [one, other] = ['a salt', 'another'].map((salt) => redact(['ana', 'eva', 'ana'], { ...BY, salt }))
  expect(one).toEqual([HASH, HASH, HASH])
  const [ana, eva, again] = one as string[]
  expect(again).toBe(ana)
  expect(eva).not.toBe(ana)
  expect(other).not.toContain(ana)
})

test('of a long list the first ones are shown, as hashes', () => {
  const ids = Array.from({ length: 731 }, (_each, place) => `u${place}`)
  expect(redact({ ids }, BY)).toEqual({ ids: [...Array(20).fill(HASH), 'and 711 more'] })
})

test('with texts, sentences are shown as they are, and ids and names stay hidden', () => {
  const params = { error: 'Ana exists', detail: '422: Ana', answer: 'Ana', entry_id: 'ana', name: 'Ana' }
  expect(redact(params, { ...BY, withTexts: true })).toEqual({ ...params, entry_id: HASH, name: HASH })
})

test('whatever the text, nothing of it is in a bundle, unless it is a word by its name', () => {
  const text = fc.string({ minLength: 3 }).map((some) => `§${some}§`)
  const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)))
  const params = fc.dictionary(
    fc.constantFrom('from', 'name', 'email', 'reason', 'since', 'ids', 'entry_id', 'error', 'digest', 'by'),
    fc.oneof(text, fc.array(text), fc.record({ of: text, value: json })),
  )
  fc.assert(
    fc.property(params, (some) => {
      expect(JSON.stringify(redact(some, BY))).not.toContain('§')
    }),
  )
})
