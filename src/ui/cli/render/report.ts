import { type ChangeView, type RunView, waitText, withoutAnswer } from '../../../operations/control.ts'
import { decisionText } from '../../../operations/decision-text.ts'
import { OPS } from '../../../core/plan/change.ts'
import { keysText } from '../../messages/words.ts'
import { total } from '../../../operations/total.ts'
import { amountsText } from '../../messages/amounts.ts'
import { blockText } from '../../messages/blocks.ts'
import { endText, isAsked, stateText } from '../../messages/ends.ts'
import { ALL, renderBlocked } from './blocked.ts'
import { renderChange } from './change.ts'
import { renderNotices } from './notices.ts'
import { amount, digits, pointInTime, timeTaken } from '../../../base/wording.ts'
import { printable } from '../../../base/printable.ts'
import type { Part } from '../../../core/plan/part/part.ts'

/** The most changes of an operation, and notices of a code, without `--all`. */
const SHOWN = 20

/** The questions come first; the last line is the result. */
export function renderReport(view: RunView, options: { readonly all: boolean }): string[] {
  const shown = options.all ? ALL : SHOWN
  const { asked, blocked } = renderBlocked(view, shown)
  const sections = [
    [headline(view), ...configurationLine(view), ...countLines(view)],
    asked,
    changeLines(view, shown),
    titled('Does not come back:', view.lost),
    titled('Not applied:', notApplied(view)),
    underWay(view),
    blocked,
    titled('Noticed:', renderNotices(view, { shown, all: options.all })),
    decisionLines(view),
    view.error === null ? [] : [`Failed: ${printable(view.error)}`],
    [`${view.sync}: ${printable(endText(view))}.`],
  ]
  return sections.flatMap((lines) => (lines.length === 0 ? [] : [...lines, '']))
}

/** Counts of a plan that is not stored, and what of it needs approval. */
export function renderPlanCounts(view: RunView): string[] {
  const asked = view.blocks.filter(isAsked)
  return [
    ...countLines(view),
    ...titled(
      'Needs approval:',
      asked.map((block) => `${block.code}: ${printable(blockText(block))}`),
    ),
  ]
}

/** The daemon's report, or one line when there was nothing to do. Without `people`, entries are not named. */
export function renderRunEnd(view: RunView, { people }: { readonly people: boolean }): string[] {
  const { state, counts, questions, configurationChange: changed } = view
  const isDone = state === 'done' || state === 'planned'
  const isIdle =
    isDone && counts !== null && total(counts.planned) === 0 && questions === 0 && changed === null
  const shown = people ? view : withoutNames(view)
  if (isIdle)
    return [`${headline(shown)}: ${digits(counts.unchanged)} unchanged; ${printable(endText(shown))}`]
  return people ? renderReport(view, { all: false }) : renderCounts(shown)
}

function renderCounts(view: RunView): string[] {
  return [
    headline(view),
    ...configurationLine(view),
    ...countLines(view),
    `  ${endText(view)}`,
    `  dirsyncd runs ${view.run} shows all of it`,
  ]
}

/** Without what an operator or the service wrote. */
function withoutNames(view: RunView): RunView {
  const { counts, waitsUntil } = view
  return {
    ...view,
    counts: counts && { ...counts, lastRejection: null },
    waitsUntil: waitsUntil && withoutAnswer(waitsUntil),
  }
}

function headline(view: RunView): string {
  const { sync, run, mode, startedAt, finishedAt, waitsUntil } = view
  const what = mode === 'plan' ? 'plan' : 'run'
  const parts = [`${sync}: ${what} ${run}`, ...purposeOf(view), stateText(view)]
  if (startedAt !== null) parts.push(`begun ${pointInTime(startedAt)}`)
  if (startedAt !== null && finishedAt !== null) {
    parts.push(`took ${timeTaken(Date.parse(finishedAt) - Date.parse(startedAt))}`)
  }
  if (waitsUntil !== null) parts.push(waitText(waitsUntil))
  return parts.join(', ')
}

function configurationLine({ configurationChange: change }: RunView): string[] {
  if (change === null) return []
  return [`  The configuration was changed since run ${change.since}: ${keysText(change.keys)}`]
}

function purposeOf({ undo, scope, trigger }: RunView): string[] {
  if (undo !== null) return [`undo of ${isWhole(undo.part) ? '' : 'a part of '}run ${undo.run}`]
  return [
    ...(trigger === 'approval' ? ['after an approval'] : []),
    ...(scope === null ? [] : ['of some entries']),
  ]
}

