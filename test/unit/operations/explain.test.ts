import { describe, expect, test } from 'vitest'
import type { BlockCode, BlockReason } from '../../../src/core/block.ts'
import { Decisions, EMPTY_LEDGER, type Ledger } from '../../../src/core/decisions.ts'
import type { DiffRules } from '../../../src/core/diff/rules.ts'
import { type Key, keyText } from '../../../src/core/keys.ts'
import type { Notice } from '../../../src/core/notice.ts'
import { type Change, fingerprint } from '../../../src/core/plan/change.ts'
import { reasonsOfRun } from '../../../src/operations/explain/history.ts'
import { type EntryFacts, judgeEntry } from '../../../src/operations/explain/judge.ts'
import { membersInQuestion } from '../../../src/operations/explain/members.ts'
import type { ExplainDeps } from '../../../src/operations/explain/sides.ts'
import type { JournalEntry, Story } from '../../../src/operations/story.ts'
import { Collector } from '../../../src/source/collect.ts'
import type { Found, FoundEntry } from '../../../src/source/source.ts'
import type { ChangeReason, ChangeRecord } from '../../../src/store/change-list.ts'
import { type Judgement, judgementOf, type Verdict } from '../../../src/ui/messages/explain/verdict.ts'
import { approving, LIMITS } from '../core/checks/build.ts'

const KEY = { kind: 'user', id: 'ana' } as const
const THERE = { id: 'ana', email: 'ana@example.org', name: 'Ana' }
const RULES: DiffRules = { policy: 'mirror', membership: 'write', allowedDomains: [] }
const PLAIN = { email: undefined, employeeId: undefined }
const PAUSED = { sync: 'corp', by: 'ana', reason: null, since: '2026-01-02T03:04:05.000Z' }
const NOBODY = { user: new Set<string>(), group: new Set<string>() }

const entry: FoundEntry = {
  kind: 'user',
  ids: ['ana'],
  from: 'users.csv, row 2',
  standing: undefined,
  fields: [],
  members: undefined,
}

const UNIT: FoundEntry = {
  ...entry,
  ids: [],
  from: 'ou=staff,dc=org',
  standing: { bases: ['dc=org'], inBase: true, filter: '(uid=*)', inFilter: false, disabled: undefined },
  container: 'a container (objectClass organizationalUnit)',
}

const LOCKED: FoundEntry = {
  ...entry,
  standing: {
    bases: ['dc=org'],
    inBase: true,
    filter: '(uid=*)',
    inFilter: true,
    disabled: { rule: '(locked=*)', action: 'skip' },
  },
}

function foundAs(
  user: { readonly email?: string; readonly name?: string; readonly faults?: readonly string[] } | undefined,
  more: Partial<Found> = {},
  collector = new Collector(),
): Found {
  const { email, name, faults = [] } = user ?? {}
  const { from } = entry
  if (user !== undefined)
    collector.addUser({ ids: ['ana'], idName: 'id', from, email, name, employeeId: undefined, faults })
  const entries = user === undefined ? [] : [entry]
  return { entries, snapshot: collector.snapshot(), searched: 'in users.csv', server: undefined, ...more }
}

interface Given extends Partial<Omit<EntryFacts, 'rules' | 'decisions'>> {
  readonly rules?: Partial<DiffRules>
  readonly ledger?: Partial<Ledger>
  readonly story?: Partial<Story>
  /** What the last run blocked. */
  readonly rows?: readonly ChangeRecord[]
}

function judged({ rules, ledger, found = foundAs(THERE), directory = [THERE], ...more }: Given) {
  return judgeEntry({
    key: KEY,
    found,
    directory,
    rules: { ...RULES, ...rules },
    limits: LIMITS,
    grace: { deleteAfter: {}, confirmAfterMs: 0, hidesServers: false },
    options: {},
    states: {},
    decisions: new Decisions({ ...EMPTY_LEDGER, ...ledger }),
    refusals: [],
    now: new Date(0),
    deletedLastDay: NOBODY,
    ...more,
  })
}

function attempt(more: Partial<JournalEntry>): JournalEntry {
  return {
    run: 5,
    op: 'update-user',
    fingerprint: '',
    at: '2026-01-02T03:04:05.000Z',
    outcome: 'applied',
    status: 200,
    detail: null,
    why: null,
    approvedBy: null,
    undoes: null,
    ...more,
  }
}

