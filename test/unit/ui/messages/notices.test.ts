import { describe, expect, test } from 'vitest'
import type { Kind } from '../../../../src/core/entries/entry.ts'
import { examplesOf, type Notice, type NoticeCode, type NoticeParams } from '../../../../src/core/notice.ts'
import { NOTICES, noticeText } from '../../../../src/ui/messages/notices.ts'
import { RETIRED } from './retired.ts'

const ANA = { name: 'Ana', email: 'ana@example.org' }
const BEA = { name: 'Bea', email: 'bea@example.org' }
const CONFLICT = { email: 'a@x', owner: 'bea', from: 'uid=ana' }
const UNDO = { ...CONFLICT, how: 'held' } as const

/** Of a user with the id ana, or of a group with the id g. */
type Row<Code extends NoticeCode> = readonly [params: NoticeParams[Code], sentence: string, kind?: Kind]

/** Does not compile without a sentence for each code. */
const SENTENCES: { readonly [Code in NoticeCode]: readonly [Row<Code>, ...Row<Code>[]] } = {
  unreadable: [[{ from: 'row 2', fault: 'there is no id' }, 'row 2: there is no id']],
  'duplicate-id': [
    [
      { from: 'row 2', others: examplesOf(['row 3', 'row 4']) },
      'row 2: the id "ana" is also used by "row 3", "row 4"',
    ],
    [
      { from: 'uid=ana', others: examplesOf([]) },
      'uid=ana: changed between two reads of it; this run leaves it as it is',
    ],
  ],
  'doubtful-text': [[{ from: 'line 2', fault: 'a character was lost' }, 'line 2: a character was lost']],
  'no-name': [[{ from: 'cn=g' }, 'cn=g: the group has no name', 'group']],
  'value-failed': [
    [
      { from: 'row 2', fault: 'users.map.email: it has 2,002 characters' },
      'row 2: users.map.email: it has 2,002 characters',
    ],
  ],
  'unknown-members': [
    [
      { from: 'cn=g', ...examplesOf(['u']), groups: 0, shared: examplesOf([]) },
      'cn=g: 1 member is no user of this sync: "u"',
      'group',
    ],
    [
      { from: 'cn=g', examples: [], total: 2, groups: 0, shared: examplesOf([]) },
      'cn=g: 2 members are no users of this sync',
      'group',
    ],
    [
      { from: 'cn=g', ...examplesOf(['u', 'v', 'w', 'x']), groups: 1, shared: examplesOf(['u']) },
      'cn=g: 4 members are no users of this sync: "u", "v", "w" and 1 more; 1 is a group, whose users count with groups.nested: flatten; "u" may be any of several users, so none is added for it',
      'group',
    ],
    [
      { from: 'cn=g', ...examplesOf(['u', 'v']), groups: 2, shared: examplesOf([]) },
      'cn=g: 2 members are no users of this sync: "u", "v"; 2 are groups, whose users count with groups.nested: flatten',
      'group',
    ],
    [
      { from: null, ...examplesOf(['u']), groups: 0, shared: examplesOf([]) },
      'is not in the file of groups, and has 1 member: "u"',
      'group',
    ],
  ],
  'members-hidden': [
    [
      { from: 'cn=g', why: 'changing', isOwn: true, groups: examplesOf([]) },
      'cn=g: could not be read as a whole, because its members changed during each read',
      'group',
    ],
    [
      { from: 'cn=g', why: 'global-catalog', isOwn: false, groups: examplesOf(['cn=h']) },
      'cn=g: the global catalog does not have the members of "cn=h" within it, but only those of universal groups and of its own domain',
      'group',
    ],
  ],
  disabled: [
    [{ from: 'uid=ana', isGone: true }, 'uid=ana: is disabled and treated as absent'],
    [{ from: 'uid=ana', isGone: false }, 'uid=ana: is disabled and left in the directory as it is'],
  ],
  unaddressable: [
    [
      { ownId: 12, name: 'Ana', fault: 'there is no id' },
      'the user 12 "Ana" of the directory cannot be addressed: there is no id',
    ],
    [
      { ownId: null, name: 'Ana', fault: 'there is no id' },
      'the user "Ana" of the directory cannot be addressed: there is no id',
    ],
  ],
  'shared-id': [
    [
      { ownIds: [12, 13] },
      'several users of the directory have the external id "ana" (their ids in the service: 12, 13)',
    ],
    [{ ownIds: [] }, 'several users of the directory have the external id "ana"'],
  ],
  'email-not-allowed': [
    [
      { email: 'ana', why: 'no-address', from: 'uid=ana' },
      'the e-mail ana is no address (uid=ana); nothing is written for this user',
    ],
    [
      { email: 'a@x', why: 'other-domain', from: 'uid=ana' },
      'the e-mail a@x is outside the allowed domains (uid=ana); nothing is written for this user',
    ],
  ],
  'email-dropped': [
    [
      { email: 'ana', why: 'no-address', from: 'uid=ana', isKept: true },
      'the e-mail ana is no address (uid=ana); the directory keeps its own',
    ],
    [
      { email: 'a@x', why: 'other-domain', from: 'uid=ana', isKept: false },
      'the e-mail a@x is outside the allowed domains (uid=ana); this user is written without it',
    ],
  ],
  'no-email': [
    [{ from: 'uid=ana' }, 'the source has no usable e-mail (uid=ana); the user is created without one'],
  ],
  'duplicate-email': [
    [
      { ...CONFLICT, how: 'held', undo: null },
      '"bea" has the e-mail a@x in the directory and keeps it; the rest of this user (uid=ana) is written without it',
    ],
    [
      { ...CONFLICT, how: 'smallest-id', undo: null },
      'the e-mail a@x goes to "bea", which has the smallest id of the users that want it; the rest of this user (uid=ana) is written without it',
    ],
    [
      { ...CONFLICT, how: 'shared', undo: null },
      'the directory shows the e-mail a@x with "bea" too; this is not changed',
    ],
    [
      { ...UNDO, undo: { run: 12, why: 'other-run' } },
      '"bea" has the e-mail a@x in the directory and keeps it; run 12 did not give it that e-mail: undo the later run that did, or free the e-mail in the service, and then undo run 12 again',
    ],
    [
      { ...UNDO, undo: { run: 12, why: 'other-part' } },
      '"bea" has the e-mail a@x in the directory and keeps it; run 12 gave it that e-mail: undo both together',
    ],
    [
      { ...UNDO, undo: { run: 12, why: 'had-none' } },
      '"bea" has the e-mail a@x in the directory and keeps it; run 12 gave it that e-mail, it had none before, and no endpoint of the API clears one',
    ],
    [
      { ...UNDO, undo: { run: 12, why: 'left' } },
      '"bea" has the e-mail a@x in the directory and keeps it; run 12 gave it that e-mail, and this undo leaves it as it is',
    ],
  ],
  'email-swap': [
    [
      { email: 'a@x', owner: 'bea', isUndo: false },
      'gets the e-mail a@x of "bea", which gets another one, in a circle of such changes. If the service allows each e-mail only once and refuses this, give one of these users any other e-mail in the service: the next run then changes them all',
    ],
    [
      { email: 'a@x', owner: 'bea', isUndo: true },
      'gets the e-mail a@x of "bea", which gets another one, in a circle of such changes. If the service allows each e-mail only once and refuses this, give them their e-mails back in the service',
    ],
  ],
  'id-moved': [
    [
      { from: 'uid=ana', before: ANA, after: BEA, undone: null },
      'was Ana <ana@example.org> and is Bea <bea@example.org> in the source (uid=ana): the id may belong to another user now',
    ],
    [
      { from: 'uid=ana', before: ANA, after: BEA, undone: 12 },
      'was Ana <ana@example.org> and becomes Bea <bea@example.org> again, as before run 12',
    ],
  ],
  'new-id': [
    [
      { oldId: 'a1', email: 'a@x' },
      'has the e-mail a@x of "a1", which this plan deletes: it looks like one user with a new id',
    ],
  ],
  'other-id-form': [
    [
      { form: 'guid' },
      'this plan deletes it; all ids of users in the source are GUIDs, and this one is not. Unless an earlier read had it, it was made by hand or by another program; entries.users.protected keeps it',
    ],
    [
      { form: 'number' },
      'this plan deletes it; all ids of groups in the source are numbers, and this one is not. Unless an earlier read had it, it was made by hand or by another program; entries.groups.protected keeps it',
      'group',
    ],
  ],
  'unknown-id': [
    [
      { similar: null, isOtherKind: false },
      'is neither in the source nor in the directory; is the id right?',
    ],
    [
      { similar: 'Ana', isOtherKind: false },
      'is neither in the source nor in the directory; did you mean Ana?',
    ],
    [
      { similar: null, isOtherKind: true },
      'is neither in the source nor in the directory; did you mean --group ana?',
    ],
  ],
  excluded: [
    [
      { list: 'exclude', from: 'uid=ana' },
      'on the list entries.users.exclude (uid=ana): neither written nor deleted',
    ],
    [{ list: 'include', from: null }, 'not on the list entries.users.include: not deleted'],
  ],
  protected: [[{}, 'created by the run, and on the list entries.users.protected: not deleted']],
  'value-kept': [
    [
      { from: 'uid=ana', fields: ['name'] },
      'the source has no usable name (uid=ana); the directory keeps its own',
    ],
    [
      { from: 'uid=ana', fields: ['email', 'name'] },
      'the source has no usable e-mail and no usable name (uid=ana); the directory keeps its own',
    ],
  ],
  'membership-differs': [
    [
      { group: 'Sales', added: 1, removed: 2 },
      '"Sales": it lacks 1 member of the source and has 2 that the source does not',
      'group',
    ],
  ],
  'changed-since': [
    [{ run: 12, how: 'missing' }, 'is not in the directory any more'],
    [{ run: 12, how: 'shared-id' }, 'several entries of the directory have this id: left as they are'],
    [
      { run: 12, how: 'values', now: BEA, did: 'wrote', values: ANA },
      'is Bea <bea@example.org> now, and run 12 wrote Ana <ana@example.org>',
    ],
    [
      { run: 12, how: 'values', now: { name: null, email: null }, did: 'deleted', values: ANA },
      'is without name and e-mail now, and run 12 deleted Ana <ana@example.org>',
    ],
    [
      { run: 12, how: 'name', now: 'Labs', did: 'created', name: 'Sales' },
      'is called "Labs" now, and run 12 created it as "Sales"',
      'group',
    ],
    [
      { run: 12, how: 'name', now: 'Labs', did: 'deleted', name: 'Sales' },
      'is there again as "Labs", and was "Sales"',
      'group',
    ],
    [
      { run: 12, how: 'name', now: 'Labs', did: 'wrote', name: 'Sales' },
      'is called "Labs" now, and run 12 wrote "Sales"',
      'group',
    ],
    [
      { run: 12, how: 'created', by: 14 },
      'run 14 created it since: left as it is; dirsyncd undo 14 is about it',
    ],
    [{ run: 12, how: 'back', by: 14 }, 'is there again after run 14 deleted it: left as it is'],
    [
      { run: 12, how: 'joined', now: ANA, group: 'Sales' },
      'is Ana <ana@example.org> now, and run 12 did not make it a member of "Sales"',
    ],
    [
      { run: 12, how: 'has-members', name: 'Sales', ...examplesOf(['ana', 'bea']) },
      '"Sales" has members since: "ana", "bea"',
      'group',
    ],
  ],
  'not-restored': [
    [
      { run: 12, how: 'found-before' },
      'was there before run 12 could create it, perhaps by another client: left as it is',
    ],
    [
      { run: 12, how: 'done-before' },
      'had this change before run 12 could make it, perhaps by another client: left as it is',
    ],
    [
      { run: 12, how: 'group-missing' },
      'is not in the directory any more, and gets no members back',
      'group',
    ],
    [{ run: 12, how: 'field-empty', field: 'email' }, 'had no e-mail, and no endpoint of the API clears one'],
    [
      { run: 12, how: 'memberships', ...examplesOf(['g', 'h']) },
      'was a member of "g", "h": this sync writes no members (directory.membership)',
    ],
    [
      { run: 12, how: 'members', name: 'Sales', members: 3 },
      '"Sales" had 3 members: this sync writes no members (directory.membership)',
      'group',
    ],
    [
      { run: 12, how: 'other-members', name: 'Sales' },
      '"Sales" had other members: this sync writes no members (directory.membership)',
      'group',
    ],
    [
      { run: 12, how: 'members-missing', name: 'Sales', ...examplesOf(['ana']) },
      '"Sales" had members that are not in the directory: "ana"',
      'group',
    ],
  ],
  'read-back': [
    [{ op: 'create-user', changes: 20 }, 'the first 20 changes of the kind create-user were read back'],
  ],
  rewritten: [
    [{ field: 'email', sent: 'Ana@x', shown: null }, 'got the e-mail "Ana@x", and shows no e-mail'],
    [{ field: 'name', sent: null, shown: 'Ana' }, 'got no name, and shows the name "Ana"'],
    [{ field: 'members', sent: 3, shown: 1 }, 'got 3 members, and shows 1 member', 'group'],
  ],
  'batches-off': [
    [
      { reason: 'The service answered 500.' },
      'The service answered 500; the rest of the run sends each entry alone',
    ],
  ],
  'directory-incomplete': [
    [
      { there: 3, creates: 10 },
      'the directory already had 3 of the 10 users to create. Its list may lack entries, also absent users, or the service created entries and refused the request',
    ],
  ],
}

