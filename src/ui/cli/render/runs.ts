import { holdBefore, pauseText, type RunSummary, waitText } from '../../../operations/control.ts'
import { leftBehind } from '../exit-code.ts'
import { total } from '../../../operations/total.ts'
import { undecided } from '../../../core/plan/decide.ts'
import { renderTable } from '../../../base/terminal/table.ts'
import { digits, pointInTime, timeTaken } from '../../../base/wording.ts'
import { printable } from '../../../base/printable.ts'

const HEAD = ['RUN', 'SYNC', 'MODE', 'ASKED BY', 'STATE', 'ASKED AT', 'TOOK', 'PLANNED', 'NOTE']

export function renderRuns(runs: readonly RunSummary[]): string[] {
  if (runs.length === 0) return ['There are no runs yet; dirsyncd sync starts one.']
  return [...pauseLines(runs), ...renderTable(HEAD, runs.map(row))]
}

function pauseLines(runs: readonly RunSummary[]): string[] {
  const texts = runs.flatMap(({ paused }) => (paused === null ? [] : [`${printable(pauseText(paused))}.`]))
  return texts.length === 0 ? [] : [...new Set(texts), '']
}

function row(run: RunSummary): string[] {
  return [
    String(run.run),
    run.sync,
    run.mode,
    run.trigger,
    run.state,
    pointInTime(run.requestedAt),
    took(run),
    run.counts === null ? '' : digits(total(run.counts.planned)),
    [undone(run), note(run)].filter((part) => part !== '').join(': '),
  ]
}

function undone({ undo }: RunSummary): string {
  return undo === null ? '' : `undo of run ${undo.run}`
}

function took({ startedAt, finishedAt }: RunSummary): string {
  if (startedAt === null || finishedAt === null) return ''
  return timeTaken(Date.parse(finishedAt) - Date.parse(startedAt))
}

function note(run: RunSummary): string {
  const { error, waitsUntil, mode, state, hold, holdRun, breaches } = run
  if (error !== null) return printable(error)
  if (waitsUntil !== null) return waitText(waitsUntil)
  const guards = [...new Set(undecided(state, breaches).map(({ code }) => code))].join(', ')
  if (hold === null && holdRun !== null) return `waits with run ${holdRun}`
  if (hold === null && (guards === '' || mode === 'plan')) return leftBehind(run).join(', ')
  if (hold === null) return `waits: ${guards}`
  const first = holdBefore(run)
  if (first !== undefined) return `held; the hold of run ${first} comes first`
  return hold === 'open' ? `waits for approval: ${guards}` : `hold ${hold}`
}
