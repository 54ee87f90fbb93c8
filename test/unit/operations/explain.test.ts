import { describe, expect, test } from 'vitest'
import { judge, type PlanFacts } from '../../../src/operations/explain/judge.ts'
import { membersInQuestion } from '../../../src/operations/explain/members.ts'
import type { ExplainDeps } from '../../../src/operations/explain/sides.ts'
import { type Judgement, judgementOf, type Verdict } from '../../../src/ui/messages/explain/verdict.ts'
import type { JournalEntry, Story } from '../../../src/operations/story.ts'
import type { Notice, Rejection } from '../../../src/core/notice.ts'
import { fingerprint } from '../../../src/core/plan/change.ts'
import type { PlanRules } from '../../../src/core/plan/inputs.ts'
import { Collector } from '../../../src/source/collect.ts'
import type { Found, FoundEntry } from '../../../src/source/source.ts'

const KEY = { kind: 'user', id: 'ana' } as const
const THERE = { id: 'ana', email: 'ana@example.org', name: 'Ana' }
const RULES: PlanRules = { policy: 'mirror', membership: 'write', allowedDomains: [] }
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

interface Given extends Partial<Omit<PlanFacts, 'rules' | 'memory'>> {
  readonly rules?: Partial<PlanRules>
  readonly memory?: Partial<PlanFacts['memory']>
  readonly story?: Partial<Story>
}

function judged({ rules, memory, found = foundAs(THERE), directory = [THERE], ...more }: Given) {
  const absences = { user: new Map(), group: new Map() }
  const remembered = {
    withheld: new Map(),
    refused: new Set<string>(),
    approved: new Set<string>(),
    absences,
  }
  return judge({
    key: KEY,
    found,
    directory,
    rules: { ...RULES, ...rules },
    grace: { deleteAfter: {}, confirmAfterMs: 0, hidesServers: false },
    memory: { ...remembered, now: new Date(0), ...memory },
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
  const { difference, planned, notices, isAbsenceKnown } = judged(given)
  const { found = foundAs(THERE), directory = [THERE] } = given
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
    change: difference ?? null,
    planned,
    notices,
    lastRun: null,
    lastFailure: null,
    hold: null,
    heldRun: null,
    heldUndo: undefined,
    waitingMemberships: [],
    journal: [],
    isAbsenceKnown,
    membership: 'write',
    sameMembers: null,
    sharesEmails: false,
    configurationChange: undefined,
    completedRun: null,
    ...given.story,
  })
}

const KEPT_EMAIL: Notice = {
  ...KEY,
  code: 'duplicate-email',
  params: { email: 'own@example.org', owner: 'own', how: 'held', from: 'x', undo: null },
}
const RENAMED = { email: 'ana@example.org', name: 'Anna' }

/** The hold of run 3 is over, so no approval releases the change any more. */
function rejectedUpdate(): Given {
  const found = foundAs(RENAMED)
  const change = judged({ found }).planned!
  const params = { by: 'eva', at: PAUSED.since, run: 3, release: null }
  return { found, memory: { withheld: new Map([[fingerprint(change), { code: 'rejected', params }]]) } }
}

function withUnreadable(): Collector {
  const collector = new Collector()
  collector.addUnreadable('user', { from: 'users.csv, row 9', fault: 'there is no id' })
  return collector
}

const BEN = { id: 'ben', email: 'ana@example.org', name: 'Ben' }

/** He has the e-mail in the source, too. */
function withBen(): Collector {
  const collector = new Collector()
  const row = { ids: ['ben'], idName: 'id', from: 'row 3', name: 'Ben', employeeId: undefined }
  collector.addUser({ ...row, email: 'ANA@example.org' })
  return collector
}

const lastRunSaid = (notice: Notice): Partial<Story> => ({
  lastRun: { run: 4, state: 'done', at: '2026-01-01T00:00:00.000Z', notices: [notice] },
})

