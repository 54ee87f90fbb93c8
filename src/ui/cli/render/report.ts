import {
  type ChangeView,
  holdBefore,
  type RunCounts,
  type RunView,
  waitText,
  withoutAnswer,
} from '../../../operations/control.ts'
import { decisionText } from '../../../operations/decided.ts'
import { findingsOf, guardsOf, isApprovedPlan } from '../../../operations/held-by.ts'
import { OPS, type Op } from '../../../core/plan/change.ts'
import { keysText } from '../../../core/plan/configuration.ts'
import { isAboutServer, undecided } from '../../../core/plan/decide.ts'
import { leftBehind } from '../exit-code.ts'
import { total } from '../../../operations/total.ts'
import { blockText } from '../../messages/blocks.ts'
import { renderChange } from './change.ts'
import { renderNotices } from './notices.ts'
import { amount, digits, pointInTime, timeTaken } from '../../../base/wording.ts'
import { printable } from '../../../base/printable.ts'
import type { Part } from '../../../core/plan/part/part.ts'

/** Of each operation and of each notice code, without `--all`. */
const SHOWN = 20

const OP_NAMES: Readonly<Record<Op, readonly [noun: string, what: string]>> = {
  'create-user': ['user', 'to create'],
  'update-user': ['user', 'to update'],
  'delete-user': ['user', 'to delete'],
  'create-group': ['group', 'to create'],
  'update-group': ['group', 'to update'],
  'delete-group': ['group', 'to delete'],
  'set-members': ['group', 'with other members'],
}

export function renderReport(view: RunView, options: { readonly all: boolean }): string[] {
  const shown = options.all ? Number.MAX_SAFE_INTEGER : SHOWN
  const sections = [
    [headline(view), ...configurationLine(view), ...countLines(view)],
    changeLines(view, shown),
    titled('Does not come back:', view.lost),
    titled('Not applied:', notApplied(view)),
    underWay(view),
    titled('Noticed:', renderNotices(view, { shown, all: options.all })),
    holdLines(view),
    waitLines(view),
    decisionLines(view),
    view.error === null ? [] : [`Failed: ${printable(view.error)}`],
  ]
  return sections.flatMap((lines) => (lines.length === 0 ? [] : [...lines, '']))
}

/** Counts of a plan that is not stored, and what would hold it. */
export function renderPlanCounts(view: RunView): string[] {
  const parts = [countLines(view), holdLines(view), waitLines(view)]
  return parts.flatMap((lines) => lines)
}

/** The daemon's report, or one line when there was nothing to do. Without `people`, entries are not named. */
export function renderRunEnd(view: RunView, { people }: { readonly people: boolean }): string[] {
  const { state, counts, breaches, configurationChange: changed } = view
  const isDone = state === 'done' || state === 'planned'
  const idle =
    isDone && counts !== null && total(counts.planned) === 0 && breaches.length === 0 && changed === null
  if (!idle) return people ? renderReport(view, { all: false }) : renderCounts(view)
  const parts = ['no changes', `${digits(counts.unchanged)} unchanged`, ...leftBehind(view)]
  return [`${headline(view)}: ${parts.join(', ')}`]
}

function renderCounts(view: RunView): string[] {
  const { run, state, breaches, waitsUntil } = view
  const waiting = undecided(state, breaches).map(({ code, changes }) => `${code} (${digits(changes)})`)
  return [
    headline({ ...view, waitsUntil: waitsUntil && withoutAnswer(waitsUntil) }),
    ...configurationLine(view),
    ...countLines(view),
    ...(waiting.length === 0 ? [] : [`  waits for a person: ${waiting.join(', ')}`]),
    `  dirsyncd runs ${run} shows all of it`,
  ]
}

