import { pointInTime } from '../base/wording.ts'
import { DirsyncdError } from '../base/errors.ts'
import type { Part } from '../core/plan/part/part.ts'
import type { HoldState, RecordedDecision } from '../store/run-types.ts'
import type { RunRecord } from '../store/runs.ts'

/** `approved by ana at 2026-11-26 20:45:39Z (updates)` */
export function decisionText({ decision, by, at, only = [], part }: RecordedDecision): string {
  const what = part === undefined ? only : partText(part)
  return `${decision} by ${by} at ${pointInTime(at)}${what.length === 0 ? '' : ` (${what.join(', ')})`}`
}

function partText({ names = [], kinds = [], ids = [] }: Part): readonly string[] {
  return [...names, ...kinds.map((kind) => `${kind}s`), ...ids]
}

/** All decisions about a hold with their reasons; `undefined` where there are none. */
export function decisionsText(decisions: readonly RecordedDecision[]): string | undefined {
  return decisions.length === 0 ? undefined : decisions.map(withReason).join(', and ')
}

export function decisionOn(decisions: readonly RecordedDecision[], name: string): string | undefined {
  const decided = decisions.findLast(({ only }) => only?.includes(name) ?? false)
  return decided && withReason(decided)
}

function withReason(decided: RecordedDecision): string {
  return `${decisionText(decided)}${decided.reason === undefined ? '' : `: "${decided.reason}"`}`
}

/** A rejection may be overruled only by an operator who has seen it. */
export function requireSeen({ run, hold, decisions }: RunRecord, seen: HoldState | null): void {
  if (hold !== 'rejected' || seen === 'rejected') return
  const how = decisionsText(decisions) ?? 'rejected by somebody else'
  throw new DirsyncdError(
    'run-unknown',
    `Run ${run} was ${how}, before your decision, which is not recorded; look at the run again, where what was rejected can still be approved.`,
  )
}