function told(given: Given): Judgement {
  const { keys: _, reasons: own, ...ofEntry } = judged(given)
  const { found = foundAs(THERE), directory = [THERE], ledger, rows = [], states } = given
  const decisions = new Decisions({ ...EMPTY_LEDGER, ...ledger })
  const isOfMembers = given.key?.kind === 'group' && (given.story?.sameMembers ?? null) === null
  const { reasons, question } = reasonsOfRun(7, rows, judged(given), decisions, isOfMembers)
  return judgementOf({
    result: 'one',
    sync: 'corp',
    who: 'ana',
    email: null,
    paused: null,
    ...(given.key ?? KEY),
    name: given.key === undefined ? 'Ana' : 'Sales',
    source: {
      error: null,
      server: null,
      searched: '',
      entries: found.entries,
      sameEmail: [],
      unreadable: [],
    },
    directory: { error: null, entry: directory[0] ?? null },
    ...ofEntry,
    reasons: [...own.map((reason) => ({ ...reason, run: null })), ...reasons],
    question,
    groups: [],
    lastRun: null,
    lastFailure: null,
    journal: [],
    isAbsenceKnown: states?.grace?.user.has('ana') === true,
    membership: 'write',
    sameMembers: null,
    sharesEmails: false,
    configurationChange: null,
    completedRun: null,
    ...given.story,
  })
}

/** A change that the last run blocked. */
function row(change: Change, ...reasons: readonly ChangeReason[]): ChangeRecord {
  return { number: 1_000_000_000, change, state: 'blocked', status: null, detail: null, reasons }
}

function because(of: BlockReason, more: Partial<ChangeReason> = {}): ChangeReason {
  return { ...of, until: 'decision', stops: false, facts: null, ...more } as ChangeReason
}

function asking(code: BlockCode, ...keys: readonly Key[]): Partial<Ledger> {
  return { blocked: new Map(keys.map((key) => [keyText(key), { since: 1, asks: new Set([code]) }])) }
}

const KEPT_EMAIL: Notice = {
  ...KEY,
  code: 'duplicate-email',
  params: { email: 'own@example.org', owner: 'own', how: 'held', from: 'x', undo: null },
}
const RENAMED = { email: 'ana@example.org', name: 'Anna' }

const NAME: Key = ['user', 'ana', 'name', 'Anna']
const rejection = { by: 'eva', at: new Date(PAUSED.since), run: 3, reason: 'she stays Ana' }
const MAX_UPDATES = because(
  { code: 'max-updates-users', params: { kind: 'users', updates: 2, limit: 1 } },
  { stops: true },
)
const heldUpdate = () => [row(judged({ found: foundAs(RENAMED) }).difference!, MAX_UPDATES)]

function withUnreadable(): Collector {
  const collector = new Collector()
  collector.addUnreadable('user', { from: 'users.csv, row 9', fault: 'there is no id' })
  return collector
}

const BEN = { id: 'ben', email: 'ana@example.org', name: 'Ben' }

/** He has the e-mail in the source, too. */
function withBen(): Collector {
  const collector = new Collector()
  const ben = { ids: ['ben'], idName: 'id', from: 'row 3', name: 'Ben', employeeId: undefined }
  collector.addUser({ ...ben, email: 'ANA@example.org' })
  return collector
}

const lastRunSaid = (notice: Notice): Partial<Story> => ({
  lastRun: { run: 4, state: 'done', at: '2026-01-01T00:00:00.000Z', notices: [notice] },
})

const DOUBTED = because(
  {
    code: 'server-not-newer',
    params: {
      how: 'older',
      server: 'ldap://b',
      last: 'ldap://a',
      difference: { key: '001', known: '2', seen: '1' },
      since: PAUSED.since,
      until: PAUSED.since,
      needsApproval: false,
    },
  },
  { until: 'read' },
)

