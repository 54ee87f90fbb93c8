import { expect, test } from 'vitest'
import type { BlockCode, BlockParams, BlockReason, KeyFacts } from '../../../../src/core/block.ts'
import { examplesOf } from '../../../../src/core/notice.ts'
import type { ChangeReason } from '../../../../src/operations/control.ts'
import { BLOCKS, blockText, reasonText } from '../../../../src/ui/messages/blocks.ts'
import { RETIRED } from './retired.ts'

type Row<Code extends BlockCode> = readonly [params: BlockParams[Code], sentence: string]

const DELETES = { deletes: 1_234, of: 20_000, leftFilter: 0, newIds: 0 }
const ONE_GROUP = { removals: 5, groups: examplesOf(['Sales']), lists: examplesOf(['cn=g']) }
const TWO_GROUPS = { removals: 5, groups: examplesOf(['Labs', 'Sales']), lists: examplesOf(['cn=g']) }
const SINCE = '2026-03-10T12:00:00.000Z'
const UNTIL = '2026-03-11T12:00:00.000Z'

/** Does not compile without a sentence for each code. */
const SENTENCES: { readonly [Code in BlockCode]: readonly [Row<Code>, ...Row<Code>[]] } = {
  rejected: [[{}, 'an operator rejected the changes']],
  policy: [
    [{ policy: 'upsert' }, 'policy upsert deletes nothing and removes no members'],
    [{ policy: 'create-only' }, 'policy create-only changes nothing that exists'],
  ],
  protected: [[{}, 'on the list entries.users.protected or entries.groups.protected: not deleted']],
  unreadable: [
    [
      { entries: 1 },
      '1 entry of the source could not be understood, so nothing is deleted and no member is removed',
    ],
    [
      { entries: 2 },
      '2 entries of the source could not be understood, so nothing is deleted and no member is removed',
    ],
  ],
  grace: [[{}, 'absent, and deleted after the grace period (deleteAfter)']],
  'absence-unconfirmed': [
    [{}, 'absent, and a second read has to confirm it, because the server shows no replication state'],
  ],
  quarantine: [[{}, 'in quarantine: the service refused the changes']],
  'not-persisted': [[{}, 'in quarantine: the service accepted the changes twice without effect']],
  'partial-read': [
    [
      { check: 'container-emptied' },
      'the run read some entries only, and the check container-emptied needs all of them',
    ],
  ],
  'seen-again': [[{}, 'the read did not show it, and the recheck found it']],
  'removals-not-confirmed': [[{}, 'groups would lose members, and a recheck did not confirm it']],
  'recently-deleted': [
    [{}, 'this sync deleted it in the last 24 hours; perhaps the server shows an older state'],
  ],
  asked: [[{}, 'an earlier run asked about it, and it is not decided yet']],
  'kept-membership': [[{}, 'the delete would end memberships; their removal is rejected or not decided yet']],
  'container-emptied': [
    [
      { kind: 'user', container: 'ou=sales', absent: 5, leftFilter: 0, isEmpty: true },
      '5 users of "ou=sales" are absent, and no user is left there; perhaps the bind account cannot read it any more, or the sync has another base or filter',
    ],
    [
      { kind: 'group', container: 'ou=sales', absent: 1, leftFilter: 1, isEmpty: true },
      `1 group of "ou=sales" is absent (1 still in the source, but outside the sync's filter), and no group is left there; perhaps the bind account cannot read the attributes of the filter any more, or the sync has another base or filter`,
    ],
    [
      { kind: 'user', container: 'ou=sales', absent: 4, leftFilter: 0, isEmpty: false },
      '4 users of "ou=sales" are absent, and an earlier run found no user left there; perhaps the bind account cannot read it any more, or the sync has another base or filter',
    ],
  ],
  'group-emptied': [
    [
      { how: 'no-members', attributes: [], ...ONE_GROUP },
      '"Sales" would lose 5 members: "cn=g" listed members in the last complete run, and shows none now; perhaps the bind account cannot read it any more',
    ],
    [
      { how: 'not-read', attributes: ['member', 'memberUid'], ...ONE_GROUP },
      '"Sales" would lose 5 members: "cn=g" listed members in member and memberUid in the last complete run, and groups.map.members of the sync does not name that attribute any more',
    ],
    [
      { how: 'not-shown', attributes: ['member'], ...TWO_GROUPS },
      '"Labs", "Sales" would lose 5 memberships: "cn=g" listed members in member in the last complete run, and showed none there in a later run; perhaps the bind account cannot read it any more',
    ],
    [
      { how: 'not-shown-by-any-group', attributes: ['member'], ...ONE_GROUP },
      '"Sales" would lose 5 members: "cn=g" listed members in member in the last complete run, and shows none there now, as no group does any more; perhaps the bind account cannot read it any more',
    ],
    [
      {
        how: 'group-absent',
        attributes: [],
        ...TWO_GROUPS,
        lists: examplesOf(['cn=g', 'cn=h']),
      },
      '"Labs", "Sales" would lose 5 memberships or be deleted: "cn=g", "cn=h" listed members in the last complete run, and are absent now; perhaps renamed, or the bind account cannot read it any more',
    ],
    [
      { how: 'group-absent', attributes: [], ...ONE_GROUP, removals: 0 },
      '"Sales" would be deleted: "cn=g" listed members in the last complete run, and is absent now; perhaps renamed, or the bind account cannot read it any more',
    ],
  ],
  'first-contact': [
    [
      { deletes: { users: 1, groups: 0, memberships: 0 }, later: 0 },
      'this sync has never completed a run on this directory, and the plan would remove 1 user that the source does not have',
    ],
    [
      { deletes: { users: 2, groups: 1, memberships: 3 }, later: 4 },
      'this sync has never completed a run on this directory, and the plan would remove 2 users, 1 group, 3 memberships and would let a later run delete 4 entries that the source does not have',
    ],
    [
      { deletes: { users: 0, groups: 0, memberships: 0 }, later: 4 },
      'this sync has never completed a run on this directory, and the plan would let a later run delete 4 entries that the source does not have',
    ],
  ],
  'min-source-users': [
    [{ users: 1, limit: 1_000 }, 'the source has 1 user, and at least 1,000 are expected'],
  ],
  'max-moved-ids': [
    [
      { users: 1, limit: 0 },
      '1 id of a user seems to belong to another user now (name and e-mail change at once), limit 0',
    ],
    [
      { users: 11, limit: 10 },
      '11 ids of users seem to belong to another user now (name and e-mail change at once), limit 10',
    ],
  ],
  'configuration-changed': [
    [
      {
        kind: 'users',
        since: 12,
        keys: ['users.filter', 'users.map.email'],
        deletes: 15,
        of: 100,
        leftFilter: 3,
        newIds: 2,
        updates: 10,
        limit: 20,
        isLater: false,
      },
      "the configuration was changed since run 12 (users.filter, users.map.email): 15 of 100 users would be removed (3 still in the source, but outside the sync's filter; 2 created again under another id) and 10 updated, together 25 %, limit 20 % after such a change",
    ],
    [
      {
        kind: 'memberships',
        since: 12,
        keys: ['groups.map.members'],
        deletes: 3,
        of: 10,
        leftFilter: 0,
        newIds: 0,
        updates: 0,
        limit: 20,
        isLater: true,
      },
      'the configuration was changed since run 12 (groups.map.members): 3 of 10 memberships would be removed now or later and 0 added, together 30 %, limit 20 % after such a change',
    ],
  ],
  'undo-deletes': [
    [{ run: 12, users: 2, groups: 1 }, '2 users and 1 group that run 12 created would be deleted again'],
    [{ run: 12, users: 0, groups: 1 }, '1 group that run 12 created would be deleted again'],
  ],
  'server-not-newer': [
    [
      {
        how: 'older',
        server: 'dc2',
        last: 'dc1',
        since: '2026-03-10T12:00:00.000Z',
        difference: { key: 'usn', known: '2', seen: '1' },
        until: '2026-03-11T12:00:00.000Z',
        needsApproval: false,
      },
      'dc2 is older than dc1 was in the last complete run (usn: 2 then, 1 now); nothing is changed until it has caught up; if that lasts until 2026-03-11 12:00:00Z, a run asks whether to accept this server',
    ],
  ],
  'empty-directory-users': [
    [
      { kind: 'user', before: 1_200 },
      'the directory shows no users, without the headers that count them, and the source of the last complete run had 1,200',
    ],
  ],
  'empty-directory-groups': [
    [
      { kind: 'group', before: 20 },
      'the directory shows no groups, without the headers that count them, and the source of the last complete run had 20',
    ],
  ],
  'source-shrunk-users': [
    [
      { kind: 'users', now: 700, before: 1_000, limit: 20 },
      'the source has 700 users, 30 % fewer than the 1,000 of the last complete run; limit 20 %',
    ],
  ],
  'source-shrunk-groups': [
    [
      { kind: 'groups', now: 70, before: 100, limit: 20 },
      'the source has 70 groups, 30 % fewer than the 100 of the last complete run; limit 20 %',
    ],
  ],
  'max-deletes-users': [
    [{ kind: 'users', ...DELETES, limit: 50 }, '1,234 of 20,000 users would be removed, limit 50'],
    [
      { kind: 'users', ...DELETES, leftFilter: 3, newIds: 2, limit: 50 },
      "1,234 of 20,000 users would be removed (3 still in the source, but outside the sync's filter; 2 created again under another id), limit 50",
    ],
  ],
  'max-deletes-groups': [
    [{ kind: 'groups', ...DELETES, limit: 50 }, '1,234 of 20,000 groups would be removed, limit 50'],
  ],
  'max-deletes-memberships': [
    [
      { kind: 'memberships', ...DELETES, limit: 50 },
      '1,234 of 20,000 memberships would be removed, limit 50',
    ],
  ],
  'max-delete-percent-users': [
    // As a rounded number it would be equal to the limit.
    [
      { kind: 'users', ...DELETES, deletes: 1001, of: 10_000, leftFilter: 0, limit: 10 },
      '10.1 % of the users (1,001 of 10,000) would be removed, limit 10 %',
    ],
    [
      { kind: 'users', ...DELETES, deletes: 2, of: 3, leftFilter: 1, limit: 10 },
      "66.7 % of the users (2 of 3) would be removed (1 still in the source, but outside the sync's filter), limit 10 %",
    ],
  ],
  'max-delete-percent-groups': [
    [
      { kind: 'groups', ...DELETES, limit: 5 },
      '6.2 % of the groups (1,234 of 20,000) would be removed, limit 5 %',
    ],
  ],
  'max-delete-percent-memberships': [
    [
      { kind: 'memberships', ...DELETES, limit: 5 },
      '6.2 % of the memberships (1,234 of 20,000) would be removed, limit 5 %',
    ],
  ],
  'max-deletes-per-day-users': [
    [
      { kind: 'users', deletes: 10, lastDay: 95, limit: 100 },
      '10 users would be removed after 95 in the last 24 hours, limit 100 a day',
    ],
  ],
  'max-deletes-per-day-groups': [
    [
      { kind: 'groups', deletes: 10, lastDay: 95, limit: 100 },
      '10 groups would be removed after 95 in the last 24 hours, limit 100 a day',
    ],
  ],
  'max-deletes-per-day-memberships': [
    [
      { kind: 'memberships', deletes: 10, lastDay: 95, limit: 100 },
      '10 memberships would be removed after 95 in the last 24 hours, limit 100 a day',
    ],
  ],
  'max-updates-users': [
    [{ kind: 'users', updates: 1_100, limit: 1_000 }, '1,100 users would be updated, limit 1,000'],
  ],
  'max-updates-groups': [
    [{ kind: 'groups', updates: 11, limit: 10 }, '11 groups would be updated, limit 10'],
  ],
  'max-updates-memberships': [
    [{ kind: 'memberships', updates: 11, limit: 10 }, '11 memberships would be added, limit 10'],
  ],
  'max-update-percent-users': [
    [
      { kind: 'users', updates: 20, of: 39, limit: 50 },
      '51.3 % of the users (20 of 39) would be updated, limit 50 %',
    ],
  ],
  'max-update-percent-groups': [
    [
      { kind: 'groups', updates: 20, of: 39, limit: 50 },
      '51.3 % of the groups (20 of 39) would be updated, limit 50 %',
    ],
  ],
  'max-update-percent-memberships': [
    [
      { kind: 'memberships', updates: 20, of: 39, limit: 50 },
      '51.3 % of the memberships (20 of 39) would be added, limit 50 %',
    ],
  ],
}

