import { expect, test } from 'vitest'
import { rejected } from '../../../../src/core/checks/rejected.ts'
import { blocksOf, directoryOf, factsOf, leftAfter, NOW, ofKey, rejecting, sourceOf } from './build.ts'

const source = sourceOf([{ id: 'a', name: 'New', email: 'new@example.org' }], { g: [] })
const directory = directoryOf(['a', 'gone'], { g: ['gone'] })

test('a rejected value is not written, the others of the entry are', () => {
  const facts = factsOf(source, directory, { ledger: rejecting(['user', 'a', 'name', 'New']) })
  expect(blocksOf(rejected, facts)).toMatchObject([
    { code: 'rejected', until: 'decision', keys: ['user a name New'] },
  ])
  expect(leftAfter(rejected, facts)).toContain('user a email new@example.org')
})

test.each(['leave', 'delete'] as const)('a user whose %s is rejected keeps its memberships, too', (field) => {
  const facts = factsOf(source, directory, { ledger: rejecting(['user', 'gone', field]) })
  const [block, ...others] = blocksOf(rejected, facts)
  expect([block?.keys, others]).toEqual([['user gone leave'], []])
  const rejection = { run: 3, by: 'ana', at: NOW.toISOString(), reason: '' }
  expect(ofKey(block, 'user', 'gone', 'leave')).toEqual(rejection)
  expect(leftAfter(rejected, facts).filter((text) => text.includes('gone'))).toEqual([])
})

test('an entry whose create is rejected is created nowhere, and joins no group', () => {
  const ledger = rejecting(['user', 'new', 'create'])
  const facts = factsOf(sourceOf(['new'], { g: ['new'] }), directoryOf([], { g: [] }), { ledger })
  expect(leftAfter(rejected, facts)).toEqual([])
})

test('a rejection of another value blocks nothing', () => {
  const ledger = rejecting(['user', 'a', 'name', 'Other'], ['user', 'a', 'delete'])
  expect(blocksOf(rejected, factsOf(source, directory, { ledger }))).toEqual([])
})