test.each<[string, Given, { code: string; sentence: RegExp; next: RegExp; todo?: RegExp }]>([
  [
    'nobody deletes by the policy upsert',
    { found: foundAs(undefined), rules: { policy: 'upsert' } },
    {
      code: 'policy',
      sentence: /^Ana \(user ana\) is not in the source, and is in the directory; policy upsert /,
      next: /^The next run leaves it as it is\.$/,
      todo: /policy/,
    },
  ],
  [
    'the source has entries that cannot be read',
    { found: foundAs(undefined, {}, withUnreadable()) },
    {
      code: 'unreadable',
      sentence: /1 entry of the source could not be/,
      next: /^The next run makes its delete only if its read confirms it\.$/,
      todo: /unreadable/,
    },
  ],
  [
    'a value of the directory is kept',
    { found: foundAs({ email: 'ana@example.org' }) },
    { code: 'value-kept', sentence: /no usable name/, next: /but its groups/ },
  ],
  [
    'an operator rejected a part of the change',
    {
      found: foundAs({ ...RENAMED, email: 'new@example.org' }),
      ledger: { rejections: new Map([[keyText(NAME), rejection]]) },
    },
    {
      code: 'rejected',
      sentence: /; rejected by eva at 2026-01-02 03:04:05Z in run 3: she stays Ana\.$/,
      next: /^The next run makes the rest of the change/,
      todo: /^dirsyncd approve 3 --id ana makes it after all\.$/,
    },
  ],
  [
    'an operator rejected the delete',
    {
      found: foundAs(undefined),
      ledger: { rejections: new Map([[keyText(['user', 'ana', 'leave']), rejection]]) },
    },
    {
      code: 'rejected',
      sentence: /and is in the directory; rejected by eva /,
      next: /^The next run leaves it as it is\.$/,
      todo: /^dirsyncd approve 3 --id ana /,
    },
  ],
  [
    'this sync has just deleted the user, who is back on a server that may lag',
    {
      found: foundAs(RENAMED, { server: 'ldap://a' }),
      directory: [],
      deletedLastDay: { ...NOBODY, user: new Set(['ana']) },
      story: lastRunSaid(KEPT_EMAIL),
    },
    {
      code: 'recently-deleted',
      sentence: /^Ana \(user ana\) is in the source, and not in the directory; .*deleted/,
      next: /only if a day has passed since its delete, or after an approval/,
      todo: /^dirsyncd approve 4 --id ana /,
    },
  ],
  [
    'the last run did not trust its server',
    { found: foundAs(undefined), rows: [row(judged({ found: foundAs(undefined) }).difference!, DOUBTED)] },
    {
      code: 'server-not-newer',
      sentence: /is not in the source, and is in the directory; run 7: .*ldap:\/\/b/,
      next: /only if its read confirms it/,
      todo: /replication/,
    },
  ],
  [
    'the last try failed',
    {
      found: foundAs(RENAMED),
      story: {
        journal: [
          attempt({
            outcome: 'failed',
            status: 500,
            detail: 'the service answered 500',
          }),
        ],
      },
    },
    {
      code: 'failed',
      sentence: /; run 5 tried it, and it failed \(the service answered 500\)\.$/,
      next: /updates it/,
      todo: /dirsyncd sync corp/,
    },
  ],
  [
    'the last run failed before it could change anything',
    {
      found: foundAs(THERE),
      directory: [],
      story: { lastFailure: { run: 6, at: '', error: 'The token was refused.' } },
    },
    {
      code: 'failed',
      sentence: /not in the directory; run 6 failed: The token was refused\.$/,
      next: /creates it/,
      todo: /dirsyncd sync corp/,
    },
  ],
  [
    'an e-mail that somebody kept in the last run',
    {
      found: foundAs({ ...RENAMED, email: 'own@example.org' }),
      story: {
        lastRun: {
          run: 7,
          state: 'done',
          at: '',
          notices: [KEPT_EMAIL],
        },
      },
    },
    {
      code: 'duplicate-email',
      sentence:
        /^Ana \(user ana\) is in the source, and in the directory with other values: .*; run 7: "own" has the e-mail .* and keeps it; the rest of this user/,
      next: /^The next run updates it, unless .* blocks it; its e-mail is not written while another user of the directory keeps it\.$/,
      todo: /dirsyncd explain shows why the other user keeps the e-mail/,
    },
  ],
  [
    'the sync is paused',
    {
      found: foundAs(RENAMED),
      story: { paused: PAUSED },
    },
    {
      code: 'changed',
      sentence: /other values/,
      next: /^Nothing is written while corp is paused; after dirsyncd resume corp, the next run updates it/,
      todo: /^dirsyncd resume corp lets the sync run again\.$/,
    },
  ],
  [
    'a guard asks about the change itself',
    {
      found: foundAs(RENAMED),
      rows: heldUpdate(),
      ledger: asking('max-updates-users', NAME),
    },
    {
      code: 'max-updates-users',
      sentence: /^Ana \(user ana\) .*; run 7: 2 users would be updated, limit 1\.$/,
      next: /^The next run does not make its update unless an operator approves it\.$/,
      todo: /^See dirsyncd runs 7, then dirsyncd approve 7 --id ana or dirsyncd reject 7 --id ana\.$/,
    },
  ],
  [
    'a guard stopped the plan for other changes',
    {
      found: foundAs(RENAMED),
      rows: [row(judged({ found: foundAs(RENAMED) }).difference!)],
      story: { lastRun: { run: 7, state: 'held', at: '', notices: [] } },
    },
    {
      code: 'changed',
      sentence: /other values/,
      next: /^Run 7 was held; the next run plans again, and updates it unless a check still blocks it/,
      todo: /dirsyncd sync corp/,
    },
  ],
  [
    'somebody new, of whom no guard knows yet',
    { found: foundAs(THERE), directory: [] },
    {
      code: 'changed',
      sentence: /^Ana \(user ana\) is in the source, and not in the directory\.$/,
      next: /^The next run creates it, unless a check blocks it; its e-mail is not written while another user of the directory keeps it\.$/,
      todo: /^dirsyncd sync corp --user ana does it at once, except for an e-mail that another user still has\.$/,
    },
  ],
  [
    'a disabled account that the sync leaves as it is',
    { found: foundAs(undefined, { entries: [LOCKED] }), rules: { policy: 'upsert' } },
    {
      code: 'disabled',
      sentence:
        /^Ana \(user ana\) is disabled in the source by \(locked=\*\) and so is left as it is, and is in the directory; policy upsert /,
      next: /leaves it as it is/,
      todo: /^Enable the account in the source\.$/,
    },
  ],
  [
    'an organizational unit',
    {
      found: foundAs(undefined, { entries: [UNIT], server: 'ldap://a' }),
      directory: [],
      story: { id: null, name: null },
    },
    {
      code: 'not-an-entry',
      sentence:
        /^"ou=staff,dc=org" is a container \(objectClass organizationalUnit\), no user and no group\.$/,
      next: /does nothing/,
      todo: /^Ask for a user or a group/,
    },
  ],
])('%s', (_what, given, { code, sentence, next, todo }) => {
  const { verdict, ...rest } = told(given)
  expect(verdict).toEqual({ code, sentence: expect.stringMatching(sentence) })
  expect(rest.next).toMatch(next)
  expect(rest.todo ?? '').toMatch(todo ?? /^$/)
})

