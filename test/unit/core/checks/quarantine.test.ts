import { describe, expect, test } from 'vitest'
import { quarantine } from '../../../../src/core/checks/quarantine.ts'
import type { Refusal } from '../../../../src/core/checks/check.ts'
import { type Change, fingerprint } from '../../../../src/core/plan/change.ts'
import { policy } from '../../../../src/core/checks/policy.ts'
import { rejected } from '../../../../src/core/checks/rejected.ts'
import { approving, blocksOf, directoryOf, factsOf, leftAfter, ofKey, rejecting, sourceOf } from './build.ts'

const source = sourceOf([{ id: 'a', name: 'New', email: 'new@example.org' }, 'b', 'c'], { g: ['a', 'b'] })
const directory = directoryOf(['a', 'b', 'gone'], { g: ['gone', 'b'] })

const UPDATE: Change = {
  op: 'update-user',
  id: 'a',
  have: {
    name: 'Name a',
    email: 'a@example.org',
  },
  want: {
    email: 'new@example.org',
    name: 'New',
  },
}
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
const CREATE: Change = { op: 'create-user', id: 'c', want: { name: 'Name c', email: 'c@example.org' } }

const refused = (change: Change): Refusal => ({
  code: 'quarantine',
  params: { answer: '422 name' },
  op: change.op,
  id: change.id,
  digest: fingerprint(change),
})

describe('a change that the service refused', () => {
  test('is not sent again as a whole, approved or not, and its answer is named', () => {
    const ledger = approving('max-updates-users', ['user', 'a', 'name', 'New'])
    const facts = factsOf(source, directory, { refusals: [refused(UPDATE)], ledger })
    const [block] = blocksOf(quarantine, facts)
    expect(block).toMatchObject({ code: 'quarantine', until: 'service' })
    expect(block?.keys).toEqual(['user a name New', 'user a email new@example.org'])
    expect(ofKey(block, 'user', 'a', 'name', 'New')).toEqual({ answer: '422 name' })
    expect(leftAfter(quarantine, facts)).not.toContain('user a name New')
    expect(leftAfter(quarantine, facts)).toContain('group g +member a')
  })

  test('is sent with another value', () => {
    const other = sourceOf([{ id: 'a', name: 'Newer', email: 'new@example.org' }, 'b', 'c'], {
      g: ['a', 'b'],
    })
    expect(blocksOf(quarantine, factsOf(other, directory, { refusals: [refused(UPDATE)] }))).toEqual([])
  })

  test('is another change without the part that an operator rejected, so the rest is sent', () => {
    const given = { refusals: [refused(UPDATE)], ledger: rejecting(['user', 'a', 'name', 'New']) }
    const facts = factsOf(source, directory, { ...given, after: [[rejected]] })
    expect(leftAfter(quarantine, facts)).toContain('user a email new@example.org')
  })

  test('is a delete: the user leaves its groups all the same', () => {
    const facts = factsOf(source, directory, { refusals: [refused(DELETE)] })
    expect(blocksOf(quarantine, facts)).toMatchObject([{ keys: ['user gone delete'] }])
    expect(leftAfter(quarantine, facts)).toContain('group g -member gone')
  })

  test('is a create: the values and memberships of the entry stay out with it', () => {
    const facts = factsOf(sourceOf(['c'], { g: ['c'] }), directoryOf([], { g: [] }), {
      refusals: [refused(CREATE)],
    })
    expect(leftAfter(quarantine, facts)).toEqual([])
  })

  test('is a list of members: the name of the group is still written', () => {
    const members: Change = {
      op: 'set-members',
      id: 'g',
      name: 'g',
      have: ['b', 'gone'],
      want: ['a', 'b'],
    }
    const facts = factsOf(source, directory, { refusals: [refused(members)] })
    expect(blocksOf(quarantine, facts)).toMatchObject([
      { keys: ['group g +member a', 'group g -member gone'] },
    ])
  })

  test('is one that was sent without an e-mail, because another check blocks what frees it', () => {
    const create: Change = { op: 'create-user', id: 'x', want: { name: 'Name x' } }
    const given = { rules: { policy: 'upsert' }, after: [[policy]], refusals: [refused(create)] } as const
    const sides = [
      sourceOf([{ id: 'x', email: 'm@example.org' }]),
      directoryOf([{ id: 'kept', email: 'm@example.org' }]),
    ] as const
    expect(leftAfter(quarantine, factsOf(...sides, given))).toEqual([])
  })

  test('is one that was sent without an e-mail, because the change that frees it was refused, too', () => {
    const chain = sourceOf([
      { id: 'x', email: 'y@example.org' },
      { id: 'y', email: 'new@example.org' },
    ])
    const update: Change = {
      op: 'update-user',
      id: 'y',
      have: { name: 'Name y', email: 'y@example.org' },
      want: { email: 'new@example.org' },
    }
    const refusals = [refused(update), refused({ op: 'create-user', id: 'x', want: { name: 'Name x' } })]
    expect(leftAfter(quarantine, factsOf(chain, directoryOf(['y']), { refusals }))).toEqual([])
  })
})
