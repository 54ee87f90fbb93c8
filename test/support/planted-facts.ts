import type { BlockParams, KeyFacts } from '../../src/core/block.ts'
import type { NoticeParams, UnconfirmedParams } from '../../src/core/notice.ts'

type All<Params> = { readonly [Code in keyof Params]: Params[Code] }

/** Each notice, with this text in each parameter that may be any text. A new parameter has to be added here. */
export function plantedNotices(text: string, id: number): All<NoticeParams> {
  const from = { from: text }
  const faulty = { ...from, fault: text }
  const some = { examples: [text, text], total: 40 }
  const user = { name: text, email: text }
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
    protected: {},
    'value-kept': { ...from, fields: ['email', 'name'] },
    'membership-differs': { group: text, added: 1, removed: 2 },
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
    'server-not-newer': { ...server, how: 'older', since: text, until: text, needsApproval: true },
    'container-emptied': { kind: 'user', container: text, absent: 1, leftFilter: 1, isEmpty: true },
    'group-emptied': { how: 'not-shown', groups: some, lists: some, attributes: [text], removals: 1 },
  }
}

/** As above, of one blocked change. */
export function plantedKeyFacts(text: string): Partial<All<KeyFacts>> {
  return {
    rejected: { run: 1, by: text, at: '2026-11-29T07:00:00.000Z', reason: text },
    quarantine: { answer: text },
    'removals-not-confirmed': unconfirmed(text),
    'group-emptied': { how: 'not-shown', dn: text, attribute: text, had: 9 },
  }
}

function unconfirmed(text: string) {
  const params: UnconfirmedParams['member-of'] = { group: text, list: text, attributes: [text], users: 1 }
  return { code: 'member-of', params } as const
}