/** The update of Ana was not made, because the server may lack something. */
const UNPROVED: Notice = {
  ...KEY,
  code: 'unproved',
  params: {
    op: 'update-user',
    name: 'Ana',
    email: 'ana@example.org',
    field: null,
    added: 0,
    removed: 0,
    wait: { code: 'server-not-newer', params: {} },
  },
}

const HOLD: Story['hold'] = {
  run: 7,
  isPlanHeld: true,
  breaches: [{ code: 'max-updates-users', params: { kind: 'users', updates: 2, limit: 1 } }],
}

test.each<[string, Given, { code: string; sentence: RegExp; next: RegExp; todo?: RegExp }]>([
  [
    'nobody deletes by the policy upsert',
    { found: foundAs(undefined), rules: { policy: 'upsert' } },
    {
      code: 'kept-by-policy',
      sentence:
        /^Ana \(user ana\) is not in the source, and is in the directory; policy upsert does not delete it\.$/,
      next: /^The next run leaves it as it is\.$/,
      todo: /policy/,
    },
  ],
  [
    'the source has entries that cannot be read',
    { found: foundAs(undefined, {}, withUnreadable()) },
    {
      code: 'kept-unproved',
      sentence: /1 entry of the source could not be understood, so nothing is deleted\.$/,
      next: /leaves it/,
      todo: /^Correct the entries with the code unreadable/,
    },
  ],
  [
    'a value of the directory is kept',
    { found: foundAs({ email: 'ana@example.org' }) },
    { code: 'value-kept', sentence: /no usable name/, next: /but its groups/ },
  ],
  [
    'a rejected change of a hold that is over',
    rejectedUpdate(),
    {
      code: 'rejected',
      sentence: /its update was rejected by eva at 2026-01-02 03:04:05Z in run 3\.$/,
      next: /leaves it/,
      todo: /planned again/,
    },
  ],
  [
    'somebody whom this sync has just deleted is back, on a server that may lag',
    {
      found: foundAs(RENAMED, { server: 'ldap://a' }),
      directory: [],
      deletedLastDay: { ...NOBODY, user: new Set(['ana']) },
    },
    {
      code: 'reborn',
      sentence:
        /^Ana \(user ana\) is in the source, and not in the directory; is back after this sync deleted it in the last 24 hours/,
      next: /only if a day has passed since its delete, or after an approval/,
      todo: /dirsyncd sync corp lists the blocked changes/,
    },
  ],
  [
    'the last run did not trust its server',
    {
      found: foundAs(RENAMED),
      story: lastRunSaid(UNPROVED),
    },
    {
      code: 'unproved',
      sentence: /the name is "Ana" there and "Anna" in the source; run 4: not updated: the server may lack/,
      next: /only if its read confirms it, or after an approval/,
      todo: /dirsyncd runs 4/,
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
    'a guard holds the change itself',
    {
      found: foundAs(RENAMED),
      story: {
        hold: HOLD,
      },
    },
    {
      code: 'held',
      sentence: /^Ana \(user ana\) .*; run 7 needs a decision before its update: max-updates-users \(/,
      next: /^The next run does not make its update, unless an operator approves it or the plan is within the guards again\.$/,
      todo: /dirsyncd approve 7/,
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
        /^Ana \(user ana\) is disabled in the source by \(locked=\*\) and so is left as it is, and is in the directory; policy upsert does not delete it\.$/,
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
      code: 'in-grace',
      sentence:
        'Ana (user ana) is not in the source, and is in the directory; no run has found it absent yet, so its grace period begins with the next run.',
    })
    expect(next).toMatch(
      /^The next run leaves it as it is, but takes it out of the groups of the sync, unless/,
    )
  })

  test('since a run has seen it', () => {
    const absences = { user: new Map([['ana', { since: new Date(0), reads: 1 }]]), group: new Map() }
    const { verdict, next } = told({ ...absent, memory: { absences }, story: { membership: 'report' } })
    expect(verdict.sentence).toMatch(/is in the directory; absent since 1970-01-01 00:00:00Z; deleted after/)
    expect(next).toBe('The next run leaves it as it is.')
  })
})