const twenty = (letter: string) => Array.from({ length: 20 }, (_, at) => `${letter}${at}`)

const LATER = { deleteAfter: { user: { ms: 1000 } }, confirmAfterMs: 0, hidesServers: false }

describe('who waits for the delete', () => {
  const absent = { found: foundAs(undefined), grace: LATER }

  test('before a run has seen it, the wait has not begun; and the groups do not wait', () => {
    const { verdict, next } = told(absent)
    expect(verdict).toEqual({
      code: 'grace',
      sentence:
        'Ana (user ana) is not in the source, and is in the directory; no run has found it absent yet, so its grace period begins with the next run.',
    })
    expect(next).toMatch(
      /^The next run leaves it as it is, but takes it out of the groups of the sync, unless/,
    )
  })

  test('since a run has seen it', () => {
    const absences = { user: new Map([['ana', { since: new Date(0), reads: 1 }]]), group: new Map() }
    const states = { grace: absences }
    const { verdict, next } = told({ ...absent, states, story: { membership: 'report' } })
    expect(verdict.sentence).toMatch(/is in the directory; .*1970-01-01 00:00:0/)
    expect(next).toBe('The next run leaves it as it is.')
  })
})

describe('a paused sync writes nothing, whatever the verdict is', () => {
  test.each<[code: string, given: Given]>([
    ['max-updates-users', { found: foundAs(RENAMED), rows: heldUpdate() }],
    ['grace', { found: foundAs(undefined), grace: LATER }],
    ['policy', { found: foundAs(undefined), rules: { policy: 'upsert' } }],
    ['unchanged', {}],
  ])('%s', (code, given) => {
    const { verdict, next } = told({ ...given, story: { ...given.story, paused: PAUSED } })
    expect(verdict.code).toBe(code)
    expect(next).toMatch(
      /^Nothing is written while corp is paused; after dirsyncd resume corp, the next run /,
    )
  })
})

