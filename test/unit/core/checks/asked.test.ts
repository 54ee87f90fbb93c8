import { expect, test } from 'vitest'
import { asked } from '../../../../src/core/checks/asked.ts'
import { maxDeletes } from '../../../../src/core/checks/max-deletes.ts'
import { protect } from '../../../../src/core/checks/protected.ts'
import { type Key, keyText } from '../../../../src/core/keys.ts'
import { approving, blocksOf, directoryOf, factsOf, ids, leftAfter, rejecting, sourceOf } from './build.ts'

const source = sourceOf(ids(100))
const directory = directoryOf([...ids(100), 'x', 'y'])
const X: Key = ['user', 'x', 'leave']
const Y: Key = ['user', 'y', 'leave']
const asking = (...codes: readonly string[]) => ({ since: 1, asks: new Set(codes) })
const open = (...keys: readonly Key[]) =>
  new Map(keys.map((key) => [keyText(key), asking('max-deletes-users')]))

test('a change that was asked is not made below the limit either, and the others are', () => {
  const facts = factsOf(source, directory, { ledger: { blocked: open(X) } })
  expect(blocksOf(maxDeletes, facts)).toEqual([])
  expect(blocksOf(asked, facts)).toMatchObject([{ code: 'asked', until: 'decision', keys: ['user x leave'] }])
  expect(leftAfter(asked, facts)).toEqual(['user y leave', 'user y delete'])
})

test('an approval of all its reasons ends it, of one of two not', () => {
  const ledger = approving('max-deletes-users', X)
  expect(blocksOf(asked, factsOf(source, directory, { ledger }))).toEqual([])
  const blocked = new Map([[keyText(X), asking('max-deletes-users', 'first-contact')]])
  const two = factsOf(source, directory, { ledger: { ...ledger, blocked } })
  expect(blocksOf(asked, two)).toMatchObject([{ keys: ['user x leave'] }])
})

test('a rejected change is not asked', () => {
  const ledger = { blocked: open(X, Y), ...rejecting(Y) }
  expect(blocksOf(asked, factsOf(source, directory, { ledger }))).toMatchObject([{ keys: ['user x leave'] }])
})

test('names no key that another check blocks, or that is no difference any more, and no fact', () => {
  const blocked = new Map([
    ...open(X, ['user', 'u000', 'leave']),
    [keyText(['fact', 'server', 't']), asking('s')],
  ])
  const rules = { entries: { users: { protected: ['x'] } } }
  const facts = factsOf(source, directory, { ledger: { blocked }, rules, after: [[protect]] })
  expect(blocksOf(asked, facts)).toEqual([])
})