test('an undo that waits may delete somebody who is as the source has him, also while the sync is paused', () => {
  const heldUndo = { run: 7, undoes: 5, op: 'delete-user' } as const
  const undo = 'Run 7, the undo of run 5, needs a decision, and deletes it after an approval.'
  expect(told({ story: { heldUndo, paused: PAUSED } }).next).toBe(
    `${undo} Nothing else is written while corp is paused; after dirsyncd resume corp, the next run changes nothing of it but its groups, where they differ.`,
  )
  const inNoGroup = { heldUndo, membership: 'off' } as const
  expect(told({ story: inNoGroup }).next).toBe(`${undo} The next run does nothing.`)
})

describe('a paused sync writes nothing, whatever the verdict is', () => {
  test.each<[code: string, given: Given]>([
    ['held', { found: foundAs(RENAMED), story: { hold: HOLD, heldRun: 7 } }],
    ['changed', { found: foundAs(RENAMED), story: { heldRun: 7 } }],
    ['in-grace', { found: foundAs(undefined), grace: LATER }],
    ['kept-by-policy', { found: foundAs(undefined), rules: { policy: 'upsert' } }],
    ['unchanged', {}],
  ])('%s', (code, given) => {
    const { verdict, next } = told({ ...given, story: { ...given.story, paused: PAUSED } })
    expect(verdict.code).toBe(code)
    expect(next).toMatch(
      /^Nothing is written while corp is paused; after dirsyncd resume corp, (?:the next run|run 7) /,
    )
  })
})

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
    const row = { ids: ['sales'], idName: 'id', from: 'row 1' }
    collector.addGroup({ ...row, name: 'Sales', members: [...members], unknownMembers: [] })
    const snapshot = collector.snapshot()
    const entries = [{ ...entry, ...row, kind: 'group' as const, members: members.length }]
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

  test('a person rejected what it would lose, and so many only a run compares', async () => {
    const there = Array.from({ length: 26 }, (_, index) => `u${index}`)
    const who = 'rejected by ana at 2026-01-02 03:04:05Z in run 7'
    const release = 'dirsyncd approve 7 releases all that was rejected there'
    const rejection: Rejection = { by: 'ana', at: PAUSED.since, run: 7, release: 'whole' }
    const notMade = {
      op: 'set-members',
      name: 'Sales',
      email: null,
      field: null,
      added: 0,
      removed: 26,
    } as const
    const params = { ...notMade, rejections: [rejection] }
    const notices = [{ ...sales, code: 'rejected' as const, params }]
    const lastRun = { run: 8, state: 'done' as const, at: PAUSED.since, notices }
    const { verdict, next, todo } = await toldOf([], there, { story: { lastRun } })
    expect(verdict).toEqual({
      code: 'rejected',
      sentence: `Sales (group sales) is in the source, and is in the directory; the source lists 0 members, and the directory has 26; its change of members was ${who}.`,
    })
    expect(next).toBe('The next run leaves it as it is.')
    expect(todo).toBe(`${release}.`)
  })

  test.each([
    ['all of them are known', { story: {} }, 'in the directory with other members: ana, ben to remove'],
    [
      'only their numbers are known',
      { members: undefined, story: { sameMembers: null } },
      'is in the directory; the source lists 0 members, and the directory has 2',
    ],
  ])('the last run took nobody out for want of proof: %s', async (_what, given, where) => {
    const reason = { code: 'not-found', params: { group: 'cn=sales' } } as const
    const params = { group: 'Sales', isPart: false, reason }
    const notices = [{ ...sales, code: 'members-kept' as const, params }]
    const { verdict, next, todo } = await toldOf([], ['ana', 'ben'], {
      users: ['ana', 'ben'],
      ...given,
      story: { ...given.story, lastRun: { run: 4, state: 'done', at: '', notices } },
    })
    expect(verdict).toEqual({
      code: 'members-kept',
      sentence: `Sales (group sales) is in the source, and ${where}; run 4: the recheck finds no group of the sync with the id of "cn=sales"; "Sales" keeps its members.`,
    })
    expect(next).toMatch(/only if its read confirms it, or after an approval/)
    expect(todo).toMatch(/^dirsyncd runs 4 lists the blocked changes/)
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
    const { difference } = judged(given)
    const memory = { approved: new Set([fingerprint(difference!)]) }
    expect(judged(given).planned).toBeUndefined()
    expect(judged({ ...given, memory }).planned).toMatchObject({ op: 'create-user' })
  })

  test('an approved delete does not wait for its time', () => {
    const found = foundAs(undefined)
    const grace = { deleteAfter: { user: { ms: 1000 } }, confirmAfterMs: 0, hidesServers: false }
    const { difference, planned } = judged({ found, grace })
    expect([difference?.op, planned]).toEqual(['delete-user', undefined])
    const memory = { approved: new Set([fingerprint(difference!)]) }
    expect(judged({ found, grace, memory }).planned).toEqual(difference)
  })

  test('a user whose e-mail another one of the source has in the directory is written without it', () => {
    const found = foundAs({ ...THERE }, {}, withBen())
    const { planned, notices } = judged({ found, directory: [{ ...THERE, email: null }, BEN] })
    expect([planned, notices.map(({ code }) => code)]).toEqual([undefined, ['duplicate-email']])
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

const waiting = (isRejected: boolean) => [
  { run: 9, group: 'sales', comes: true, isRejected },
  { run: 9, group: 'top floor', comes: false, isRejected },
]

describe('the groups of a user that is equal on both sides', () => {
  test('wait for a decision', () => {
    expect(told({ story: { waitingMemberships: waiting(false) } })).toEqual({
      verdict: {
        code: 'held',
        sentence:
          'Ana (user ana) is in the source, and is in the directory; run 9 needs a decision, also about its groups.',
      },
      next: 'The next run plans again, and changes the groups unless a check still blocks that.',
      todo: 'See dirsyncd runs 9, then dirsyncd approve 9 --id ana or dirsyncd reject 9.',
    })
  })

  test('were rejected', () => {
    expect(told({ story: { waitingMemberships: waiting(true) } })).toMatchObject({
      verdict: { code: 'rejected' },
      next: 'The next run leaves these groups as they are.',
      todo: "dirsyncd approve 9 --id sales --id 'top floor' makes that change after all.",
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
      change: null,
      planned: undefined,
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

describe('what stops a change', () => {
  const notMade = { op: 'update-user', name: 'Ana', email: null, field: null, added: 0, removed: 0 } as const

  test('a refusal of the service', () => {
    const answer = 'the service answered 422'
    const change = judged({ found: foundAs(RENAMED) }).planned!
    const quarantined = { code: 'quarantined', params: { answer } } as const
    const { verdict, next, todo } = told({
      found: foundAs(RENAMED),
      memory: { withheld: new Map([[fingerprint(change), quarantined]]) },
    })
    expect(verdict).toEqual({
      code: 'quarantined',
      sentence: expect.stringMatching(/; its update is in quarantine: the service answered 422\.$/),
    })
    expect(next).toMatch(/^The next run leaves it as it is: it is tried again when the entry changes/)
    expect(todo).toMatch(/dirsyncd quarantine release --sync corp --user ana/)
  })

  test('a doubt of the last run about another change does not', () => {
    const wait = { code: 'server-not-newer', params: {} } as const
    const unproved: Notice = { ...KEY, code: 'unproved', params: { ...notMade, op: 'create-user', wait } }
    expect(told({ found: foundAs(RENAMED), story: lastRunSaid(unproved) }).verdict.code).toBe('changed')
  })
})
