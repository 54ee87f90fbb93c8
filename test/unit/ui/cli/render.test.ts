import { expect, test } from 'vitest'
import type { ChangeView, RunView } from '../../../../src/operations/control.ts'
import { BLOCKS, blockText } from '../../../../src/ui/messages/blocks.ts'
import { renderChange } from '../../../../src/ui/cli/render/change.ts'
import { createProgress, progressLine } from '../../../../src/ui/cli/render/progress.ts'
import { renderPlanCounts, renderReport, renderRunEnd } from '../../../../src/ui/cli/render/report.ts'
import { renderRuns } from '../../../../src/ui/cli/render/runs.ts'
import { renderTable } from '../../../../src/base/terminal/table.ts'
import { printable } from '../../../../src/base/printable.ts'
import { textWidth } from '../../../../src/base/terminal/text.ts'
import { timeTaken } from '../../../../src/base/wording.ts'
import type { Change } from '../../../../src/core/plan/change.ts'
import {
  CONTAINER_EMPTIED,
  MAX_DELETE_PERCENT,
  MAX_DELETES,
  MAX_MOVED_IDS,
  SERVER_NOT_NEWER,
} from '../../../support/blocks.ts'
import {
  blocked,
  blockOf,
  changeOf,
  countsOf,
  createUser,
  decisionOf,
  deleteUser,
  runOf,
} from './runs-for-tests.ts'

const PEOPLE = { people: true }

const CHANGES: readonly [Change, string][] = [
  [
    { op: 'create-user', id: 'e-1001', want: { name: 'Ana Šimić', email: 'ana@example.org' } },
    '+ create user   e-1001  Ana Šimić <ana@example.org>',
  ],
  [{ op: 'create-user', id: 'e-1', want: {} }, '+ create user   e-1  (no e-mail)'],
  [
    { op: 'update-user', id: 'e-2', have: { name: 'A', email: null }, want: { name: 'B', email: 'b@x.org' } },
    '~ update user   e-2  name: A → B, email: (none) → b@x.org',
  ],
  [
    { op: 'delete-user', id: 'e-3', have: { name: 'Old', email: 'o@x.org', groups: [] }, why: 'gone' },
    '- delete user   e-3  Old <o@x.org> (not in the source, or outside base and filter)',
  ],
  [
    {
      op: 'create-user',
      id: 'e-18',
      want: { name: 'Ana', email: 'a@x.org' },
      takes: { from: 'e-17', after: 1 },
      oldId: 'e-17',
    },
    '+ create user   e-18  Ana <a@x.org> (e-17 under a new id)',
  ],
  [
    {
      op: 'delete-user',
      id: 'e-17',
      have: { name: 'Ana', email: 'a@x.org', groups: [] },
      why: 'gone',
      newId: 'e\u001b18',
    },
    '- delete user   e-17  Ana <a@x.org> (not in the source, or outside base and filter) (created again as e\\u001b18)',
  ],
  [
    { op: 'create-user', id: 'e-4', want: { email: 'b@x.org' }, takes: { from: 'e-2', after: 1 } },
    '+ create user   e-4  <b@x.org> (the e-mail of e-2)',
  ],
  [
    {
      op: 'update-user',
      id: 'e-2',
      have: { name: 'A', email: 'a@x.org' },
      want: { email: 'b@x.org' },
      takes: { from: 'e-5', after: null },
    },
    '~ update user   e-2  email: a@x.org → b@x.org (the e-mail of e-5)',
  ],
  [
    { op: 'delete-user', id: 'e-3', have: { name: null, email: null, groups: [] }, why: 'left-filter' },
    "- delete user   e-3  (outside the sync's filter)",
  ],
  [{ op: 'create-group', id: 'g-1', want: { name: 'Sales' } }, '+ create group  g-1  Sales'],
  [
    { op: 'update-group', id: 'g-1', have: { name: 'Sales' }, want: { name: 'Revenue' } },
    '~ update group  g-1  name: Sales → Revenue',
  ],
  [
    { op: 'delete-group', id: 'g-1', have: { name: 'Sales', members: [] }, why: 'gone' },
    '- delete group  g-1  Sales (not in the source, or outside base and filter)',
  ],
  [
    { op: 'set-members', id: 'g-1', name: 'Sales', have: ['a', 'b'], want: ['b', 'c', 'd', 'e', 'f'] },
    '~ set members   g-1  Sales: 4 added (c d e and 1 more), 1 removed (a)',
  ],
]

