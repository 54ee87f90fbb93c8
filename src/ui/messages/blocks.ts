import { amount, digits, pointInTime } from '../../base/wording.ts'
import type {
  BlockCode,
  BlockParams,
  BlockReason,
  FactsOf,
  Guarded,
  KeyFacts,
  SilentHow,
} from '../../core/block.ts'
import type { RefusalReason } from '../../core/checks/check.ts'
import type { ChangeView } from '../../operations/control.ts'
import type { ChangeReason } from '../../store/change-list.ts'
import { notNewerText } from './servers.ts'
import { unconfirmedText } from './unconfirmed.ts'
import { inQuotes, keysText, named, percent, type Quote } from './words.ts'

export interface BlockMessage<Code extends BlockCode> {
  readonly meaning: string
  readonly remedy: string
  /** Why the changes are not made now; one sentence without a full stop. */
  readonly text: (params: BlockParams[Code], quote: Quote) => string
  /** Why one change is not made, where the block does not say all of it. */
  readonly one?: (facts: FactsOf<Code>, quote: Quote) => string
}

const APPROVE = 'If the changes are right, approve them with dirsyncd approve RUN.'
const LIMITS = `${APPROVE} If not, correct the source, and the next run plans anew. The limits are in the section guards.`
const TRIED_AGAIN =
  'The change is tried again after a day, when the entry changes, or after dirsyncd quarantine release.'

/** One message for users, groups and memberships; KIND in its meaning is the section of the option. */
function forKinds<Code extends string, Kind extends string, Message extends { readonly meaning: string }>(
  code: Code,
  kinds: readonly Kind[],
  message: Message,
): Readonly<Record<`${Code}-${Kind}`, Message>> {
  const rows = kinds.map((kind) => {
    const meaning = message.meaning.replace('KIND', kind)
    return [`${code}-${kind}`, { ...message, meaning }] as const
  })
  return Object.fromEntries(rows) as Record<`${Code}-${Kind}`, Message>
}

const KINDS: readonly Guarded[] = ['users', 'groups', 'memberships']
const ENTRIES = ['users', 'groups'] as const