const lost = (id: string): Key => ['group', 'sales', '-member', id]

describe('the members of a group', () => {
  const sales = { kind: 'group', id: 'sales' } as const

  /** A read of everything: users and the members of one group; the directory has users of its own. */
  async function toldOf(
    members: readonly string[],
    there: readonly string[],
    {
      users = members,
      inDirectory = there,
      ...given
    }: Given & { readonly users?: readonly string[]; readonly inDirectory?: readonly string[] } = {},
  ) {
    const collector = new Collector()
    for (const id of users) collector.addUser({ ids: [id], idName: 'id', from: id, ...PLAIN, name: id })
    const listed = { ids: ['sales'], idName: 'id', from: 'row 1' }
    collector.addGroup({ ...listed, name: 'Sales', members: [...members], unknownMembers: [] })
    const snapshot = collector.snapshot()
    const entries = [{ ...entry, ...listed, kind: 'group' as const, members: members.length }]
    const found = foundAs(undefined, { entries, snapshot, everybody: snapshot.users })
    const group = { id: 'sales', name: 'Sales', members: there }
    const lookUp: ExplainDeps['lookUp'] = async ({ id }) =>
      inDirectory.includes(id) ? { id, name: id, email: null } : undefined
    const inQuestion = await membersInQuestion({ lookUp }, found, group)
    const story = { sameMembers: inQuestion?.isSame ?? null, ...given.story }
    return told({ key: sales, found, directory: [group], members: inQuestion, ...given, story })
  }

  test('other people in the same number are named', async () => {
    const { verdict, next, todo } = await toldOf(['ana', 'ben'], ['ben', 'cleo'], {
      users: ['ana', 'ben', 'cleo'],
    })
    expect(verdict).toEqual({
      code: 'changed',
      sentence:
        'Sales (group sales) is in the source, and in the directory with other members: ana to add, and cleo to remove.',
    })
    expect(next).toMatch(/^The next run changes its members/)
    expect(todo).toBe(
      'dirsyncd sync corp --group sales does it at once, except for users that a run creates or deletes.',
    )
  })

  const LOSES: Change = {
    op: 'set-members',
    id: 'sales',
    name: 'Sales',
    have: ['ana', 'ben'],
    want: [],
  }
  test('an operator rejected what it would lose, and so many only a run compares', async () => {
    const there = Array.from({ length: 26 }, (_, index) => `u${index}`)
    const { run, by, reason: text } = rejection
    const facts = { run, by, at: PAUSED.since, reason: text }
    const rows = [row({ ...LOSES, have: there }, because({ code: 'rejected', params: {} }, { facts }))]
    const ledger = { rejections: new Map(there.map((id) => [keyText(lost(id)), rejection])) }
    const { verdict, next, todo } = await toldOf([], there, { rows, ledger })
    expect(verdict).toEqual({
      code: 'rejected',
      sentence:
        'Sales (group sales) is in the source, and is in the directory; the source lists 0 members, and the directory has 26; run 7: rejected by eva at 2026-01-02 03:04:05Z in run 3: she stays Ana.',
    })
    expect(next).toBe('The next run leaves it as it is.')
    expect(todo).toBe('dirsyncd approve 3 --id sales makes it after all.')
  })

  test.each([
    ['all of them are known', {}, 'in the directory with other members: ana, ben to remove'],
    [
      'only their numbers are known',
      { members: undefined, story: { sameMembers: null } },
      'is in the directory; the source lists 0 members, and the directory has 2',
    ],
  ])('the recheck of the last run did not confirm that members left: %s', async (_what, given, where) => {
    const facts = { code: 'not-found', params: { group: 'cn=sales' } } as const
    const rows = [row(LOSES, because({ code: 'removals-not-confirmed', params: {} }, { facts }))]
    const ledger = asking('removals-not-confirmed', lost('ana'), lost('ben'))
    const { verdict, next, todo } = await toldOf([], ['ana', 'ben'], {
      users: ['ana', 'ben'],
      ...given,
      rows,
      ledger,
    })
    expect(verdict).toEqual({
      code: 'removals-not-confirmed',
      sentence: expect.stringContaining(`and ${where}; run 7: the recheck finds no group of the sync`),
    })
    expect(next).toMatch(
      /^The next run does not make its change(?: of members)? unless an operator approves it\.$/,
    )
    expect(todo).toMatch(/dirsyncd approve 7 --id sales or/)
  })

  test('the same people', async () => {
    const { verdict, next } = await toldOf(['ana', 'ben'], ['ana', 'ben'])
    expect(verdict.sentence).toMatch(/is in the directory; both are equal, with the same members\.$/)
    expect(next).toBe('The next run does nothing.')
  })

  test('whoever is no user of the directory does not count', async () => {
    const { verdict, next } = await toldOf(['ana', 'stranger'], ['ana'], { users: ['ana'] })
    expect(verdict.sentence).toMatch(
      /; the source lists 2 members, and the directory has 1; not all its members are the same\.$/,
    )
    expect(next).toMatch(/changes none of them/)
  })

  test('a sync that only reports members, and one that leaves them alone', async () => {
    const reported = await toldOf(['ana'], ['ben'], {
      rules: { membership: 'report' },
      users: ['ana', 'ben'],
      story: { membership: 'report' },
    })
    expect(reported.verdict).toEqual({
      code: 'membership-differs',
      sentence: expect.stringMatching(/"Sales": it lacks 1 member of the source and has 1/),
    })
    expect(reported.next).toMatch(/only reports that/)
    const off = await toldOf(['ana'], ['ben'], { rules: { membership: 'off' }, story: { membership: 'off' } })
    expect(off.verdict.sentence).toMatch(/the sync does not compare members/)
  })

  test('too many differ to ask for each, or the source was not read as a whole: only the numbers are known', async () => {
    const { verdict, next, todo } = await toldOf(twenty('a'), twenty('b'))
    expect(verdict.sentence).toMatch(
      /the source lists 20 members, as many as the directory has; only a run compares the members\.$/,
    )
    expect(next).toMatch(/^The next run compares the members/)
    expect(todo).toMatch(/^dirsyncd plan corp shows/)
  })
})

