import type { BlockReason } from '../../../../src/core/block.ts'
import type {
  ChangeReason,
  ChangeView,
  RunCounts,
  RunView,
  StoredBlock,
} from '../../../../src/operations/control.ts'
import type { Change } from '../../../../src/core/plan/change.ts'
import type { RecordedDecision } from '../../../../src/store/run-types.ts'

export function countsOf(parts: Partial<RunCounts>): RunCounts {
  return {
    sourceUsers: 0,
    sourceGroups: 0,
    directoryUsers: 0,
    directoryGroups: 0,
    unchanged: 0,
    planned: {},
    blocked: {},
    asking: {},
    rejected: {},
    lastRejection: null,
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
    blocks: [],
    questions: 0,
    reasons: [],
    open: parts.counts?.asking ?? {},
    digest: null,
    error: null,
    waitsUntil: null,
    decisions: [],
    scope: null,
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
    ...parts,
  }
}

export function changeOf(change: Change, parts: Partial<ChangeView> = {}): ChangeView {
  return { number: 1, change, state: 'applied', status: null, detail: null, reasons: [], ...parts }
}

export function createUser(id: string): Change {
  return { op: 'create-user', id, want: { name: `Name of ${id}`, email: `${id}@example.org` } }
}

export function deleteUser(id: string): Change {
  return {
    op: 'delete-user',
    id,
    have: { name: `Name of ${id}`, email: `${id}@example.org`, groups: [] },
    why: 'gone',
  }
}

/** A block as its run keeps it; a guard stops the plan. */
export function blockOf(reason: BlockReason, parts: Partial<StoredBlock> = {}): StoredBlock {
  // The parameters are those of the code.
  return { until: 'decision', stops: false, asks: null, changes: 1, ...reason, ...parts } as StoredBlock
}

export function blocked(change: Change, ...reasons: readonly Partial<ChangeReason>[]): ChangeView {
  const all = reasons.map((reason) => ({ until: 'decision', stops: false, facts: null, ...reason }))
  return changeOf(change, { state: 'blocked', reasons: all as readonly ChangeReason[] })
}

export function decisionOf(parts: Partial<RecordedDecision>): RecordedDecision {
  return {
    decision: 1,
    does: 'approve',
    by: 'ana',
    at: '2026-11-21T07:30:00.000Z',
    reason: '',
    selection: {},
    keys: 1,
    started: null,
    ...parts,
  }
}
