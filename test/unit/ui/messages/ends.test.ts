import { expect, test } from 'vitest'
import type { Op } from '../../../../src/core/plan/change.ts'
import type { RunSummary, RunView } from '../../../../src/operations/control.ts'
import { amountsText } from '../../../../src/ui/messages/amounts.ts'
import { endText, notMade, stateText } from '../../../../src/ui/messages/ends.ts'
import { CONTAINER_EMPTIED, MAX_DELETES, SERVER_NOT_NEWER } from '../../../support/blocks.ts'
import { blockOf, countsOf, decisionOf, runOf } from '../cli/runs-for-tests.ts'

const AMOUNTS: readonly [Partial<Record<Op, number>>, string][] = [
  [{}, 'no changes'],
  [{ 'delete-user': 0 }, 'no changes'],
  [{ 'delete-user': 1 }, '1 deletion of a user'],
  [{ 'delete-user': 135, 'update-user': 2 }, '135 deletions and 2 updates of users'],
  [{ 'create-user': 1, 'update-user': 1, 'delete-user': 1 }, '1 deletion, 1 update and 1 creation of users'],
  [{ 'delete-user': 1500, 'delete-group': 1 }, '1,500 deletions of users, 1 deletion of a group'],
  [{ 'set-members': 1 }, 'membership changes in 1 group'],
  [{ 'create-group': 2, 'set-members': 3 }, '2 creations of groups, membership changes in 3 groups'],
]

test.each(AMOUNTS)('%j is: %s', (counts, text) => {
  expect(amountsText(counts)).toBe(text)
})

/** As the list of runs has it. */
function summaryOf({ open: _open, reasons: _reasons, ...run }: RunView): RunSummary {
  return run
}

const REJECTION = { run: 5, by: 'ana', at: '2026-11-28T08:00:00.000Z', reason: 'on leave' }
const ASKED = { asking: { 'delete-user': 135 }, blocked: { 'delete-user': 135 } }
const SERVER = blockOf(SERVER_NOT_NEWER, { until: 'read', asks: ['fact', 'server', 'token'], changes: 0 })
const GRACE = blockOf({ code: 'grace', params: {} }, { until: 'time', changes: 2 })
const EMPTIED = blockOf(CONTAINER_EMPTIED, { changes: 135 })