export const BLOCKS: { readonly [Code in BlockCode]: BlockMessage<Code> } = {
  rejected: {
    meaning: 'rejected by an operator',
    remedy:
      'If they are to be made after all, approve them: dirsyncd approve RUN --id ID, or all with --code rejected.',
    text: () => 'an operator rejected the changes',
    one: rejectionText,
  },
  policy: {
    meaning: 'the policy of the sync does not make these changes',
    remedy:
      'Nothing has to be done. policy: mirror updates, deletes and removes members; upsert does not delete and removes no members; create-only changes nothing that exists.',
    text: ({ policy }) => `policy ${policy} ${NOT_MADE_BY[policy]}`,
  },
  protected: {
    meaning: 'the entries are on the list protected of the sync',
    remedy: 'Take an entry off the list protected, if it should be deleted.',
    text: () => 'on the list entries.users.protected or entries.groups.protected: not deleted',
  },
  unreadable: {
    meaning: 'entries of the source could not be understood, so nothing is deleted or removed',
    remedy: 'Correct the entries with the notice unreadable, or exclude them by the filter.',
    text: ({ entries }) =>
      `${amount(entries, 'entry')} of the source could not be understood, so nothing is deleted and no member is removed`,
  },
  grace: {
    meaning: 'absent, and deleted after the grace period (deleteAfter)',
    remedy: 'Nothing has to be done. guards.users.deleteAfter and guards.groups.deleteAfter set the time.',
    text: () => 'absent, and deleted after the grace period (deleteAfter)',
    one: delayText,
  },
  'absence-unconfirmed': {
    meaning: 'absent, and the server shows no replication state: a second read has to lack the entry, too',
    remedy: 'Nothing has to be done: a later run reads again. source.confirmAfter sets the time.',
    text: () => 'absent, and a second read has to confirm it, because the server shows no replication state',
    one: (delay) =>
      'until' in delay
        ? `absent since ${pointInTime(delay.since)}, and deleted if a read after ${pointInTime(delay.until)} does not find it either, because the server shows no replication state`
        : delayText(delay),
  },
  quarantine: {
    meaning: 'in quarantine: the service refused the change',
    remedy: `Correct the entry in the source, or exclude or protect it in the section entries; after a 403, check the rights of the token. ${TRIED_AGAIN}`,
    text: () => 'in quarantine: the service refused the changes',
    one: ({ answer }) => answer,
  },
  'not-persisted': {
    meaning: 'in quarantine: the service accepted the change twice without effect',
    remedy: `Find out what changes the entry back. ${TRIED_AGAIN}`,
    text: () => 'in quarantine: the service accepted the changes twice without effect',
    one: ({ how }) => NO_EFFECT[how],
  },
  'partial-read': {
    meaning: 'the run read some entries only, and a check needs all of them',
    remedy: 'Nothing has to be done: the next whole run decides.',
    text: ({ check }) => `the run read some entries only, and the check ${check} needs all of them`,
  },
  'seen-again': {
    meaning: 'missing in the read, and found by the recheck',
    remedy:
      'The next run reads again. If it happens again, check that the bind account can read objectClass and what the filter needs.',
    text: () => 'the read did not show it, and the recheck found it',
  },
  'server-not-newer': {
    meaning: 'the server of the source is older than the last complete run, or cannot be compared with it',
    remedy:
      'Check the replication of the servers. After a day a run asks whether to accept the server: dirsyncd approve RUN.',
    text: notNewerText,
  },
  'container-emptied': {
    meaning: 'an OU lost all its entries; a revoked read right looks the same',
    remedy:
      'Check that the bind account can still read the OU, and base and filter of the sync. If these users or groups really left, approve.',
    text: ({ kind, container, absent, leftFilter, isEmpty }, quote) => {
      const outside =
        leftFilter === 0 ? '' : ` (${digits(leftFilter)} still in the source, but outside the sync's filter)`
      const what = leftFilter === 0 ? 'it' : 'the attributes of the filter'
      const found = isEmpty
        ? `and no ${kind} is left there`
        : `and an earlier run found no ${kind} left there`
      return `${amount(absent, kind)} of ${quote(container)} ${absent === 1 ? 'is' : 'are'} absent${outside}, ${found}; perhaps the bind account cannot read ${what} any more, or the sync has another base or filter`
    },
  },
  'group-emptied': {
    meaning: 'a group, or one of its attributes or nested groups, shows no member any more',
    remedy:
      'Check that the bind account can still read the group and its members, and groups.map.members. If the removals are right, approve.',
    text: groupsEmptiedText,
    one: groupEmptiedText,
  },
  'removals-not-confirmed': {
    meaning: 'groups would lose members, and a recheck did not confirm it',
    remedy:
      'A later run rechecks. If the removals are right, approve them: dirsyncd approve RUN --code removals-not-confirmed.',
    text: () => 'groups would lose members, and a recheck did not confirm it',
    one: unconfirmedText,
  },
  'recently-deleted': {
    meaning: 'this sync deleted the entries in the last 24 hours; an older server shows them again',
    remedy:
      'They are created after a day. If they are right, approve: dirsyncd approve RUN --code recently-deleted.',
    text: () => 'this sync deleted it in the last 24 hours; perhaps the server shows an older state',
  },
  asked: {
    meaning: 'an earlier run asked about the changes, and they are not decided yet',
    remedy: 'Approve or reject them with dirsyncd approve RUN or dirsyncd reject RUN.',
    text: () => 'an earlier run asked about it, and it is not decided yet',
    one: ({ codes }) => `an earlier run asked about it, and it is not decided yet (${codes.join(', ')})`,
  },
  'kept-membership': {
    meaning: 'the deletes would end memberships; their removal is rejected or not decided yet',
    remedy:
      'Decide about these memberships, or approve or reject the deletes: dirsyncd approve RUN --code kept-membership.',
    text: () => 'the delete would end memberships; their removal is rejected or not decided yet',
    one: ({ user, group }) =>
      `the delete would end the membership of user ${user} in group ${group}; its removal is rejected or not decided yet`,
  },
  'first-contact': {
    meaning: 'the first run of this sync on this directory would delete entries',
    remedy:
      'Check directoryId and the filter: these entries are in the directory and not in the source. If they are to go, approve.',
    text: ({ deletes, later }) => {
      const counts = KINDS.filter((kind) => deletes[kind] > 0).map((kind) =>
        amount(deletes[kind], kind.slice(0, -1)),
      )
      const what = [
        ...(counts.length === 0 ? [] : [`would remove ${counts.join(', ')}`]),
        ...(later === 0 ? [] : [`would let a later run delete ${amount(later, 'entry')}`]),
      ]
      return `this sync has never completed a run on this directory, and the plan ${what.join(' and ')} that the source does not have`
    },
  },
  'min-source-users': {
    meaning: 'the source has fewer users than expected (guards.minSourceUsers)',
    remedy:
      'Check base and filter of the users, and the rights of the bind account. If the number is right, approve, or lower guards.minSourceUsers.',
    text: ({ users, limit }) =>
      `the source has ${amount(users, 'user')}, and at least ${digits(limit)} are expected`,
  },
  ...forKinds('empty-directory', ENTRIES, {
    meaning: 'the service shows an empty directory, without the headers that count its entries',
    remedy: 'Look at the directory in the service. If it is empty, approve.',
    text: ({ kind, before }) =>
      `the directory shows no ${kind}s, without the headers that count them, and the source of the last complete run had ${digits(before)}`,
  } satisfies BlockMessage<'empty-directory-users'>),
  ...forKinds('source-shrunk', ENTRIES, {
    meaning: 'the source has far fewer entries than in the last complete run (guards.maxSourceShrinkPercent)',
    remedy: LIMITS,
    text: ({ kind, now, before, limit }) =>
      `the source has ${digits(now)} ${kind}, ${percent(before - now, before)} fewer than the ${digits(before)} of the last complete run; limit ${limit} %`,
  } satisfies BlockMessage<'source-shrunk-users'>),
  ...forKinds('max-deletes', KINDS, {
    meaning: 'more deletes than the limit (guards.KIND.maxDeletes)',
    remedy: LIMITS,
    text: ({ limit, ...params }) =>
      `${digits(params.deletes)} of ${deletesText(params)}, limit ${digits(limit)}`,
  } satisfies BlockMessage<'max-deletes-users'>),
  ...forKinds('max-delete-percent', KINDS, {
    meaning: 'a larger share of deletes than the limit (guards.KIND.maxDeletePercent)',
    remedy: LIMITS,
    text: ({ limit, ...params }) => {
      const { deletes, of, kind } = params
      return `${percent(deletes, of)} of the ${kind} (${digits(deletes)} of ${digits(of)}) would be removed${causesText(params)}, limit ${limit} %`
    },
  } satisfies BlockMessage<'max-delete-percent-users'>),
  ...forKinds('max-deletes-per-day', KINDS, {
    meaning: 'more deletes within 24 hours than the limit (guards.KIND.maxDeletesPerDay)',
    remedy: LIMITS,
    text: ({ kind, deletes, lastDay, limit }) =>
      `${digits(deletes)} ${kind} would be removed after ${digits(lastDay)} in the last 24 hours, limit ${digits(limit)} a day`,
  } satisfies BlockMessage<'max-deletes-per-day-users'>),
  ...forKinds('max-updates', KINDS, {
    meaning: 'more updates than the limit (guards.KIND.maxUpdates)',
    remedy: LIMITS,
    text: ({ kind, updates, limit }) =>
      `${digits(updates)} ${kind} would be ${updatedText(kind)}, limit ${digits(limit)}`,
  } satisfies BlockMessage<'max-updates-users'>),
  ...forKinds('max-update-percent', KINDS, {
    meaning: 'a larger share of updates than the limit (guards.KIND.maxUpdatePercent)',
    remedy: LIMITS,
    text: ({ kind, updates, of, limit }) =>
      `${percent(updates, of)} of the ${kind} (${digits(updates)} of ${digits(of)}) would be ${updatedText(kind)}, limit ${limit} %`,
  } satisfies BlockMessage<'max-update-percent-users'>),
  'configuration-changed': {
    meaning: 'many changes after a change of the configuration',
    remedy:
      'Look at the named options: dirsyncd plan shows what they change. If the changes are right, approve them.',
    text: ({ since, keys, limit, isLater, ...params }) => {
      const { kind, deletes, updates, of } = params
      const removed = `${digits(deletes)} of ${digits(of)} ${kind} would be removed${isLater ? ' now or later' : ''}${causesText(params)}`
      return `the configuration was changed since run ${since} (${keysText(keys)}): ${removed} and ${digits(updates)} ${updatedText(kind)}, together ${percent(deletes + updates, of)}, limit ${limit} % after such a change`
    },
  },
  'max-moved-ids': {
    meaning: 'ids that seem to belong to other users now (guards.maxMovedIds)',
    remedy:
      'Check that external_id is mapped to an attribute that is never given to another user. If these are the same users, approve.',
    text: ({ users, limit }) =>
      `${digits(users)} ${users === 1 ? 'id of a user seems' : 'ids of users seem'} to belong to another user now (name and e-mail change at once), limit ${digits(limit)}`,
  },
  'undo-deletes': {
    meaning: 'an undo would delete entries',
    remedy: 'Look at the entries. If they are to go, approve.',
    text: ({ run, users, groups }) => {
      const what = [
        ...(users > 0 ? [amount(users, 'user')] : []),
        ...(groups > 0 ? [amount(groups, 'group')] : []),
      ]
      return `${what.join(' and ')} that run ${run} created would be deleted again`
    },
  },
}