/** Does not compile without a sentence for each code with facts. */
const OF_ONE: { readonly [Code in keyof KeyFacts]: readonly (readonly [KeyFacts[Code], string])[] } = {
  rejected: [
    [
      { run: 12, by: 'ana', at: SINCE, reason: 'on parental leave' },
      'rejected by ana at 2026-03-10 12:00:00Z in run 12: on parental leave',
    ],
    [{ run: 12, by: 'ana', at: SINCE, reason: '' }, 'rejected by ana at 2026-03-10 12:00:00Z in run 12'],
  ],
  grace: [
    [{ since: SINCE, until: UNTIL }, 'absent since 2026-03-10 12:00:00Z; deleted after 2026-03-11 12:00:00Z'],
    [
      { since: SINCE, reads: 1 },
      'absent since 2026-03-10 12:00:00Z; deleted if 1 more run in a row does not find it',
    ],
    [
      { since: SINCE, reads: 2 },
      'absent since 2026-03-10 12:00:00Z; deleted if 2 more runs in a row do not find it',
    ],
  ],
  'absence-unconfirmed': [
    [
      { since: SINCE, until: UNTIL },
      'absent since 2026-03-10 12:00:00Z, and deleted if a read after 2026-03-11 12:00:00Z does not find it either, because the server shows no replication state',
    ],
  ],
  quarantine: [[{ answer: '422 the e-mail is taken' }, '422 the e-mail is taken']],
  'not-persisted': [
    [{ how: 'not-listed' }, 'was created, and the service says that it exists, but does not list it'],
    [
      { how: 'not-kept' },
      'was created twice, and the directory does not show it: the service does not keep it, or another client deletes it',
    ],
    [
      { how: 'missing-but-listed' },
      'was to be deleted twice: the service says that it does not exist, and lists it',
    ],
    [
      { how: 'not-deleted' },
      'was deleted twice, and the directory still shows it: the service does not delete it, or another client creates it again',
    ],
    [
      { how: 'not-changed' },
      'was written twice, and the directory still shows another value: the service cuts, changes or does not keep it, or another client changes it back',
    ],
  ],
  'removals-not-confirmed': [
    [{ code: 'renamed', params: { group: 'cn=g' } }, '"cn=g" was renamed during the recheck'],
  ],
  'group-emptied': [
    [
      { how: 'not-shown', dn: 'cn=g', attribute: 'member', had: 7 },
      '"cn=g" listed 7 members in member in the last complete run, and showed none there in a later run; perhaps the bind account cannot read it any more',
    ],
    [
      { how: 'group-absent', dn: 'cn=g', attribute: null, had: 1 },
      '"cn=g" listed 1 member in the last complete run, and is absent now; perhaps renamed, or the bind account cannot read it any more',
    ],
  ],
  asked: [
    [
      { codes: ['max-deletes-users', 'container-emptied'] },
      'an earlier run asked about it, and it is not decided yet (max-deletes-users, container-emptied)',
    ],
  ],
  'kept-membership': [
    [
      { user: 'a', group: 'g' },
      'the delete would end the membership of user a in group g; its removal is rejected or not decided yet',
    ],
  ],
}

