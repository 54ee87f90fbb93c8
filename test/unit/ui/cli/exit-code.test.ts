import { expect, test } from 'vitest'
import { runExitCode, worstExitCode } from '../../../../src/ui/cli/exit-code.ts'
import type { RunCounts, RunState } from '../../../../src/operations/control.ts'
import { countsOf } from './runs-for-tests.ts'

const TABLE: readonly [name: string, state: RunState, counts: RunCounts | null, code: number][] = [
  ['a plan without changes', 'planned', countsOf({}), 0],
  ['a plan with one change', 'planned', countsOf({ planned: { 'set-members': 1 } }), 2],
  ['a held run', 'held', countsOf({ planned: { 'delete-user': 60 } }), 3],
  ['a run that had nothing to do', 'done', countsOf({}), 0],
  ['a run that applied everything', 'done', countsOf({ outcomes: { applied: 9, found: 1, already: 1 } }), 0],
  ['a run with skipped entries', 'done', countsOf({ notices: { 'email-not-allowed': 3, 'no-email': 1 } }), 0],
  ['a run with an entry that was refused', 'done', countsOf({ outcomes: { applied: 9, quarantined: 1 } }), 4],
  ['a run with a change that failed', 'done', countsOf({ outcomes: { applied: 9, failed: 1 } }), 4],
  ['a run that found an entry missing', 'done', countsOf({ outcomes: { applied: 9, missing: 1 } }), 4],
  ['a run that left quarantined entries alone', 'done', countsOf({ notices: { quarantined: 1 } }), 4],
  ['a run that left alone what has no effect', 'done', countsOf({ notices: { 'does-not-converge': 1 } }), 4],
  [
    'a run with a delete that unreadable entries put off',
    'done',
    countsOf({ notices: { 'kept-unproved': 1 } }),
    4,
  ],
  ['a plan of which all is in quarantine', 'planned', countsOf({ notices: { quarantined: 1 } }), 2],
  ['a plan of which nothing has any effect', 'planned', countsOf({ notices: { 'does-not-converge': 1 } }), 2],
  ['a run that left alone who shares an id', 'done', countsOf({ notices: { 'shared-id': 1 } }), 4],
  ['a run on a short list', 'done', countsOf({ notices: { 'directory-incomplete': 1 } }), 4],
  ['a plan that leaves alone who shares an id', 'planned', countsOf({ notices: { 'shared-id': 1 } }), 2],
  ['a run that failed', 'failed', null, 1],
  ['a run for an id that neither side has', 'done', countsOf({ notices: { 'unknown-id': 1 } }), 1],
  ['a plan for an id that neither side has', 'planned', countsOf({ notices: { 'unknown-id': 1 } }), 1],
  ['a run that is not at its end', 'applying', countsOf({}), 1],
]

test.each(TABLE)('%s', (_, state, counts, code) => {
  expect(runExitCode({ state, counts, breaches: [] })).toBe(code)
})

test.each([
  ['a run of which some changes wait for a person', 'done', ['better-read', 'person'], 3],
  ['a run of which some changes wait for a better read', 'done', ['better-read'], 4],
  ['a plan of which everything waits', 'planned', ['person'], 2],
] as const)('%s', (_, state, waits, code) => {
  const breaches = waits.map((waitsFor) => ({ waitsFor }))
  expect(runExitCode({ state, counts: countsOf({}), breaches })).toBe(code)
})

test.each([
  [[], 0],
  [[0, 2, 0], 2],
  [[2, 4], 4],
  [[4, 3], 3],
  [[3, 1, 4], 1],
  [[0, 78], 78],
])('of the exit codes %j the worst is %i', (codes, worst) => {
  expect(worstExitCode(codes)).toBe(worst)
})
