import {
  CONTAINER_EMPTIED,
  MAX_DELETE_PERCENT,
  MAX_DELETES,
  MAX_MOVED_IDS,
  REBORN,
  SERVER_NOT_NEWER,
} from '../../../support/blocks.ts'
import { blockText } from '../../../../src/ui/messages/blocks.ts'
import { expect, test } from 'vitest'
import type { BreachView } from '../../../../src/operations/control.ts'
import { leftBehind } from '../../../../src/ui/cli/exit-code.ts'
import { renderChange } from '../../../../src/ui/cli/render/change.ts'
import { createProgress, progressLine } from '../../../../src/ui/cli/render/progress.ts'
import { renderReport, renderRunEnd } from '../../../../src/ui/cli/render/report.ts'
import { renderRuns } from '../../../../src/ui/cli/render/runs.ts'
import { renderTable } from '../../../../src/base/terminal/table.ts'
import { printable } from '../../../../src/base/printable.ts'
import { textWidth } from '../../../../src/base/terminal/text.ts'
import { timeTaken } from '../../../../src/base/wording.ts'
import type { Change } from '../../../../src/core/plan/change.ts'
import { changeOf, countsOf, createUser, runOf } from './runs-for-tests.ts'

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
    '- delete user   e-17  Ana <a@x.org> (not in the source, or outside base and filter; created again as e\\u001b18)',
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
    '  planned    2 users to create',
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
  ])
})

const GRACE = {
  op: 'delete-user',
  name: 'Ana',
  email: null,
  field: null,
  added: 0,
  removed: 0,
  since: '2026-11-20T00:00:00.000Z',
  until: '2026-11-27T00:00:00.000Z',
} as const