const ofOne = Object.entries(OF_ONE).flatMap(([code, each]) =>
  each.map(([facts, sentence]) => ({
    reason: { code, params: {}, facts, until: 'time', stops: false } as unknown as ChangeReason,
    sentence,
  })),
)

test.each(ofOne)('one change, $reason.code: $sentence', ({ reason, sentence }) => {
  expect(reasonText(reason)).toBe(sentence)
  expect(sentence).not.toMatch(RETIRED)
  expect(reasonText(reason, () => '***')).not.toContain('cn=')
})

test('one change without facts of its own is blocked for what the block says', () => {
  const reason = { code: 'unreadable', params: { entries: 2 } } as const
  expect(reasonText({ ...reason, until: 'read', stops: false, facts: null })).toBe(blockText(reason))
  const grace = { code: 'grace', params: {}, until: 'time', stops: false, facts: null } as const
  expect(reasonText(grace)).toBe(blockText(grace))
})

const rows = Object.entries(SENTENCES).flatMap(([code, each]) =>
  each.map(([params, sentence]) => ({ reason: { code, params } as BlockReason, sentence })),
)

test.each(rows)('$reason.code: $sentence', ({ reason, sentence }) => {
  expect(blockText(reason)).toBe(sentence)
})

test.each(rows)('$reason.code is one clause in words of today: $sentence', ({ reason }) => {
  expect(blockText(reason)).not.toMatch(/\.$|undefined|null|NaN|\[object/)
  expect(blockText(reason)).not.toMatch(RETIRED)
})

/** Names of groups and DNs; ids of users stand in no block. */
test.each(rows)('$reason.code names no entry where names are hidden: $sentence', ({ reason }) => {
  expect(blockText(reason, () => '***')).not.toMatch(/Sales|Labs|Staff|cn=|ou=/)
})

test.each(Object.entries(BLOCKS))('%s has a meaning and a remedy', (_, { meaning, remedy }) => {
  expect(meaning).toMatch(/^[a-z].*[^.]$/)
  expect(remedy).toMatch(/^[A-Z].*\.$/)
  expect(`${meaning} ${remedy}`).not.toMatch(RETIRED)
  expect(meaning).not.toContain('KIND')
})