/** Why the changes of a block are not made now; one sentence without a full stop. */
export function blockText(reason: BlockReason, quote: Quote = inQuotes): string {
  return messageOf(reason.code).text(reason.params, quote)
}

/** Why one change is not made now; one sentence without a full stop. */
export function reasonText(reason: ChangeReason, quote: Quote = inQuotes): string {
  const { one } = messageOf(reason.code)
  return one === undefined || reason.facts === null ? blockText(reason, quote) : one(reason.facts, quote)
}

/** The parameters and facts of a block are those of its code, which the type of one row cannot say. */
function messageOf(code: BlockCode): BlockMessage<BlockCode> {
  return BLOCKS[code] as BlockMessage<BlockCode>
}

/** `rejected by ana at 2026-11-21 07:29:03Z in run 12: on parental leave` */
export function rejectionText({ by, at, run, reason }: KeyFacts['rejected']): string {
  return `rejected by ${by} at ${pointInTime(at)} in run ${run}${reason === '' ? '' : `: ${reason}`}`
}

export function keptEmailText({ owner, change, ...rejection }: NonNullable<ChangeView['keptBy']>): string {
  return `"${owner}" keeps the e-mail, because its ${change} was ${rejectionText(rejection)}`
}

function delayText(delay: FactsOf<'grace'>): string {
  const since = `absent since ${pointInTime(delay.since)}; deleted`
  if ('until' in delay) return `${since} after ${pointInTime(delay.until)}`
  const { reads } = delay
  return `${since} if ${amount(reads, 'more run')} in a row ${reads === 1 ? 'does' : 'do'} not find it`
}

