import { amount } from '../../base/wording.ts'
import type { UnconfirmedParams, UnconfirmedRemoval } from '../../core/notice.ts'
import { type Sentences, sentence } from './sentence.ts'
import { inQuotes, named, type Quote } from './words.ts'

function listText({ group, list }: { readonly group: string; readonly list: string }, quote: Quote): string {
  return group === list ? quote(group) : `${quote(list)} within ${quote(group)}`
}

const REMOVALS: Sentences<UnconfirmedParams> = {
  'not-found': ({ group }, quote) => `the recheck finds no group of the sync with the id of ${quote(group)}`,
  'id-shared': ({ group, others }, quote) =>
    `${quote(group)} has the same id as ${amount(others, 'other group')}`,
  'global-catalog': ({ list }, quote) => `the global catalog does not have the members of ${quote(list)}`,
  changing: ({ list }, quote) => `${quote(list)} changed each time while its members were read again`,
  'too-many-unresolved': (params, quote) =>
    `${listText(params, quote)} lists more unresolved members than one run looks up`,
  unresolved: (params, quote) =>
    `${listText(params, quote)} lists ${quote(params.member)}, which the server does not show: it may be a renamed user or group`,
  renamed: ({ group }, quote) => `${quote(group)} was renamed during the recheck`,
  'more-removed': ({ group, members }, quote) =>
    `${quote(group)} lost ${amount(members, 'other member')} since it was read`,
  'no-uid': ({ group, users }, quote) =>
    `${quote(group)} lists uids, and the server shows no uid of ${named(users, quote)}: perhaps the bind account cannot read it`,
  'attribute-required': (params, quote) =>
    `${listText(params, quote)} shows no ${params.attribute}, which the schema requires: perhaps the bind account cannot read it`,
  'member-of': (params, quote) => {
    const where = params.attributes.length === 0 ? '' : ` in ${params.attributes.join(', ')}`
    return `${listText(params, quote)} lists no member${where}, but memberOf of ${amount(params.users, 'user')} names it`
  },
}

/** Why a recheck does not confirm that members left; a clause. */
export function unconfirmedText(removal: UnconfirmedRemoval, quote: Quote = inQuotes): string {
  return sentence(REMOVALS, removal, quote)
}
