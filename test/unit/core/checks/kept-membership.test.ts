import { expect, test } from 'vitest'
import { keptMembership } from '../../../../src/core/checks/kept-membership.ts'
import { type Key, keyText } from '../../../../src/core/keys.ts'
import { approving, blocksOf, directoryOf, factsOf, leftAfter, ofKey, rejecting, sourceOf } from './build.ts'

const source = sourceOf(['a'], { g: ['a'], h: ['a'] })
const directory = directoryOf(['a', 'gone', 'other'], { g: ['a', 'gone', 'other'], h: ['a', 'gone'] })
const REMOVAL: Key = ['group', 'g', '-member', 'gone']
const asking = {
  blocked: new Map([[keyText(REMOVAL), { since: 1, asks: new Set(['max-deletes-memberships']) }]]),
}

test.each([
  ['is rejected', rejecting(REMOVAL)],
  ['is not decided', asking],
])('a user is not deleted where the removal from a group %s; the other removals are made', (_, ledger) => {
  const facts = factsOf(source, directory, { ledger })
  const [block, ...others] = blocksOf(keptMembership, facts)
  expect(block).toMatchObject({ code: 'kept-membership', until: 'decision', keys: ['user gone delete'] })
  expect([ofKey(block, 'user', 'gone', 'delete'), others]).toEqual([{ user: 'gone', group: 'g' }, []])
  const left = leftAfter(keptMembership, facts)
  expect(left).toContain('group h -member gone')
  expect(left).toContain('user other delete')
  expect(left).not.toContain('user gone delete')
})

test('an approval of the removal, or of the delete, ends it', () => {
  const removal = approving('max-deletes-memberships', REMOVAL)
  expect(blocksOf(keptMembership, factsOf(source, directory, { ledger: removal }))).toEqual([])
  const ledger = { ...rejecting(REMOVAL), ...approving('kept-membership', ['user', 'gone', 'delete']) }
  expect(leftAfter(keptMembership, factsOf(source, directory, { ledger }))).toContain('user gone delete')
})

test('a rejected removal of a user who is in the source blocks nothing else', () => {
  const ledger = rejecting(['group', 'g', '-member', 'a'])
  expect(blocksOf(keptMembership, factsOf(sourceOf(['a'], { g: [] }), directory, { ledger }))).toEqual([])
})

test('a group that the source lacks is not deleted where the removal of a member is rejected', () => {
  const ledger = rejecting(['group', 'h', '-member', 'gone'])
  const facts = factsOf(sourceOf(['a', 'gone', 'other'], { g: ['a', 'gone', 'other'] }), directory, {
    ledger,
  })
  expect(blocksOf(keptMembership, facts)).toMatchObject([{ keys: ['group h delete'] }])
})

test('a rejection about a member whom the group does not have any more asks nothing', () => {
  const facts = factsOf(source, directoryOf(['a', 'gone'], { g: ['a'], h: ['a'] }), {
    ledger: rejecting(REMOVAL),
  })
  expect(blocksOf(keptMembership, facts)).toEqual([])
})