test.each([
  ['nothing to do', runOf({}), 'no changes'],
  [
    'changes',
    runOf({ counts: countsOf({ planned: { 'create-user': 2 }, outcomes: { applied: 2 } }) }),
    '2 changes made',
  ],
  [
    'changes, and a question about others',
    runOf({
      run: 7,
      questions: 135,
      blocks: [EMPTIED],
      counts: countsOf({ planned: { 'create-user': 300 }, outcomes: { applied: 300 }, ...ASKED }),
    }),
    '300 changes made; 135 deletions of users need approval (run 7)',
  ],
  [
    'a plan that a guard stopped',
    runOf({
      run: 7,
      state: 'held',
      questions: 135,
      blocks: [blockOf(MAX_DELETES, { stops: true, changes: 135 })],
      counts: countsOf({ ...ASKED, blocked: { 'delete-user': 135, 'create-user': 15 } }),
    }),
    'no changes; 135 deletions of users need approval (run 7); 15 other changes not made',
  ],
  [
    'one question',
    runOf({ questions: 1, blocks: [EMPTIED], counts: countsOf({ asking: { 'delete-user': 1 } }) }),
    'no changes; 1 deletion of a user needs approval (run 12)',
  ],
  [
    'a question about a fact',
    runOf({ questions: 1, blocks: [SERVER] }),
    'no changes; the state of the server needs approval (run 12)',
  ],
  [
    'a question about a fact, and about changes',
    runOf({ questions: 136, blocks: [SERVER, EMPTIED], counts: countsOf(ASKED) }),
    'no changes; 135 deletions of users and the state of the server need approval (run 12)',
  ],
  [
    'questions of which an operator decided some',
    summaryOf(
      runOf({ questions: 37, blocks: [EMPTIED], decisions: [decisionOf({})], counts: countsOf(ASKED) }),
    ),
    'no changes; 37 questions of run 12 still to decide',
  ],
  [
    'questions of which an operator decided some, with what is open',
    runOf({
      questions: 38,
      blocks: [EMPTIED, SERVER],
      open: { 'delete-user': 37 },
      reasons: [
        { code: 'server-not-newer', changes: {}, open: {}, isOpen: false },
        {
          code: 'container-emptied',
          changes: { 'delete-user': 135 },
          open: { 'delete-user': 37 },
          isOpen: true,
        },
      ],
      counts: countsOf(ASKED),
    }),
    'no changes; 37 deletions of users need approval (run 12)',
  ],
  [
    'questions that are all decided',
    runOf({ blocks: [EMPTIED], decisions: [decisionOf({})], counts: countsOf(ASKED) }),
    'no changes; what it asked about is decided (135 deletions of users)',
  ],
  [
    'rejected changes',
    runOf({
      blocks: [blockOf({ code: 'rejected', params: {} }, { changes: 93 })],
      counts: countsOf({
        blocked: { 'delete-user': 93 },
        rejected: { 'delete-user': 93 },
        lastRejection: REJECTION,
      }),
    }),
    'no changes; 93 deletions of users are rejected (run 12 lists them, the last by ana on 2026-11-28)',
  ],
  [
    'questions that ended by themselves',
    runOf({ blocks: [EMPTIED], counts: countsOf(ASKED) }),
    'no changes; what it asked about is not open any more (135 deletions of users)',
  ],
  [
    'a plan of which an operator decided a part',
    runOf({
      mode: 'plan',
      state: 'planned',
      blocks: [EMPTIED],
      decisions: [decisionOf({ selection: { ids: ['e-1'] } })],
      counts: countsOf(ASKED),
    }),
    'no changes; 135 deletions of users need approval (run 12)',
  ],
  [
    'blocks that are about other entries only',
    runOf({
      blocks: [GRACE, blockOf({ code: 'removals-not-confirmed', params: {} }, { until: 'time', changes: 0 })],
      counts: countsOf({ blocked: { 'delete-user': 2 } }),
    }),
    'no changes; 2 changes blocked (grace)',
  ],
  [
    'changes that end by themselves',
    runOf({ blocks: [GRACE], counts: countsOf({ blocked: { 'delete-user': 2 } }) }),
    'no changes; 2 changes blocked (grace)',
  ],
  [
    'refused changes',
    runOf({ counts: countsOf({ planned: { 'create-user': 2 }, outcomes: { quarantined: 2 } }) }),
    'no changes made; 2 quarantined',
  ],
  [
    'a plan',
    runOf({
      mode: 'plan',
      state: 'planned',
      blocks: [EMPTIED],
      counts: countsOf({ planned: { 'create-user': 12 }, ...ASKED }),
    }),
    '12 creations of users to make; 135 deletions of users need approval (run 12)',
  ],
  [
    'a failure',
    runOf({
      state: 'failed',
      counts: countsOf({ planned: { 'create-user': 12 }, outcomes: { applied: 3 } }),
    }),
    'failed; 3 changes made',
  ],
  ['a failure before the plan', runOf({ state: 'failed', counts: null }), 'failed'],
  ['a run that has not ended', runOf({ state: 'applying', finishedAt: null }), 'applying'],
])('the end of a run with %s', (_, run, text) => {
  expect(endText(run)).toBe(text)
})

test('a run that asks, or that left rejected changes, is not just done', () => {
  expect(stateText(runOf({}))).toBe('done')
  expect(stateText(runOf({ questions: 2 }))).toBe('needs approval')
  expect(stateText(runOf({ state: 'held', questions: 2 }))).toBe('needs approval')
  expect(stateText(runOf({ counts: countsOf({ rejected: { 'delete-user': 93 } }) }))).toBe(
    'done, 93 rejected',
  )
})

test('the state of a run is what is true now', () => {
  expect(stateText(runOf({ state: 'failed', questions: 2 }))).toBe('failed')
  expect(stateText(runOf({ state: 'held', decisions: [decisionOf({})] }))).toBe('decided')
  expect(stateText(runOf({ state: 'held' }))).toBe('held, no open question')
})

test('what an undo leaves different from before counts as not made', () => {
  const counts = countsOf({
    notices: { protected: 1, 'shared-id': 1, 'no-email': 9 },
    outcomes: { missing: 1 },
  })
  expect(notMade({ counts, undo: { run: 12, part: {} } })).toEqual([
    '1 missing',
    '1 shared-id',
    '1 protected',
  ])
  expect(notMade({ counts, undo: null })).toEqual(['1 missing', '1 shared-id'])
})
