import { expect, test } from 'vitest'
import { examplesOf, type UnconfirmedParams, type UnconfirmedRemoval } from '../../../../src/core/notice.ts'
import { unconfirmedText } from '../../../../src/ui/messages/unconfirmed.ts'
import { RETIRED } from './retired.ts'

const OWN = { group: 'cn=g', list: 'cn=g' }
const INNER = { group: 'cn=g', list: 'cn=h' }

type Row<Params> = readonly [params: Params, sentence: string]

/** Does not compile without a sentence for each code. */
const REMOVALS: { readonly [Code in keyof UnconfirmedParams]: readonly Row<UnconfirmedParams[Code]>[] } = {
  'not-found': [[{ group: 'cn=g' }, 'the recheck finds no group of the sync with the id of "cn=g"']],
  'id-shared': [
    [{ group: 'cn=g', others: 1 }, '"cn=g" has the same id as 1 other group'],
    [{ group: 'cn=g', others: 2 }, '"cn=g" has the same id as 2 other groups'],
  ],
  'global-catalog': [[{ list: 'cn=g' }, 'the global catalog does not have the members of "cn=g"']],
  changing: [[{ list: 'cn=g' }, '"cn=g" changed each time while its members were read again']],
  'too-many-unresolved': [
    [INNER, '"cn=h" within "cn=g" lists more unresolved members than one run looks up'],
  ],
  unresolved: [
    [
      { ...OWN, member: 'cn=z' },
      '"cn=g" lists "cn=z", which the server does not show: it may be a renamed user or group',
    ],
  ],
  renamed: [[{ group: 'cn=g' }, '"cn=g" was renamed during the recheck']],
  'more-removed': [[{ group: 'cn=g', members: 1 }, '"cn=g" lost 1 other member since it was read']],
  'no-uid': [
    [
      { group: 'cn=g', users: examplesOf(['cn=a', 'cn=b']) },
      '"cn=g" lists uids, and the server shows no uid of "cn=a", "cn=b": perhaps the bind account cannot read it',
    ],
  ],
  'attribute-required': [
    [
      { ...INNER, attribute: 'member' },
      '"cn=h" within "cn=g" shows no member, which the schema requires: perhaps the bind account cannot read it',
    ],
  ],
  'member-of': [
    [{ ...OWN, attributes: [], users: 1 }, '"cn=g" lists no member, but memberOf of 1 user names it'],
    [
      { ...INNER, attributes: ['member', 'memberUid'], users: 8 },
      '"cn=h" within "cn=g" lists no member in member, memberUid, but memberOf of 8 users names it',
    ],
  ],
}

const rows = Object.entries(REMOVALS).flatMap(([code, each]) =>
  each.map(([params, sentence]) => ({ fact: { code, params } as unknown, sentence })),
)

test.each(rows)('$sentence', ({ fact, sentence }) => {
  expect(unconfirmedText(fact as UnconfirmedRemoval)).toBe(sentence)
  expect(sentence).not.toMatch(RETIRED)
})

test.each(rows)('names no entry where names are hidden: $sentence', ({ fact }) => {
  expect(unconfirmedText(fact as UnconfirmedRemoval, () => '***')).not.toContain('cn=')
})
