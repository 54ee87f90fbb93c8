import type { BlockParams } from '../../src/core/block.ts'
import type { NoticeParams, NotMade, UnconfirmedParams } from '../../src/core/notice.ts'

type All<Params> = { readonly [Code in keyof Params]: Params[Code] }

/** Each notice, with this text in each parameter that may be any text. A new parameter has to be added here. */
export function plantedNotices(text: string, id: number): All<NoticeParams> {
  const from = { from: text }
  const faulty = { ...from, fault: text }
  const some = { examples: [text, text], total: 40 }
  const user = { name: text, email: text }
  const notMade: NotMade = {
    op: 'update-user',
    name: text,
    email: text,
    field: 'email',
    added: 1,
    removed: 2,
  }
  const email = { ...from, email: text, why: 'no-address' } as const
  return {
    unreadable: faulty,
    'duplicate-id': { ...from, others: some },
    'doubtful-text': faulty,
    'no-name': from,
    'value-failed': faulty,
    'unknown-members': { ...some, ...from, groups: 1, shared: some },
    'members-hidden': { ...from, why: 'changing', isOwn: false, groups: some },
    disabled: { ...from, isGone: true },
    unaddressable: { ownId: id, name: text, fault: text },
    'shared-id': { ownIds: [id, id] },
    'email-not-allowed': email,
    'email-dropped': { ...email, isKept: true },
    'no-email': from,
    'duplicate-email': { ...email, owner: text, how: 'held', undo: { run: 1, why: 'left' } },
    'email-swap': { email: text, owner: text, isUndo: false },
    'id-moved': { ...from, before: user, after: user, undone: null },
    'new-id': { oldId: text, email: text },
    'other-id-form': { form: 'guid' },
    'unknown-id': { similar: text, isOtherKind: false },
    excluded: { list: 'include', from: text },
    protected: { isUndo: false },
    'value-kept': { ...from, fields: ['email', 'name'] },
    'seen-again': {},
    'kept-by-policy': { policy: text, isAbsent: true },
    'kept-unproved': { unreadable: 1 },
    'membership-differs': { group: text, added: 1, removed: 2 },
    'in-grace': { ...notMade, since: text, until: text },
    unproved: {
      ...notMade,
      wait: { code: 'container-emptied', params: { container: text, wasFound: true } },
    },
    reborn: notMade,
    'members-kept': { group: text, isPart: true, reason: unconfirmed(text) },
    quarantined: { answer: text },
    'does-not-converge': { how: 'not-kept' },
    rejected: { ...notMade, rejections: [{ by: text, at: text, run: 1, release: 'alone' }] },
    'changed-since': { run: 1, how: 'values', now: user, did: 'wrote', values: user },
    'not-restored': { run: 1, how: 'members-missing', name: text, ...some },
    'read-back': { op: 'create-user', changes: 2 },
    rewritten: { field: 'name', sent: text, shown: text },
    'batches-off': { reason: text },
    'directory-incomplete': { there: 1, creates: 2 },
  }
}

/** As above, of some blocks: guards have numbers alone. */
export function plantedBlocks(text: string): Partial<All<BlockParams>> {
  const some = { examples: [text, text], total: 40 }
  const server = { server: text, last: text, difference: { key: text, known: text, seen: text } }
  return {
    'configuration-changed': {
      kind: 'users',
      deletes: 1,
      leftFilter: 1,
      newIds: 1,
      updates: 1,
      of: 2,
      limit: 1,
      since: 1,
      keys: [text],
      isLater: false,
    },
    'left-out': { by: text, run: 1 },
    'server-not-newer': { ...server, how: 'older', since: text, until: text, needsApproval: true },
    'container-emptied': { kind: 'user', container: text, absent: 1, leftFilter: 1, wasFound: true },
    'group-emptied': { how: 'no-members', group: text, had: 1, reason: unconfirmed(text) },
    'nested-group-absent': {
      group: text,
      how: 'still-listed',
      removals: 1,
      groups: some,
      listedBy: some,
      unresolved: some,
    },
    'members-unproved': { groups: 1, reason: unconfirmed(text) },
  }
}

function unconfirmed(text: string) {
  const params: UnconfirmedParams['member-of'] = { group: text, list: text, attributes: [text], users: 1 }
  return { code: 'member-of', params } as const
}
