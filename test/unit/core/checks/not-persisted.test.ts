import { expect, test } from 'vitest'
import { notPersisted } from '../../../../src/core/checks/not-persisted.ts'
import { quarantine } from '../../../../src/core/checks/quarantine.ts'
import type { Refusal } from '../../../../src/core/checks/check.ts'
import { type Change, fingerprint } from '../../../../src/core/plan/change.ts'
import { approving, blocksOf, directoryOf, factsOf, leftAfter, ofKey, sourceOf } from './build.ts'

const source = sourceOf([], { g: [] })
const directory = directoryOf(['gone'], { g: ['gone'] })
const DELETE: Change = {
  op: 'delete-user',
  id: 'gone',
  why: 'gone',
  have: {
    name: 'Name gone',
    email: 'gone@example.org',
    groups: ['g'],
  },
}
const refusal: Refusal = {
  code: 'not-persisted',
  params: { how: 'not-deleted' },
  op: 'delete-user',
  id: 'gone',
  digest: fingerprint(DELETE),
}

test('a change that had no effect twice is not sent again, approved or not, and says how', () => {
  const ledger = approving('first-contact', ['user', 'gone', 'leave'], ['user', 'gone', 'delete'])
  const facts = factsOf(source, directory, { refusals: [refusal], ledger })
  const [block] = blocksOf(notPersisted, facts)
  expect(block).toMatchObject({ code: 'not-persisted', until: 'service', keys: ['user gone delete'] })
  expect(ofKey(block, 'user', 'gone', 'delete')).toEqual({ how: 'not-deleted' })
  expect(leftAfter(notPersisted, facts)).toEqual(['user gone leave', 'group g -member gone'])
})

test('is no quarantine, and a refused change is none of these', () => {
  expect(blocksOf(quarantine, factsOf(source, directory, { refusals: [refusal] }))).toEqual([])
  const refused: Refusal = { ...refusal, code: 'quarantine', params: { answer: '' } }
  expect(blocksOf(notPersisted, factsOf(source, directory, { refusals: [refused] }))).toEqual([])
})