test.each(CHANGES)('a change on one line: %j', (change, line) => {
  expect(renderChange(changeOf(change))).toBe(line)
})

test('a change that was not applied says why', () => {
  const refused = changeOf(createUser('e-1'), { state: 'quarantined', detail: '422 the name is empty' })
  expect(renderChange(refused)).toMatch(/ \[quarantined: 422 the name is empty\]$/)
})

test('names cannot rewrite the terminal', () => {
  expect(printable('a\u001B[2Jb\nc\u202Ed')).toBe('a\\u001b[2Jb\\u000ac\\u202ed')
  expect(printable('a\u200bb\ufeff')).toBe('a\\u200bb\\ufeff')
  expect(printable('x'.repeat(65_536))).toBe(`${'x'.repeat(2_500)}… (65536 characters)`)
  for (const name of ['محمد علي', '👩‍👩‍👧 Family', 'می‌خواهم']) expect(printable(name)).toBe(name)
})

test.each([
  ['abc', 3],
  ['Šimić', 5],
  ['Šimić'.normalize('NFD'), 5],
  ['山田', 4],
])('the width of %s', (text, width) => {
  expect(textWidth(text)).toBe(width)
})

test.each([
  [-5000, '?'],
  [420, '0.4 s'],
  [9960, '10 s'],
  [59_700, '1 min 0 s'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
])('%i ms', (milliseconds, text) => {
  expect(timeTaken(milliseconds)).toBe(text)
})

test('a table aligns what has accents and puts numbers to the right', () => {
  expect(
    renderTable(
      ['NAME', 'COUNT'],
      [
        ['Šimić', '9'],
        ['山田', '1,000'],
      ],
    ),
  ).toEqual(['NAME   COUNT', 'Šimić      9', '山田   1,000'])
})

test('the report of a run: counts first, then changes, notices and what was not applied', () => {
  const view = runOf({
    counts: countsOf({
      sourceUsers: 1002,
      sourceGroups: 40,
      directoryUsers: 999,
      directoryGroups: 1,
      unchanged: 990,
      planned: { 'create-user': 2 },
      outcomes: { applied: 1, quarantined: 1 },
      notices: { 'email-not-allowed': 1 },
    }),
    changes: [
      changeOf(createUser('e-1')),
      changeOf(createUser('e-2'), { state: 'quarantined', detail: '422 refused' }),
    ],
    totalChanges: 2,
    notices: [
      {
        kind: 'user',
        id: 'e-7',
        code: 'email-not-allowed',
        params: { from: 'row 7', email: 'e-7@gmail.example', why: 'other-domain' },
      },
    ],
    totalNotices: 1,
  })
  expect(renderReport(view, { all: false })).toEqual([
    'corp: run 12, done, begun 2026-11-21 07:29:03Z, took 3.5 s',
    '  source     1,002 users, 40 groups',
    '  directory  999 users, 1 group',
    '  unchanged  990',
    '  planned    2 creations of users',
    '  changes    1 applied, 1 quarantined',
    '',
    '+ create user   e-1  Name of e-1 <e-1@example.org>',
    '+ create user   e-2  Name of e-2 <e-2@example.org>  [quarantined]',
    '',
    'Not applied:',
    '  + create user   e-2  Name of e-2 <e-2@example.org>  [quarantined: 422 refused]',
    '',
    'Noticed:',
    '  email-not-allowed (1): skipped: the e-mail is no address, or outside the allowed domains',
    '    user e-7  the e-mail e-7@gmail.example is outside the allowed domains (row 7); nothing is written for this user',
    '    Correct the e-mail in the source, add its domain to directory.allowedDomains, or set directory.dropBadEmails: true.',
    '',
    'corp: 1 change made; 1 quarantined.',
    '',
  ])
})

test('notices that the run before had too are one line, unless all are asked for', () => {
  const view = runOf({
    counts: countsOf({ notices: { 'no-email': 2, disabled: 1 } }),
    notices: [
      { kind: 'user', id: 'u1', code: 'no-email', params: { from: 'row 2' } },
      { kind: 'user', id: 'u2', code: 'no-email', params: { from: 'row 3' } },
      { kind: 'user', id: 'u3', code: 'disabled', params: { from: 'row 4', isGone: false } },
    ],
    totalNotices: 3,
    sameNotices: { run: 11, codes: ['no-email'] },
  })
  const noticed = (all: boolean) => renderReport(view, { all }).slice(-8, -2)
  expect(noticed(false)).toEqual([
    'Noticed:',
    '  no-email (2): created without an e-mail; the same as in run 11, --all shows them',
    expect.stringMatching(/^ {2}disabled \(1\)/),
    '    user u3  row 4: is disabled and left in the directory as it is',
    '    Nothing has to be done. users.disabled decides whether disabled accounts are deleted or left.',
    '',
  ])
  expect(renderReport(view, { all: true }).join()).toContain(
    'user u1  the source has no usable e-mail (row 2)',
  )
})

test('a change of the configuration is named, also where there was nothing else to do', () => {
  const changed = runOf({ configurationChange: { since: 9, keys: ['users.filter', 'users.map.email'] } })
  const line = '  The configuration was changed since run 9: users.filter, users.map.email'
  expect(renderReport(changed, { all: false })[1]).toBe(line)
  expect(renderRunEnd(changed, PEOPLE)).toContain(line)
})

test('a long plan is cut, and says by how much', () => {
  const changes = Array.from({ length: 100 }, (_, index) => changeOf(createUser(`e-${index}`)))
  const view = runOf({ counts: countsOf({ planned: { 'create-user': 970 } }), changes, totalChanges: 970 })
  const lines = renderReport(view, { all: false })
  expect(lines.filter((line) => line.startsWith('+'))).toHaveLength(20)
  expect(lines).toContain('  … and 950 more, --all shows them')
})

function reportOf(view: RunView, all = false): string[] {
  return renderReport(view, { all })
}

/** The lines of a report from one of them on. */
function from(lines: readonly string[], first: string): readonly string[] {
  expect(lines).toContain(first)
  return lines.slice(lines.indexOf(first))
}

const EMPTIED = `container-emptied (2): ${blockText(CONTAINER_EMPTIED)}`

function askingRun(parts: Partial<RunView> = {}): RunView {
  const some = { 'delete-user': 2 }
  const changes = [
    changeOf(createUser('e-1')),
    ...['e-7', 'e-8'].map((id) => blocked(deleteUser(id), CONTAINER_EMPTIED)),
  ]
  return runOf({
    questions: 2,
    blocks: [blockOf(CONTAINER_EMPTIED, { changes: 2 })],
    reasons: [{ code: 'container-emptied', changes: some, open: some, isOpen: true }],
    open: some,
    counts: countsOf({
      planned: { 'create-user': 1 },
      outcomes: { applied: 1 },
      blocked: some,
      asking: some,
    }),
    changes,
    totalChanges: 3,
    ...parts,
  })
}

test('a run that asks names each change, its reason, what to do and its number; the rest was applied', () => {
  const lines = reportOf(askingRun())
  expect(lines[0]).toMatch(/^corp: run 12, needs approval, /)
  expect(lines).toContain('  blocked    2 deletions of users')
  expect(from(lines, 'Needs approval:')).toEqual([
    'Needs approval:',
    `  ${EMPTIED}`,
    '    - delete user   e-7  Name of e-7 <e-7@example.org>',
    '    - delete user   e-8  Name of e-8 <e-8@example.org>',
    `    ${BLOCKS['container-emptied'].remedy}`,
    '',
    'Decide with dirsyncd approve 12 or dirsyncd reject 12; --id ID or --only NAME for some changes.',
    '',
    '+ create user   e-1  Name of e-1 <e-1@example.org>',
    '',
    'corp: 1 change made; 2 deletions of users need approval (run 12).',
    '',
  ])
})

test('of a plan that guards stopped, all changes are named: those of the guards once, below all their reasons', () => {
  const some = { 'delete-user': 1 }
  const guards = [MAX_DELETES, MAX_DELETE_PERCENT]
  const view = runOf({
    state: 'held',
    questions: 1,
    blocks: guards.map((guard) => blockOf(guard, { stops: true })),
    reasons: guards.map(({ code }) => ({ code, changes: some, open: some, isOpen: true })),
    counts: countsOf({ blocked: { 'create-user': 1, 'delete-user': 1 }, asking: some }),
    changes: [blocked(createUser('e-1')), blocked(deleteUser('e-7'), ...guards)],
    totalChanges: 2,
  })
  expect(reportOf(view).slice(6)).toEqual([
    '',
    'Needs approval:',
    '  max-deletes-users (1): 9 of 100 users would be removed, limit 5',
    '  max-delete-percent-users (1): 9 % of the users (9 of 100) would be removed, limit 5 %',
    '    - delete user   e-7  Name of e-7 <e-7@example.org>',
    expect.stringMatching(/^ {4}If the changes are right, approve them with dirsyncd approve 12\./),
    '',
    'Decide with dirsyncd approve 12 or dirsyncd reject 12: --code CODE for one reason, --all for all of them, --id ID or --only NAME for some changes.',
    '',
    'Waits for the decision:',
    '    + create user   e-1  Name of e-1 <e-1@example.org>',
    '',
    'corp: no changes; 1 deletion of a user needs approval (run 12); 1 other change not made.',
    '',
  ])
})

test('a question about a fact is asked without changes', () => {
  const asks = ['fact', 'server', 'token'] as const
  const view = runOf({
    questions: 1,
    blocks: [blockOf(SERVER_NOT_NEWER, { until: 'read', asks, changes: 0 })],
    reasons: [{ code: 'server-not-newer', changes: {}, open: {}, isOpen: true }],
  })
  expect(from(reportOf(view), 'Needs approval:').slice(0, 2)).toEqual([
    'Needs approval:',
    `  server-not-newer: ${blockText(SERVER_NOT_NEWER)}`,
  ])
  expect(reportOf(view).at(-2)).toBe('corp: no changes; the state of the server needs approval (run 12).')
})

test('what an earlier run asked about has the reason of that run', () => {
  const facts = { codes: ['max-deletes-users'] }
  const view = askingRun({
    blocks: [blockOf({ code: 'asked', params: {} }, { changes: 1 })],
    // With one that an operator rejected since.
    reasons: [{ code: 'max-deletes-users', changes: { 'delete-user': 2 }, open: {}, isOpen: true }],
    changes: [blocked(deleteUser('e-7'), { code: 'asked', params: {}, facts })],
    totalChanges: 1,
  })
  expect(from(reportOf(view), 'Needs approval:').slice(1, 3)).toEqual([
    `  max-deletes-users (1): ${BLOCKS['max-deletes-users'].meaning}; an earlier run asked`,
    '    - delete user   e-7  Name of e-7 <e-7@example.org>',
  ])
})

test('changes that no operator has to decide are named with what ends it, and rejected ones with who did it', () => {
  const rejection = { run: 5, by: 'ana', at: '2026-11-20T08:00:00.000Z', reason: 'on leave' }
  const delay = { since: '2026-11-20T00:00:00.000Z', until: '2026-11-27T00:00:00.000Z' }
  const view = runOf({
    blocks: [
      blockOf({ code: 'rejected', params: {} }, { changes: 2 }),
      blockOf({ code: 'grace', params: {} }, { until: 'time' }),
      blockOf({ code: 'policy', params: { policy: 'upsert' } }, { until: 'configuration' }),
    ],
    counts: countsOf({
      blocked: { 'delete-user': 3, 'set-members': 1 },
      rejected: { 'delete-user': 2 },
      lastRejection: rejection,
    }),
    changes: [
      ...['e-1', 'e-2'].map((id) =>
        blocked(deleteUser(id), { code: 'rejected', params: {}, facts: rejection }),
      ),
      blocked(deleteUser('e-3'), { code: 'grace', params: {}, until: 'time', facts: delay }),
      blocked(
        { op: 'set-members', id: 'g-1', name: 'Sales', have: ['a', 'b'], want: ['b'] },
        { code: 'policy', params: { policy: 'upsert' }, until: 'configuration' },
      ),
    ],
    totalChanges: 4,
  })
  const lines = reportOf(view)
  expect(lines[0]).toMatch(/^corp: run 12, done, 2 rejected, /)
  expect(from(lines, 'Blocked:')).toEqual([
    'Blocked:',
    '  rejected (2): rejected by ana at 2026-11-20 08:00:00Z in run 5: on leave',
    '    - delete user   e-1  Name of e-1 <e-1@example.org>',
    '    - delete user   e-2  Name of e-2 <e-2@example.org>',
    '    If they are to be made after all, approve them: dirsyncd approve 12 --id ID, or all with --code rejected.',
    '  grace (1): absent, and deleted after the grace period (deleteAfter)',
    '    - delete user   e-3  Name of e-3 <e-3@example.org>: absent since 2026-11-20 00:00:00Z; deleted after 2026-11-27 00:00:00Z',
    `    ${BLOCKS.grace.remedy}`,
    '  policy (1): policy upsert deletes nothing and removes no members',
    '    ~ set members   g-1  Sales: 1 removed (a)',
    `    ${BLOCKS.policy.remedy}`,
    '',
    'corp: no changes; 2 deletions of users are rejected (run 12 lists them, the last by ana on 2026-11-20); 2 other changes blocked (grace, policy).',
    '',
  ])
})

function deletesBlockedBy(code: 'grace' | 'container-emptied', number: number): ChangeView[] {
  return Array.from({ length: number }, (_, index) =>
    blocked(
      deleteUser(`${code} ${index}`),
      code === 'grace' ? { code, params: {}, until: 'time' } : CONTAINER_EMPTIED,
    ),
  )
}

test('a long list of blocked changes is cut, and says by how much', () => {
  const view = askingRun({
    blocks: [
      blockOf({ code: 'grace', params: {} }, { until: 'time', changes: 700 }),
      blockOf(CONTAINER_EMPTIED, { changes: 900 }),
    ],
    counts: countsOf({ blocked: { 'delete-user': 1600 } }),
    changes: [...deletesBlockedBy('grace', 100), ...deletesBlockedBy('container-emptied', 100)],
    totalChanges: 1600,
  })
  const lines = reportOf(view)
  expect(lines).toContain('    … and 695 more, --all shows them')
  expect(lines).toContain('    … and 880 more, --all shows them')
  expect(reportOf({ ...view, totalChanges: 200 }, true).filter((line) => line.includes('…'))).toEqual([])
})

test('a decided question is not asked again, and the report says who decided it and why', () => {
  const decisions = [decisionOf({ reason: 'they left', started: 13 })]
  const reasons = [{ ...askingRun().reasons[0]!, open: {}, isOpen: false }]
  const lines = reportOf(askingRun({ questions: 0, decisions, reasons, open: {} }))
  expect(lines[0]).toMatch(/^corp: run 12, done, /)
  expect(lines).toContain('Asked about, no longer open:')
  expect(lines.join()).not.toContain('Decide with')
  expect(from(lines, 'Decided:')).toEqual([
    'Decided:',
    '  approved by ana at 2026-11-21 07:30:00Z: "they left"; dirsyncd runs 13 shows what came of it',
    '',
    'corp: 1 change made; what it asked about is decided (2 deletions of users).',
    '',
  ])
  expect(renderRuns([askingRun({ questions: 0, decisions })])[1]).toMatch(/ done .* approved by ana$/)
})

test('of what a run asked, only what is open needs approval; of its two reasons, a decided one is marked', () => {
  const [open] = askingRun().reasons
  const view = askingRun({
    decisions: [decisionOf({})],
    blocks: [blockOf(CONTAINER_EMPTIED, { changes: 2 }), blockOf(MAX_MOVED_IDS, { stops: true })],
    reasons: [open!, { code: 'max-moved-ids', changes: { 'update-user': 1 }, open: {}, isOpen: false }],
    changes: [
      { ...blocked(createUser('e-1'), MAX_MOVED_IDS), isOpen: false },
      { ...blocked(deleteUser('e-7'), CONTAINER_EMPTIED, MAX_MOVED_IDS), isOpen: true },
      { ...blocked(deleteUser('e-8'), CONTAINER_EMPTIED), isOpen: false },
    ],
    totalChanges: 3,
  })
  const lines = reportOf(view)
  expect(from(lines, 'Needs approval:').slice(1, 4)).toEqual([
    `  container-emptied (1): ${blockText(CONTAINER_EMPTIED)}`,
    `  max-moved-ids (1) (decided): ${blockText(MAX_MOVED_IDS)}`,
    '    - delete user   e-7  Name of e-7 <e-7@example.org>',
  ])
  expect(from(lines, 'Asked about, no longer open:').slice(1, 5)).toEqual([
    `  max-moved-ids (1): ${blockText(MAX_MOVED_IDS)}`,
    '    + create user   e-1  Name of e-1 <e-1@example.org>',
    `  container-emptied (1): ${blockText(CONTAINER_EMPTIED)}`,
    '    - delete user   e-8  Name of e-8 <e-8@example.org>',
  ])
  expect(lines).toContain(
    'Decide with dirsyncd approve 12 or dirsyncd reject 12; --id ID or --only NAME for some changes.',
  )
})

test('the counts of a plan that is not stored say what of it needs approval', () => {
  expect(renderPlanCounts(askingRun({ mode: 'plan', state: 'planned' })).slice(-2)).toEqual([
    'Needs approval:',
    `  container-emptied: ${blockText(CONTAINER_EMPTIED)}`,
  ])
})

test('a plan shows what would be asked, and that its number can be approved', () => {
  const lines = reportOf(askingRun({ mode: 'plan', state: 'planned', questions: 0 }))
  expect(lines[0]).toMatch(/^corp: plan 12, planned, /)
  expect(lines).toContain('Needs approval:')
  expect(lines).toContain(
    'Decide before a sync makes them with dirsyncd approve 12 or dirsyncd reject 12; --id ID or --only NAME for some changes.',
  )
  expect(lines.at(-2)).toBe(
    'corp: 1 creation of a user to make; 2 deletions of users need approval (run 12).',
  )
})

test('an undo that is only planned is decided before no sync', () => {
  const undo = { run: 11, part: {} }
  const lines = reportOf(askingRun({ mode: 'plan', state: 'planned', questions: 0, undo }))
  expect(lines).toContain(
    'Decide with dirsyncd approve 12 or dirsyncd reject 12; --id ID or --only NAME for some changes.',
  )
})

test('what a run did not come to is a number, and what went wrong is named', () => {
  const view = runOf({
    state: 'failed',
    counts: countsOf({ planned: { 'create-user': 6 }, outcomes: { failed: 1, dropped: 2, unknown: 3 } }),
    changes: [
      changeOf(createUser('e-1'), { state: 'failed', detail: '503' }),
      changeOf(createUser('e-2'), { state: 'dropped' }),
    ],
  })
  const lines = renderReport(view, { all: false })
  expect(lines.slice(lines.indexOf('Not applied:'), -2)).toEqual([
    'Not applied:',
    '  + create user   e-1  Name of e-1 <e-1@example.org>  [failed: 503]',
    '  2 changes dropped, because the run ended first; the next run makes a new plan',
    '',
    '3 changes were under way when the run ended: nobody knows what came of it, so the next run looks.',
    '',
  ])
})

function refusedWith(statuses: readonly number[]): string[] {
  const changes = statuses.map((status, index) =>
    changeOf(createUser(`e-${index}`), { state: 'quarantined', status, detail: 'refused' }),
  )
  return renderReport(runOf({ changes, counts: countsOf({ outcomes: { quarantined: changes.length } }) }), {
    all: false,
  })
}

test('five or more refusals of one status may be the fault of the service, and the report says what to do then', () => {
  const hint =
    '  The service answered all 5 with 422: if that was its own fault, dirsyncd quarantine release has the next run try them again.'
  expect(refusedWith([422, 422, 422, 422, 422])).toContain(hint)
  for (const statuses of [
    [422, 422, 422, 422],
    [422, 422, 422, 422, 400],
  ])
    expect(refusedWith(statuses).join()).not.toContain('quarantine release')
})

test('the list of runs has the number of open questions', () => {
  const rejection = { run: 5, by: 'ana', at: '2026-11-20T08:00:00.000Z', reason: 'on leave' }
  const left = countsOf({ rejected: { 'delete-user': 93 }, lastRejection: rejection })
  const runs = [
    askingRun({ run: 13, questions: 1500 }),
    runOf({ run: 12, counts: countsOf({ planned: { 'create-user': 1500 } }) }),
    runOf({ run: 11, counts: left }),
  ]
  expect(renderRuns(runs)).toEqual([
    'RUN  SYNC  MODE  TRIGGER  STATE              REQUESTED             TOOK   PLANNED   OPEN  NOTE',
    ' 13  corp  sync  demand   needs approval     2026-11-21 07:29:00Z  3.5 s        1  1,500  container-emptied',
    ' 12  corp  sync  demand   done               2026-11-21 07:29:00Z  3.5 s    1,500',
    ' 11  corp  sync  demand   done, 93 rejected  2026-11-21 07:29:00Z  3.5 s        0         93 rejected, the last by ana on 2026-11-20',
  ])
})

test('a run that left something undone says what, in the list of runs and in the line of the daemon', () => {
  const view = runOf({
    blocks: [blockOf({ code: 'quarantine', params: {} }, { until: 'service', changes: 2 })],
    counts: countsOf({
      blocked: { 'update-user': 2 },
      outcomes: { missing: 1 },
      notices: { 'shared-id': 1, 'no-email': 9 },
    }),
  })
  expect(renderRuns([view])[1]).toMatch(/ 0 +1 missing; 1 shared-id$/)
  expect(renderRunEnd(view, PEOPLE)[0]).toMatch(
    /: 0 unchanged; no changes; 1 missing; 1 shared-id; 2 changes blocked \(quarantine\)$/,
  )
})

test('the daemon prints the whole report of a run that asks, also where it changed nothing', () => {
  const view = askingRun({ counts: countsOf({ asking: { 'delete-user': 2 } }) })
  expect(renderRunEnd(view, PEOPLE)).toEqual(reportOf(view))
})

test('progress is drawn on a terminal only, once for each state, and wiped at the end', () => {
  const written: string[] = []
  const terminal = { write: (text: string) => written.push(text), isTTY: true, columns: 80 }
  {
    using progress = createProgress(terminal, true)
    progress.update(runOf({ state: 'reading' }))
    progress.update(runOf({ state: 'reading' }))
  }
  {
    using piped = createProgress({ ...terminal, isTTY: false }, true)
    piped.update(runOf({ state: 'planning' }))
  }
  expect(written).toEqual(['\r\u001B[2Kcorp  reading source and directory', '\r\u001B[2K'])
})

test('where its output is a log, a daemon names nobody', () => {
  const change = { ...changeOf(createUser('u1')), detail: 'Ana Horvat is refused' }
  const lastRejection = { run: 5, by: 'Ana Horvat', at: '2026-11-20T08:00:00.000Z', reason: 'Ana Horvat' }
  const counts = { asking: { 'update-user': 3 }, rejected: { 'delete-user': 1 }, lastRejection }
  const view = runOf({
    state: 'held',
    questions: 3,
    counts: countsOf({ planned: { 'create-user': 1 }, ...counts }),
    blocks: [blockOf(MAX_MOVED_IDS, { stops: true })],
    changes: [change, blocked(deleteUser('u2'), { code: 'rejected', params: {}, facts: lastRejection })],
    totalChanges: 2,
    notices: [{ kind: 'user', id: 'u1', code: 'no-email', params: { from: 'Ana Horvat' } }],
    totalNotices: 1,
    lost: ['the password of Ana Horvat'],
    error: 'Ana Horvat',
    waitsUntil: { ...OUT, answer: 'Ana Horvat is refused' },
  })
  const idle = runOf({ counts: countsOf(counts) })
  expect(renderRunEnd(view, { people: false })).toEqual([
    expect.stringMatching(/^corp: run 12, needs approval, /),
    expect.stringContaining('source'),
    expect.stringContaining('directory'),
    expect.stringContaining('unchanged'),
    '  planned    1 creation of a user',
    '  no changes made; 3 updates of users need approval (run 12); 1 deletion of a user is rejected (run 12 lists them)',
    '  dirsyncd runs 12 shows all of it',
  ])
  for (const run of [view, idle]) {
    expect(renderRunEnd(run, { people: false }).join()).not.toContain('Ana')
    expect(renderRunEnd(run, PEOPLE).join()).toContain('Ana')
  }
})

const LIMITED = { at: '2026-11-21T14:05:30.000Z', why: 'limited' } as const
const OUT = { at: '2026-11-21T14:05:30.000Z', why: 'outage' } as const
const WAITS = 'waits for the API until 14:05:30Z (the service asked for it with 429)'
const NO_ANSWER = 'the directory does not answer; next try at 14:05:30Z'

test.each([
  [LIMITED, WAITS],
  [OUT, NO_ANSWER],
  [
    { ...OUT, answer: 'it answered 503 Service Unavailable' },
    'the directory does not answer (it answered 503 Service Unavailable); next try at 14:05:30Z',
  ],
])('a run that waits for its directory says until when: %o', (waitsUntil, said) => {
  const counts = countsOf({ planned: { 'create-user': 4 }, outcomes: { applied: 1, pending: 3 } })
  const run = runOf({ state: 'applying', finishedAt: null, counts, waitsUntil })
  expect(renderRuns([run])[1]?.endsWith(said)).toBe(true)
  expect(renderReport(run, { all: false })[0]?.endsWith(`, ${said}`)).toBe(true)
  expect(progressLine(run)).toBe(`corp  ${said}  1/4`)
  expect(progressLine({ ...run, state: 'reading', counts: null })).toBe(`corp  ${said}`)
})