function headline(view: RunView): string {
  const { sync, run, mode, state, startedAt, finishedAt, waitsUntil } = view
  const what = mode === 'plan' ? 'plan' : 'run'
  const parts = [`${sync}: ${what} ${run}`, ...purposeOf(view), state]
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

function purposeOf({ undo, part, approvalOf }: RunView): string[] {
  if (undo !== null) return [`undo of ${isWhole(undo.part) ? '' : 'a part of '}run ${undo.run}`]
  if (approvalOf === null) return []
  return [`approved ${part === null ? 'in run' : 'as a part of run'} ${approvalOf}`]
}

function isWhole(part: Part): boolean {
  return Object.keys(part).length === 0
}

function countLines({ counts, breaches, undo }: RunView): string[] {
  if (counts === null) return []
  const { sourceUsers, sourceGroups, directoryUsers, directoryGroups, unchanged } = counts
  const outcomes = Object.entries(counts.outcomes).filter(([, number]) => number > 0)
  return [
    `  ${undo === null ? 'source' : 'wanted'}     ${amount(sourceUsers, 'user')}, ${amount(sourceGroups, 'group')}`,
    `  directory  ${amount(directoryUsers, 'user')}, ${amount(directoryGroups, 'group')}`,
    `  unchanged  ${digits(unchanged)}`,
    `  planned    ${plannedText(counts, breaches)}`,
    ...(outcomes.length === 0
      ? []
      : [`  changes    ${outcomes.map(([outcome, number]) => `${digits(number)} ${outcome}`).join(', ')}`]),
  ]
}

function plannedText({ planned }: RunCounts, breaches: RunView['breaches']): string {
  const parts = OPS.filter((op) => (planned[op] ?? 0) > 0).map((op) => {
    const [noun, what] = OP_NAMES[op]
    return `${amount(planned[op] ?? 0, noun)} ${what}`
  })
  if (parts.length > 0) return parts.join(', ')
  return breaches.some(({ changes }) => changes > 0) ? 'no changes but those that wait' : 'no changes'
}

function changeLines(view: RunView, shown: number): string[] {
  const { changes, counts, totalChanges } = view
  if (isForgotten(view)) return ['  The changes are not kept any more.']
  const byOp = Map.groupBy(changes, ({ change }) => change.op)
  const lines: string[] = []
  let named = 0
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

/** Undecided plans are deleted earlier than their runs. */
function isForgotten({ counts, totalChanges, finishedAt }: RunView): boolean {
  return finishedAt !== null && totalChanges === 0 && total(counts?.planned ?? {}) > 0
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

function holdLines(view: RunView): string[] {
  const { run, state, hold, holdRun } = view
  const { title, breaches } = guardsOf(view)
  if (breaches.length === 0) return []
  const guards = [`${title}:`, ...breachLines(breaches, isApprovedPlan(view) ? 'approved' : hold)]
  const first = holdBefore(view)
  if (first !== undefined) return [...guards, `Nothing was changed. ${afterHold(first)}`]
  const held = holdRun ?? run
  const waiting = state === 'held' && (hold === 'open' || hold === null)
  const since = held === run ? '' : ` What is held is the same as in run ${held}.`
  const help = waiting
    ? [
        `Nothing was changed.${since} Apply the plan with dirsyncd approve ${held}, or reject it with dirsyncd reject ${held}.`,
        ...expiryLine(view),
      ]
    : []
  return [...guards, ...help]
}

function expiryLine({ holdExpiresAt, undo }: RunView): string[] {
  if (holdExpiresAt === null) return []
  const then = undo === null ? 'the next run asks again' : `dirsyncd undo ${undo.run} asks again`
  return [`It expires at ${pointInTime(holdExpiresAt)}; then ${then}.`]
}

function decisionLines({ run, decisions, approvalRuns, approvedWaiting }: RunView): string[] {
  const lines = decisions.map((decided) => {
    const text = decisionText(decided)
    const why = decided.reason === undefined ? '' : `: ${decided.reason}`
    return printable(`${text[0]!.toUpperCase()}${text.slice(1)}${why}`)
  })
  if (approvalRuns.length > 0)
    lines.push(`The approval began: ${approvalRuns.map((each) => `dirsyncd runs ${each}`).join(', ')}`)
  if (approvedWaiting === 0) return lines
  const waits = `${amount(approvedWaiting, 'change')} of it ${approvedWaiting === 1 ? 'is' : 'are'}`
  return [
    ...lines,
    `${waits} not applied yet: the next run does that, and dirsyncd reject ${run} takes it back.`,
  ]
}

function afterHold(first: number): string {
  return (
    `The hold of run ${first} is of the whole sync and holds other changes: decide on it first, ` +
    `with dirsyncd approve ${first} or dirsyncd reject ${first}, and then ask for this run again.`
  )
}

/** Withheld changes; the rest is applied. */
function waitLines(view: RunView): string[] {
  const { state, hold, holdRun } = view
  const { title, breaches } = findingsOf(view)
  if (breaches.length === 0) return []
  const isOpen = state === 'done' && (hold === 'open' || (hold === null && holdRun !== null))
  const first = holdBefore(view)
  const help = isOpen ? decideLines(view) : first === undefined ? [] : [afterHold(first)]
  return [`${title}:`, ...breachLines(breaches, hold), ...help]
}

function decideLines({ run, holdRun, state, breaches, undecidedChanges: changes }: RunView): string[] {
  const held = holdRun ?? run
  const waiting = undecided(state, breaches).filter((breach) => breach.changes > 0)
  const others = waiting.filter((breach) => !isAboutServer(breach))
  const names = [...new Set(others.map(({ code }) => code))]
  const hasServer = others.length < waiting.length
  const server = `${held}${names.length > 0 ? ' --only server-not-newer' : ''}`
  const rest = `${held}${hasServer ? ` --only ${names.join(' ')}` : ''}`
  const what = changes === 1 ? 'the change that waits' : `the ${digits(changes)} changes that wait`
  const lines = [
    hasServer && `Accept the state of this server with dirsyncd approve ${server}; guards still apply.`,
    changes > 0 && `Apply ${what} with dirsyncd approve ${rest}, or reject with dirsyncd reject ${rest}.`,
    names.length > 1 && `Decide on one of them alone with --only NAME, such as --only ${names.at(-1)}.`,
  ]
  return lines.filter((line) => line !== false)
}

/** Adds the decision about each where it differs from the decision about all. */
function breachLines(breaches: RunView['breaches'], hold: RunView['hold']): string[] {
  return breaches.map((breach) => {
    const { code, decided } = breach
    const decision = decided === undefined || decided === hold ? '' : ` (${decided})`
    return `  ${code}: ${printable(blockText(breach))}${decision}`
  })
}

function titled(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)]
}