function deletesText(params: Omit<BlockParams['max-deletes-users'], 'limit'>): string {
  return `${digits(params.of)} ${params.kind} would be removed${causesText(params)}`
}

/** Names two causes that are often mistakes: a changed filter, and a changed id attribute. */
function causesText({
  leftFilter,
  newIds,
}: Pick<BlockParams['max-deletes-users'], 'leftFilter' | 'newIds'>): string {
  const parts = [
    ...(leftFilter === 0 ? [] : [`${digits(leftFilter)} still in the source, but outside the sync's filter`]),
    ...(newIds === 0 ? [] : [`${digits(newIds)} created again under another id`]),
  ]
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`
}

function updatedText(kind: Guarded): string {
  return kind === 'memberships' ? 'added' : 'updated'
}

const NOT_MADE_BY = {
  mirror: '',
  upsert: 'deletes nothing and removes no members',
  'create-only': 'changes nothing that exists',
} as const

const NO_EFFECT: Readonly<Record<KeyFacts['not-persisted']['how'], string>> = {
  'not-listed': 'was created, and the service says that it exists, but does not list it',
  'not-kept':
    'was created twice, and the directory does not show it: the service does not keep it, or another client deletes it',
  'missing-but-listed': 'was to be deleted twice: the service says that it does not exist, and lists it',
  'not-deleted':
    'was deleted twice, and the directory still shows it: the service does not delete it, or another client creates it again',
  'not-changed':
    'was written twice, and the directory still shows another value: the service cuts, changes or does not keep it, or another client changes it back',
}

export function refusalText(refusal: RefusalReason): string {
  return refusal.code === 'quarantine' ? refusal.params.answer : NO_EFFECT[refusal.params.how]
}

const CANNOT_READ = 'perhaps the bind account cannot read it any more'

/** Follows what listed the members in the last complete run. */
function nowText(how: SilentHow, lists: number): string {
  const [shows, is] = lists === 1 ? ['shows', 'is'] : ['show', 'are']
  switch (how) {
    case 'no-members':
      return `and ${shows} none now; ${CANNOT_READ}`
    case 'not-read':
      return 'and groups.map.members of the sync does not name that attribute any more'
    case 'not-shown':
      // Once in doubt, a list stays so, also where it shows some members again.
      return `and showed none there in a later run; ${CANNOT_READ}`
    case 'not-shown-by-any-group':
      return `and ${shows} none there now, as no group does any more; ${CANNOT_READ}`
    case 'group-absent':
      return `and ${is} absent now; perhaps renamed, or the bind account cannot read it any more`
  }
}

function groupsEmptiedText(
  { how, groups, lists, attributes, removals }: BlockParams['group-emptied'],
  quote: Quote,
): string {
  // A user may be in several groups, so what they lose together are memberships.
  const lost = removals === 0 ? '' : amount(removals, groups.total === 1 ? 'member' : 'membership')
  const also = how === 'group-absent' && groups.total > 1 ? ' or be deleted' : ''
  const loss = lost === '' ? 'be deleted' : `lose ${lost}${also}`
  return `${named(groups, quote)} would ${loss}: ${listedText(named(lists, quote), attributes)}, ${nowText(how, lists.total)}`
}

function groupEmptiedText({ how, dn, attribute, had }: KeyFacts['group-emptied'], quote: Quote): string {
  const what = listedText(quote(dn), attribute === null ? [] : [attribute], amount(had, 'member'))
  return `${what}, ${nowText(how, 1)}`
}

function listedText(lists: string, attributes: readonly string[], what = 'members'): string {
  const where = attributes.length === 0 ? '' : ` in ${attributes.join(' and ')}`
  return `${lists} listed ${what}${where} in the last complete run`
}