function isWhole(part: Part): boolean {
  return Object.keys(part).length === 0
}

function countLines({ counts, undo }: RunView): string[] {
  if (counts === null) return []
  const { sourceUsers, sourceGroups, directoryUsers, directoryGroups, unchanged, planned, blocked } = counts
  const outcomes = Object.entries(counts.outcomes).filter(([, number]) => number > 0)
  return [
    `  ${undo === null ? 'source' : 'wanted'}     ${amount(sourceUsers, 'user')}, ${amount(sourceGroups, 'group')}`,
    `  directory  ${amount(directoryUsers, 'user')}, ${amount(directoryGroups, 'group')}`,
    `  unchanged  ${digits(unchanged)}`,
    `  planned    ${amountsText(planned)}`,
    ...(total(blocked) === 0 ? [] : [`  blocked    ${amountsText(blocked)}`]),
    ...(outcomes.length === 0
      ? []
      : [`  changes    ${outcomes.map(([outcome, number]) => `${digits(number)} ${outcome}`).join(', ')}`]),
  ]
}

function changeLines(view: RunView, shown: number): string[] {
  const { changes, counts, totalChanges } = view
  if (isForgotten(view)) return ['  The changes are not kept any more.']
  const byOp = Map.groupBy(
    changes.filter(({ state }) => state !== 'blocked'),
    ({ change }) => change.op,
  )
  const lines: string[] = []
  let named = total(counts?.blocked ?? {})
  for (const op of OPS) {
    const all = Math.max(counts?.planned[op] ?? 0, byOp.get(op)?.length ?? 0)
    const group = (byOp.get(op) ?? []).slice(0, shown)
    for (const change of group)
      lines.push(renderChange(NOT_APPLIED.has(change.state) ? withoutDetail(change) : change))
    named += all
    if (all > group.length) lines.push(`  … and ${digits(all - group.length)} more, --all shows them`)
  }
  // The run has no counts yet.
  if (totalChanges > named) lines.push(`  … and ${digits(totalChanges - named)} more, --all shows them`)
  return lines
}

/** Plans are deleted earlier than their runs. */
function isForgotten({ counts, totalChanges, finishedAt }: RunView): boolean {
  const all = total(counts?.planned ?? {}) + total(counts?.blocked ?? {})
  return finishedAt !== null && totalChanges === 0 && all > 0
}

const NOT_APPLIED: ReadonlySet<ChangeView['state']> = new Set(['quarantined', 'failed', 'missing'])

/** The reason is printed once, where all changes that were not applied are listed. */
function withoutDetail(change: ChangeView): ChangeView {
  return { ...change, detail: null }
}

/** Every change that was not applied, without a limit, and how many the run did not reach. */
function notApplied({ changes, counts, undo }: RunView): string[] {
  const wrong = changes.filter(({ state }) => NOT_APPLIED.has(state)).map(renderChange)
  const dropped = counts?.outcomes.dropped ?? 0
  if (dropped > 0)
    wrong.push(
      `${amount(dropped, 'change')} dropped, because the run ended first; ` +
        (undo === null ? 'the next run makes a new plan' : `dirsyncd undo ${undo.run} puts back the rest`),
    )
  return [...wrong, ...refusedAlike(changes)]
}

function underWay({ counts }: RunView): string[] {
  const unknown = counts?.outcomes.unknown ?? 0
  if (unknown === 0) return []
  const were = unknown === 1 ? 'was' : 'were'
  return [
    `${amount(unknown, 'change')} ${were} under way when the run ended: nobody knows what came of it, so the next run looks.`,
  ]
}

/** Many refusals with one status may not be the entries' fault. */
function refusedAlike(changes: RunView['changes']): string[] {
  const refused = changes.filter(({ state }) => state === 'quarantined')
  const statuses = new Set(refused.map(({ status }) => status))
  const [status] = statuses
  if (refused.length < 5 || statuses.size > 1 || typeof status !== 'number') return []
  return [
    `The service answered all ${digits(refused.length)} with ${status}: if that was its own fault, ` +
      'dirsyncd quarantine release has the next run try them again.',
  ]
}

function decisionLines({ decisions }: RunView): string[] {
  const lines = decisions.map((decision) => {
    const started =
      decision.started === null ? '' : `; dirsyncd runs ${decision.started} shows what came of it`
    return printable(`${decisionText(decision)}${started}`)
  })
  return titled('Decided:', lines)
}

function titled(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)]
}
