import type { NoticeCount, Trouble } from '../../store/diagnostics.ts'
import type { Part } from '../../core/plan/part/part.ts'
import type { RecordedDecision } from '../../store/run-types.ts'
import type { RunRecord } from '../../store/runs.ts'
import type { Cleaner } from './clean.ts'

interface RunParts {
  readonly troubles: readonly Trouble[]
  readonly notices: readonly NoticeCount[]
}

/** One run without names. The digest is hashed, because a plan of one change could be found by trying ids. */
export function describeRun(
  run: RunRecord,
  parts: RunParts,
  cleaner: Cleaner,
): Readonly<Record<string, unknown>> {
  const clean = (text: string | null) => (text === null ? null : cleaner.sentence(text))
  return {
    run: run.run,
    mode: run.mode,
    trigger: run.trigger,
    state: run.state,
    only: run.only_entries && {
      users: run.only_entries.users.length,
      groups: run.only_entries.groups.length,
    },
    requested: run.requested_at,
    started: run.started_at,
    finished: run.finished_at,
    seconds: secondsBetween(run.started_at, run.finished_at),
    undo: run.undo && { run: run.undo.run, part: describePart(run.undo.part) },
    approvalOf: run.approval_of,
    part: run.part && describePart(run.part),
    error: clean(run.error),
    stop: run.stop_code === null ? null : { code: run.stop_code, reason: clean(run.stop_reason) },
    counts: run.counts,
    outcomes: run.outcomes,
    hold: run.hold === null ? null : { state: run.hold, run: run.hold_run, expires: run.hold_expires_at },
    decisions: run.decisions.map(describeDecision),
    breaches: (run.breaches ?? []).map(({ code, changes, waitsFor, decided, params }) => ({
      code,
      changes,
      waitsFor,
      decided,
      params: cleaner.params(params),
    })),
    plan: run.digest === null ? null : cleaner.hidden(run.digest),
    approved: run.approved,
    directoryMoved: run.directory_moved,
    refused: run.refused,
    probes: run.probes,
    pending: run.pending,
    returned: run.returned,
    interruptions: run.interruptions,
    leftOrderly: run.left_orderly,
    beginAfter: run.begin_after,
    stored: { changes: run.stored_changes, notices: run.stored_notices },
    troubles: ofRun(parts.troubles, run).map(({ run: _run, number: _first, id, detail, ...trouble }) => ({
      ...trouble,
      example: {
        entry: cleaner.id({ kind: trouble.op.endsWith('-user') ? 'user' : 'group', id }),
        detail: clean(detail),
      },
    })),
    notices: ofRun(parts.notices, run).map(({ run: _run, number: _first, params, ...notice }) => ({
      ...notice,
      example: cleaner.params(params),
    })),
  }
}

function describeDecision({ decision, at, only, part }: RecordedDecision): object {
  return { decision, at, only, part: part && describePart(part) }
}

function describePart({ ids, ...part }: Part): object {
  return { ...part, ids: ids?.length }
}

function ofRun<T extends { readonly run: number }>(rows: readonly T[], { run }: RunRecord): readonly T[] {
  return rows.filter((row) => row.run === run)
}

function secondsBetween(from: Date | null, to: Date | null): number | null {
  return from === null || to === null ? null : (to.getTime() - from.getTime()) / 1000
}