test('notices that the run before had too are one line, unless all are asked for', () => {
  const view = runOf({
    counts: countsOf({ notices: { 'no-email': 2, 'in-grace': 1, disabled: 1 } }),
    notices: [
      { kind: 'user', id: 'u1', code: 'no-email', params: { from: 'row 2' } },
      { kind: 'user', id: 'u2', code: 'no-email', params: { from: 'row 3' } },
      { kind: 'user', id: 'u4', code: 'in-grace', params: GRACE },
      { kind: 'user', id: 'u3', code: 'disabled', params: { from: 'row 4', isGone: false } },
    ],
    totalNotices: 4,
    sameNotices: { run: 11, codes: ['no-email', 'in-grace'] },
  })
  const noticed = (all: boolean) => renderReport(view, { all }).slice(-9)
  expect(noticed(false)).toEqual([
    'Noticed:',
    '  no-email (2): created without an e-mail; the same as in run 11, --all shows them',
    expect.stringMatching(/^ {2}in-grace \(1\)/),
    '    user u4  Ana: absent since 2026-11-20 00:00:00Z; deleted after 2026-11-27 00:00:00Z',
    '    Nothing has to be done. guards.users.deleteAfter and guards.groups.deleteAfter set the time.',
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

const DELETES = `  max-deletes-users: ${blockText(MAX_DELETES)}`
const EMPTIED = `  container-emptied: ${blockText(CONTAINER_EMPTIED)}`

test('a held run names every guard and what to do', () => {
  const view = runOf({
    state: 'held',
    hold: 'open',
    breaches: [MAX_DELETES, MAX_DELETE_PERCENT],
  })
  expect(renderReport(view, { all: false }).slice(-6)).toEqual([
    '',
    'Held by:',
    '  max-deletes-users: 9 of 100 users would be removed, limit 5',
    '  max-delete-percent-users: 9 % of the users (9 of 100) would be removed, limit 5 %',
    'Nothing was changed. Apply the plan with dirsyncd approve 12, or reject it with dirsyncd reject 12.',
    '',
  ])
})

test('a run that waits for the hold of an earlier one sends people there', () => {
  const view = runOf({
    run: 14,
    state: 'held',
    holdRun: 12,
    breaches: [MAX_DELETES],
  })
  expect(renderReport(view, { all: false }).at(-2)).toBe(
    'Nothing was changed. What is held is the same as in run 12. ' +
      'Apply the plan with dirsyncd approve 12, or reject it with dirsyncd reject 12.',
  )
  expect(renderRuns([view])[1]).toMatch(/ waits with run 12$/)
})

test('a run of which some changes wait says which, and that the rest was applied', () => {
  const view = runOf({
    state: 'done',
    counts: countsOf({ planned: { 'create-user': 1 } }),
    hold: 'open',
    undecidedChanges: 25,
    breaches: [
      { ...CONTAINER_EMPTIED, changes: 25 },
      { ...SERVER_NOT_NEWER, changes: 0, waitsFor: 'better-read' },
    ],
  })
  expect(renderReport(view, { all: false }).slice(-6)).toEqual([
    '',
    'Not proved, so it waits; the rest was applied:',
    EMPTIED,
    `  server-not-newer: ${blockText(SERVER_NOT_NEWER)}`,
    'Apply the 25 changes that wait with dirsyncd approve 12, or reject with dirsyncd reject 12.',
    '',
  ])
  expect(renderRuns([view])[1]).toMatch(/ done .* waits for approval: container-emptied, server-not-newer$/)
  expect(renderRunEnd(view, PEOPLE).length).toBeGreaterThan(1)
})

test('findings of opposite danger can be decided on one by one, and a change that both name counts once', () => {
  const view = runOf({
    state: 'done',
    hold: 'open',
    breaches: [CONTAINER_EMPTIED, REBORN],
    undecidedChanges: 38,
  })
  expect(renderReport(view, { all: false }).slice(-4)).toEqual([
    `  reborn: ${blockText(REBORN)}`,
    'Apply the 38 changes that wait with dirsyncd approve 12, or reject with dirsyncd reject 12.',
    'Decide on one of them alone with --only NAME, such as --only reborn.',
    '',
  ])
  const partly = runOf({
    state: 'done',
    hold: 'open',
    breaches: [CONTAINER_EMPTIED, { ...REBORN, decided: 'approved' }],
    undecidedChanges: 20,
  })
  expect(renderReport(partly, { all: false }).slice(-4)).toEqual([
    EMPTIED,
    `  reborn: ${blockText(REBORN)} (approved)`,
    'Apply the 20 changes that wait with dirsyncd approve 12, or reject with dirsyncd reject 12.',
    '',
  ])
  expect(renderRuns([partly])[1]).toMatch(/ waits for approval: container-emptied$/)
})

test('what is not proved is no part of the plan that a guard holds', () => {
  const breaches = [
    { ...MAX_DELETES, changes: 60 },
    { ...CONTAINER_EMPTIED, changes: 25 },
  ]
  const held = runOf({ state: 'held', hold: 'open', breaches })
  expect(renderReport(held, { all: false }).slice(-7)).toEqual([
    'Held by:',
    DELETES,
    'Nothing was changed. Apply the plan with dirsyncd approve 12, or reject it with dirsyncd reject 12.',
    '',
    'Not proved, so it is no part of this plan:',
    EMPTIED,
    '',
  ])
  expect(renderRuns([held])[1]).toMatch(/ waits for approval: max-deletes-users$/)
  const approved = runOf({ state: 'done', hold: 'open', breaches, undecidedChanges: 25 })
  expect(renderReport(approved, { all: false }).slice(-7)).toEqual([
    'Approved by a person, in spite of:',
    DELETES,
    '',
    'Not proved, so it waits:',
    EMPTIED,
    'Apply the 25 changes that wait with dirsyncd approve 12, or reject with dirsyncd reject 12.',
    '',
  ])
  expect(renderRuns([approved])[1]).toMatch(/ waits for approval: container-emptied$/)
})

function planBeyond(...breaches: BreachView[]): string[] {
  return renderReport(runOf({ mode: 'plan', state: 'planned', breaches }), { all: false })
}

test('a plan says which guards a person approved already', () => {
  const approved = { ...MAX_DELETES, decided: 'approved' } as const
  expect(planBeyond(approved).slice(-3)).toEqual(['Approved by a person, in spite of:', DELETES, ''])
  expect(planBeyond(approved, MAX_MOVED_IDS).slice(-4)).toEqual([
    'A sync would be held by:',
    `${DELETES} (approved)`,
    `  max-moved-ids: ${blockText(MAX_MOVED_IDS)}`,
    '',
  ])
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
  expect(lines.slice(lines.indexOf('Not applied:'))).toEqual([
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

test('the list of runs', () => {
  const runs = [
    runOf({
      run: 13,
      state: 'held',
      hold: 'open',
      breaches: [
        {
          code: 'first-contact',
          params: { deletes: { users: 1, groups: 0, memberships: 0 }, later: 0 },
          changes: 1,
        },
      ],
    }),
    runOf({ run: 12, counts: countsOf({ planned: { 'create-user': 1500 } }) }),
  ]
  expect(renderRuns(runs)).toEqual([
    'RUN  SYNC  MODE  ASKED BY  STATE  ASKED AT              TOOK   PLANNED  NOTE',
    ' 13  corp  sync  demand    held   2026-11-21 07:29:00Z  3.5 s        0  waits for approval: first-contact',
    ' 12  corp  sync  demand    done   2026-11-21 07:29:00Z  3.5 s    1,500',
  ])
})

test('a run that left something undone says what, in the list of runs and in the line of the daemon', () => {
  const view = runOf({
    counts: countsOf({
      outcomes: { missing: 1 },
      notices: { quarantined: 2, 'shared-id': 1, 'no-email': 9 },
    }),
  })
  expect(renderRuns([view])[1]).toMatch(/ 0 {2}1 missing, 2 quarantined, 1 shared-id$/)
  expect(renderRunEnd(view, PEOPLE)[0]).toMatch(
    /: no changes, 0 unchanged, 1 missing, 2 quarantined, 1 shared-id$/,
  )
  const counts = countsOf({ notices: { protected: 1 } })
  expect(leftBehind({ counts, undo: { run: 12, part: {} } })).toEqual(['1 protected'])
  expect(leftBehind({ counts })).toEqual([])
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
  const view = runOf({
    state: 'held',
    counts: countsOf({ planned: { 'create-user': 1 } }),
    breaches: [MAX_MOVED_IDS],
    changes: [change],
    totalChanges: 1,
    notices: [{ kind: 'user', id: 'u1', code: 'no-email', params: { from: 'Ana Horvat' } }],
    totalNotices: 1,
    lost: ['the password of Ana Horvat'],
    error: 'Ana Horvat',
    waitsUntil: { ...OUT, answer: 'Ana Horvat is refused' },
  })
  expect(renderRunEnd(view, { people: false })).toEqual([
    expect.stringMatching(/^corp: run 12, held, /),
    expect.stringContaining('source'),
    expect.stringContaining('directory'),
    expect.stringContaining('unchanged'),
    '  planned    1 user to create',
    '  waits for a person: max-moved-ids (3)',
    '  dirsyncd runs 12 shows all of it',
  ])
  expect(renderRunEnd(view, { people: false }).join()).not.toContain('Ana')
  expect(renderRunEnd(view, PEOPLE).join()).toContain('Ana')
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