describe('what a run would plan', () => {
  test('who was approved to come back is created', () => {
    const given = {
      found: foundAs(RENAMED, { server: 'ldap://a' }),
      directory: [],
      deletedLastDay: { ...NOBODY, user: new Set(['ana']) },
    }
    expect(judged(given)).toMatchObject({ planned: null, reasons: [{ code: 'recently-deleted' }] })
    const ledger = approving('recently-deleted', ['user', 'ana', 'create'])
    expect(judged({ ...given, ledger })).toMatchObject({ planned: { op: 'create-user' }, reasons: [] })
  })

  test('an approved delete does not wait for its time', () => {
    const found = foundAs(undefined)
    const { difference, planned } = judged({ found, grace: LATER })
    expect([difference?.op, planned]).toEqual(['delete-user', null])
    const ledger = approving('grace', ['user', 'ana', 'leave'], ['user', 'ana', 'delete'])
    expect(judged({ found, grace: LATER, ledger }).planned).toEqual(difference)
  })

  test('a question that was approved since is no reason any more, and one about another value is none', () => {
    const given = { found: foundAs(RENAMED), rows: heldUpdate() }
    expect(told({ ...given, ledger: approving('max-updates-users', NAME) }).verdict.code).toBe('changed')
    const other = { ...given, found: foundAs({ ...RENAMED, name: 'Anne' }) }
    expect(told(other).verdict.code).toBe('changed')
  })

  test('a user whose e-mail another one of the source has in the directory is written without it', () => {
    const found = foundAs({ ...THERE }, {}, withBen())
    const { planned, notices } = judged({ found, directory: [{ ...THERE, email: null }, BEN] })
    expect([planned, notices.map(({ code }) => code)]).toEqual([null, ['duplicate-email']])
  })
})

describe('what an undo put back', () => {
  const gone = fingerprint({
    op: 'delete-user',
    id: 'ana',
    have: { email: null, name: null, groups: [] },
    why: 'gone',
  })
  const undo = { run: 7, undoes: 5 }
  const putBack = [
    attempt({ ...undo, op: 'create-user', fingerprint: 'x' }),
    attempt({ op: 'delete-user', fingerprint: gone }),
  ]
  const renamed = attempt({ ...undo, fingerprint: 'x' })

  test.each<[string, Given, Verdict['code']]>([
    ['would be done again', { found: foundAs(undefined), story: { journal: putBack } }, 'undone'],
    [
      'was done away with by a completed run, and the person left again',
      { found: foundAs(undefined), story: { journal: putBack, completedRun: 9 } },
      'changed',
    ],
    [
      'differs in another way than the run made it',
      { found: foundAs(RENAMED), story: { journal: [renamed, attempt({ fingerprint: 'other' })] } },
      'changed',
    ],
    [
      'is not what the next run changes',
      { found: foundAs(undefined), story: { journal: [renamed, ...putBack.slice(1)] } },
      'changed',
    ],
  ])('%s', (_what, given, code) => {
    expect(told(given).verdict.code).toBe(code)
  })
})

