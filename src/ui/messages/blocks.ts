import { amount, digits } from '../../base/wording.ts'
import type {
  BlockCode,
  BlockParams,
  BlockReason,
  EmptiedReason,
  Guarded,
  Removals,
} from '../../core/block.ts'
import { keysText } from '../../core/plan/configuration.ts'
import { notNewerText } from './servers.ts'
import { unconfirmedText } from './unconfirmed.ts'
import { inQuotes, named, percent, type Quote } from './words.ts'

export interface BlockMessage<Code extends BlockCode> {
  readonly meaning: string
  /** What the operator can do. */
  readonly remedy: string
  /** Why the changes are not made now; one sentence without a full stop. */
  readonly text: (params: BlockParams[Code], quote: Quote) => string
}

const MAY_SEE =
  'Check that the bind account can still read the group and its members. If the removals are right, approve them with dirsyncd approve RUN.'
const LIMITS =
  'If the changes are right, approve them with dirsyncd approve RUN; if not, correct the source, and the next run plans anew. The limits are in the section guards.'

/** One message for users, groups and memberships. */
function forKinds<Code extends string, Kind extends string, Message>(
  code: Code,
  kinds: readonly Kind[],
  message: Message,
): Readonly<Record<`${Code}-${Kind}`, Message>> {
  const rows = kinds.map((kind) => [`${code}-${kind}`, message])
  return Object.fromEntries(rows) as Record<`${Code}-${Kind}`, Message>
}

const KINDS: readonly Guarded[] = ['users', 'groups', 'memberships']
const ENTRIES = ['users', 'groups'] as const

export const BLOCKS: { readonly [Code in BlockCode]: BlockMessage<Code> } = {
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
  'left-out': {
    meaning: 'left out of the approval of a part of a plan',
    remedy: 'Approve the rest with dirsyncd approve RUN, or reject it with dirsyncd reject RUN.',
    text: ({ by, run }) => `left out when ${by} approved a part of run ${run}`,
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
    text: ({ kind, container, absent, leftFilter, wasFound }, quote) => {
      const outside =
        leftFilter === 0 ? '' : ` (${digits(leftFilter)} still in the source, but outside the sync's filter)`
      const left = wasFound ? 'was left there in an earlier run' : 'is left there'
      const what = leftFilter === 0 ? 'it' : 'the attributes of the filter'
      return `${amount(absent, kind)} of ${quote(container)} ${absent === 1 ? 'is' : 'are'} absent${outside}, and no ${kind} ${left}; perhaps the bind account cannot read ${what} any more, or the sync has another base or filter`
    },
  },
  'members-gone': {
    meaning: 'no group of the source lists a member any more',
    remedy:
      'Check groups.map.members, and that the bind account can still read the attribute. If the groups are really empty, approve.',
    text: ({ before }) =>
      `no group of the source lists a member, and ${digits(before)} did in the last complete run; perhaps the members are in another attribute, or the bind account cannot read it any more`,
  },
  'group-emptied': {
    meaning: 'a group lost all its members, or all of one attribute',
    remedy: MAY_SEE,
    text: groupEmptiedText,
  },
  'nested-group-absent': {
    meaning: 'a group within another one is absent, and still listed there or perhaps renamed',
    remedy: MAY_SEE,
    text: nestedGroupText,
  },
  'members-unproved': {
    meaning: 'groups would lose members, and a recheck did not confirm it',
    remedy: 'A later read may confirm it. If the removals are right, approve them with dirsyncd approve RUN.',
    text: ({ groups, reason }, quote) =>
      `${amount(groups, 'group')} would lose members, and a recheck did not confirm it: ${unconfirmedText(reason, quote)}`,
  },
  reborn: {
    meaning: 'entries are back that this sync deleted in the last 24 hours',
    remedy: 'They are created after a day. If they are right, approve them with dirsyncd approve RUN.',
    text: ({ kind, entries }) =>
      `${amount(entries, kind)} that this sync deleted in the last 24 hours ${entries === 1 ? 'is' : 'are'} back; perhaps the server shows an older state`,
  },
}

/** Why the changes of a block are not made now; one sentence without a full stop. */
export function blockText(reason: BlockReason, quote: Quote = inQuotes): string {
  // The parameters of a block are those of its code, which the type of one row cannot say.
  const { text } = BLOCKS[reason.code] as BlockMessage<BlockCode>
  return text(reason.params, quote)
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

/** A user may be in several groups, so what they lose together are memberships. */
function removalsText({ removals, groups }: Removals): string {
  return amount(removals, groups.total === 1 ? 'member' : 'membership')
}

const CANNOT_READ = 'perhaps the bind account cannot read them any more'

const WHY_EMPTY = {
  'not-read': 'and groups.map.members of the sync does not name that attribute any more',
  'not-shown': `and lists none there now; ${CANNOT_READ}`,
  'not-shown-by-any-group': `and lists none there now, as no group does any more; ${CANNOT_READ}`,
} as const

function groupEmptiedText(params: BlockParams['group-emptied'], quote: Quote): string {
  switch (params.how) {
    case 'no-members':
      return `group ${quote(params.group)} had ${amount(params.had, 'member')} and has none; ${emptiedText(params.reason, quote)}`
    case 'attribute-empty':
      return `${named(params.groups, quote)} would lose ${removalsText(params)}: ${quote(params.list)} listed members in ${params.attributes.join(' and ')} in the last complete run, ${WHY_EMPTY[params.why]}`
    case 'since-earlier-run':
      return `${named(params.groups, quote)} would still lose ${removalsText(params)}, and an earlier run lacked members there already`
    case 'absent':
      return `group ${quote(params.group)} is absent, and an earlier run lacked it or members of it already; perhaps the bind account cannot read it any more`
  }
}

function emptiedText(reason: EmptiedReason | null, quote: Quote): string {
  if (reason === null) return CANNOT_READ
  return reason.code === 'attribute-not-read'
    ? `it listed some in ${reason.params.attributes.join(' and ')}, ${WHY_EMPTY['not-read']}`
    : unconfirmedText(reason, quote)
}

function nestedGroupText(params: BlockParams['nested-group-absent'], quote: Quote): string {
  const { group, how, listedBy, unresolved, removals, groups } = params
  const lists = `${named(listedBy, quote)} ${how === 'still-listed' ? 'still ' : ''}${listedBy.total === 1 ? 'lists' : 'list'}`
  const loss = removals === 0 ? '' : ` would lose ${removalsText(params)}`
  if (how === 'still-listed')
    return `${quote(group)} is absent, and ${lists} it as a group within${loss === '' ? '' : `, and ${named(groups, quote)}${loss}`}; perhaps the bind account cannot read it any more`
  return `${quote(group)} is absent, and ${lists} other unresolved members than before (${named(unresolved, quote)})${loss === '' ? '' : `, and ${named(groups, quote)}${loss}`}; perhaps it was renamed and the bind account cannot read it any more`
}
