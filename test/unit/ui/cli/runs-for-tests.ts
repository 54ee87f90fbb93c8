import type { ChangeView, RunCounts, RunView } from '../../../../src/operations/control.ts'
import type { Change } from '../../../../src/core/plan/change.ts'

export function countsOf(parts: Partial<RunCounts>): RunCounts {
  return {
    sourceUsers: 0,
    sourceGroups: 0,
    directoryUsers: 0,
    directoryGroups: 0,
    unchanged: 0,
    planned: {},
    outcomes: {},
    notices: {},
    ...parts,
  }
}

/** A run that is done, unless the parts say something else. */
export function runOf(parts: Partial<RunView>): RunView {
  return {
    run: 12,
    sync: 'corp',
    mode: 'sync',
    trigger: 'demand',
    state: 'done',
    requestedAt: '2026-11-21T07:29:00.000Z',
    startedAt: '2026-11-21T07:29:03.000Z',
    finishedAt: '2026-11-21T07:29:06.500Z',
    counts: countsOf({}),
    breaches: [],
    undecidedChanges: 0,
    hold: null,
    holdRun: null,
    digest: null,
    approved: false,
    error: null,
    waitsUntil: null,
    holdExpiresAt: null,
    decisions: [],
    approvalOf: null,
    part: null,
    undo: null,
    paused: null,
    changes: [],
    notices: [],
    totalChanges: 0,
    totalNotices: 0,
    sameNotices: null,
    configurationChange: null,
    readAt: null,
    applyingAt: null,
    evidence: null,
    lost: [],
    approvalRuns: [],
    approvedWaiting: 0,
    ...parts,
  }
}

export function changeOf(change: Change, parts: Partial<ChangeView> = {}): ChangeView {
  return { number: 1, change, state: 'applied', status: null, detail: null, ...parts }
}

export function createUser(id: string): Change {
  return { op: 'create-user', id, want: { name: `Name of ${id}`, email: `${id}@example.org` } }
}