describe('the groups of a user that is equal in source and directory', () => {
  const groups: Story['groups'] = [
    { run: 9, group: 'Sales', comes: true, reasons: [] },
    {
      run: 9,
      group: 'Top floor',
      comes: false,
      reasons: [because({ code: 'policy', params: { policy: 'upsert' } }, { until: 'configuration' })],
    },
  ]

  test('were blocked by the last run', () => {
    expect(told({ story: { groups: groups.slice(0, 1) } })).toEqual({
      verdict: {
        code: 'changed',
        sentence:
          'Ana (user ana) is in the source, and is in the directory; run 9 blocked changes of its groups.',
      },
      next: 'The next run plans again, and changes the groups unless a check still blocks that.',
      todo: 'See dirsyncd runs 9; dirsyncd approve 9 --id ana makes these changes.',
    })
  })

  test('no approval takes a user out where the policy does not', () => {
    expect(told({ story: { groups: groups.slice(1) } })).toMatchObject({
      verdict: { code: 'policy' },
      todo: null,
    })
  })
})

test('an entry that neither side has may be one that cannot be read', () => {
  const unreadable = [{ from: 'users.csv, row 9', fault: 'there is no id' }]
  const { error, server, searched } = { error: null, server: null, searched: 'in users.csv' }
  const source = { error, server, searched, entries: [], sameEmail: [], unreadable }
  const deleted = attempt({ op: 'delete-user', why: 'disabled', approvedBy: '' })
  const { verdict, next, todo } = told({
    found: foundAs(undefined),
    story: {
      source,
      directory: { error: null, entry: null },
      difference: null,
      planned: null,
      journal: [deleted],
    },
  })
  expect(verdict).toEqual({
    code: 'absent',
    sentence:
      'Ana (user ana) is not in the source, and not in the directory; deleted 2026-01-02 03:04:05Z by run 5, approved: disabled in the source; but it may be in an entry that cannot be read (users.csv, row 9: there is no id).',
  })
  expect(next).toBe('The next run does nothing.')
  expect(todo).toBe('If it should be there, put it back into the source, and the next run creates it.')
})

test('an entry is not just unknown where a side could not be asked', () => {
  const nobody = { result: 'nobody', sync: 'corp', who: 'ana', unreadable: [] } as const
  const both = judgementOf({ ...nobody, searched: 'in users.csv', error: null, directoryError: null })
  expect(both).toEqual({
    verdict: {
      code: 'never-seen',
      sentence:
        '"ana" is unknown: not in the source (searched in users.csv), not in the directory under this id, not in the kept runs of corp.',
    },
    next: null,
    todo: 'Try the id, the e-mail, the full name or the DN.',
  })
  const one = judgementOf({ ...nobody, searched: null, error: 'It is down.', directoryError: 'No answer.' })
  expect(one).toMatchObject({
    verdict: {
      code: 'source-unreadable',
      sentence: expect.stringMatching(
        /: the source cannot be read now \(It is down\), the directory cannot be asked now \(No answer\), not in/,
      ),
    },
    todo: 'dirsyncd check corp shows what can be read again.',
  })
})

test('a change that the service refused', () => {
  const change = judged({ found: foundAs(RENAMED) }).planned!
  const digest = fingerprint(change)
  const answer = 'the service answered 422'
  const refusals = [{ code: 'quarantine', params: { answer }, op: change.op, id: 'ana', digest } as const]
  const { verdict, next, todo } = told({ found: foundAs(RENAMED), refusals })
  expect(verdict).toEqual({ code: 'quarantine', sentence: expect.stringMatching(/the service answered 422/) })
  expect(next).toMatch(/^The next run leaves it as it is: it is tried again when the entry changes/)
  expect(todo).toMatch(/dirsyncd quarantine release --sync corp --user ana/)
})
