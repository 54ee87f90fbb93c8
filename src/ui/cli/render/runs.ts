import { pauseText, type RunSummary, waitText } from '../../../operations/control.ts'
import { total } from '../../../operations/total.ts'
import { renderTable } from '../../../base/terminal/table.ts'
import { digits, pointInTime, timeTaken } from '../../../base/wording.ts'
import { printable } from '../../../base/printable.ts'
import { isAsked, notMade, stateText } from '../../messages/ends.ts'

const HEAD = ['RUN', 'SYNC', 'MODE', 'TRIGGER', 'STATE', 'REQUESTED', 'TOOK', 'PLANNED', 'OPEN', 'NOTE']

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
    stateText(run),
    pointInTime(run.requestedAt),
    took(run),
    run.counts === null ? '' : digits(total(run.counts.planned)),
    run.questions === 0 ? '' : digits(run.questions),
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
  const { error, waitsUntil, mode, questions, blocks, decisions } = run
  if (error !== null) return printable(error)
  if (waitsUntil !== null) return waitText(waitsUntil)
  const asked = blocks.filter((block) => isAsked(block) && (questions > 0 || mode === 'plan'))
  const parts = [
    [...new Set(asked.map(({ code }) => code))].join(', '),
    ...decisions.map(({ does, by }) => `${does === 'approve' ? 'approved' : 'rejected'} by ${by}`),
    ...notMade(run),
    rejected(run),
  ]
  return printable([...new Set(parts)].filter((part) => part !== '').join('; '))
}

function rejected({ counts }: RunSummary): string {
  const last = counts?.lastRejection
  const count = digits(total(counts?.rejected ?? {}))
  return last ? `${count} rejected, the last by ${last.by} on ${last.at.slice(0, 10)}` : ''
}