function noticeOf(code: string, params: object, kind: Kind): Notice {
  return { kind, id: kind === 'user' ? 'ana' : 'g', code, params } as Notice
}

const rows = Object.entries(SENTENCES).flatMap(([code, each]) =>
  each.map(([params, sentence, kind = 'user']) => ({ notice: noticeOf(code, params, kind), sentence })),
)

test.each(rows)('$notice.code: $sentence', ({ notice, sentence }) => {
  expect(noticeText(notice)).toBe(sentence)
})

test.each(rows)('$notice.code is one clause in words of today: $sentence', ({ notice }) => {
  expect(noticeText(notice)).not.toMatch(/\.$|undefined|null|NaN|\[object/)
  expect(noticeText(notice)).not.toMatch(RETIRED)
})

describe('every code', () => {
  const INFORMATIONAL: ReadonlySet<string> = new Set(['read-back'])

  test.each(Object.entries(NOTICES))('%s has a meaning, and a remedy where there is one', (code, message) => {
    const { meaning, remedy } = message
    expect(meaning).toMatch(/^[a-z].*[^.]$/)
    expect(meaning).not.toMatch(RETIRED)
    if (INFORMATIONAL.has(code)) expect(remedy).toBeUndefined()
    else expect(remedy).toMatch(/^(?:[A-Z]|dirsyncd ).*\.$/)
    expect(remedy ?? '').not.toMatch(RETIRED)
  })
})
