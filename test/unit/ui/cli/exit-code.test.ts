import { expect, test } from 'vitest'
import { runExitCode, worstExitCode } from '../../../../src/ui/cli/exit-code.ts'
import type { BlockCode, BlockReason } from '../../../../src/core/block.ts'
import type { RunView, StoredBlock } from '../../../../src/operations/control.ts'
import { SERVER_NOT_NEWER } from '../../../support/blocks.ts'
import { blockOf, countsOf, runOf } from './runs-for-tests.ts'

const PLAN = { mode: 'plan', state: 'planned' } as const
const WAITS = (code: BlockCode, until: StoredBlock['until']) =>
  ({
    blocks: [blockOf({ code, params: {} } as BlockReason, { until })],
    counts: countsOf({ blocked: { 'delete-user': 1 } }),
  }) as const
const OTHERS = (code: BlockCode, until: StoredBlock['until']) =>
  ({ blocks: [blockOf({ code, params: {} } as BlockReason, { until, changes: 0 })] }) as const
const SERVER = blockOf(SERVER_NOT_NEWER, { until: 'read', asks: ['fact', 'server', 'token'], changes: 0 })

const TABLE: readonly [name: string, run: Partial<RunView>, code: number][] = [
  ['a plan without changes', PLAN, 0],
  ['a plan with one change', { ...PLAN, counts: countsOf({ planned: { 'set-members': 1 } }) }, 2],
  ['a plan of which all is in grace', { ...PLAN, ...WAITS('grace', 'time') }, 2],
  ['a plan of which the policy blocks all', { ...PLAN, ...WAITS('policy', 'configuration') }, 2],
  ['a plan of which all is rejected', { ...PLAN, ...WAITS('rejected', 'decision') }, 2],
  ['a plan of which all is in quarantine', { ...PLAN, ...WAITS('quarantine', 'service') }, 2],
  ['a plan that would ask', { ...PLAN, ...WAITS('container-emptied', 'decision'), questions: 1 }, 2],
  ['a plan that would ask about a fact', { ...PLAN, blocks: [SERVER] }, 2],
  ['a plan that leaves a shared id alone', { ...PLAN, counts: countsOf({ notices: { 'shared-id': 1 } }) }, 2],
  ['a held run', { state: 'held', questions: 60 }, 3],
  ['a held run of which all is decided', { state: 'held' }, 4],
  ['a run that asks about some changes', { ...WAITS('container-emptied', 'decision'), questions: 1 }, 3],
  ['a run that asks about a fact', { blocks: [SERVER], questions: 1 }, 3],
  ['a run that repeats the question of an earlier one', { ...WAITS('asked', 'decision'), questions: 1 }, 3],
  ['a run that had nothing to do', {}, 0],
  [
    'a run that applied everything',
    { counts: countsOf({ outcomes: { applied: 9, found: 1, already: 1 } }) },
    0,
  ],
  [
    'a run with skipped entries',
    { counts: countsOf({ notices: { 'email-not-allowed': 3, 'no-email': 1 } }) },
    0,
  ],
  ['a run with a delete in grace', WAITS('grace', 'time'), 0],
  ['a run with a delete that a second read has to confirm', WAITS('absence-unconfirmed', 'time'), 0],
  ['a run with changes that the policy does not make', WAITS('policy', 'configuration'), 0],
  ['a run with a protected entry', WAITS('protected', 'configuration'), 0],
  ['a run with a rejected change', WAITS('rejected', 'decision'), 0],
  ['a run whose questions are all decided', WAITS('container-emptied', 'decision'), 0],
  ['a run with an entry that was seen again', WAITS('seen-again', 'read'), 4],
  ['a run with a delete that unreadable entries put off', WAITS('unreadable', 'read'), 4],
  ['a run with removals that the recheck did not confirm', WAITS('removals-not-confirmed', 'time'), 4],
  ['a run with entries that are back', WAITS('recently-deleted', 'time'), 4],
  ['a run of some entries, beside what is put off of others', OTHERS('seen-again', 'read'), 0],
  ['a run of some entries, beside what others have in quarantine', OTHERS('quarantine', 'service'), 0],
  ['a run that left quarantined entries alone', WAITS('quarantine', 'service'), 4],
  ['a run that left alone what has no effect', WAITS('not-persisted', 'service'), 4],
  [
    'a run with an entry that was refused',
    { counts: countsOf({ outcomes: { applied: 9, quarantined: 1 } }) },
    4,
  ],
  ['a run with a change that failed', { counts: countsOf({ outcomes: { applied: 9, failed: 1 } }) }, 4],
  ['a run that found an entry missing', { counts: countsOf({ outcomes: { applied: 9, missing: 1 } }) }, 4],
  ['a run that left a shared id alone', { counts: countsOf({ notices: { 'shared-id': 1 } }) }, 4],
  ['a run on a short list', { counts: countsOf({ notices: { 'directory-incomplete': 1 } }) }, 4],
  ['a run that failed', { state: 'failed', counts: null }, 1],
  ['a run that asks and failed', { state: 'failed', questions: 1 }, 1],
  ['a run for an id that neither side has', { counts: countsOf({ notices: { 'unknown-id': 1 } }) }, 1],
  [
    'a plan for an id that neither side has',
    { ...PLAN, counts: countsOf({ notices: { 'unknown-id': 1 } }) },
    1,
  ],
  ['a run that is not at its end', { state: 'applying' }, 1],
]

test.each(TABLE)('%s', (_, run, code) => {
  expect(runExitCode(runOf(run))).toBe(code)
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
