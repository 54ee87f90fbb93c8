import { type RunSummary, waitText } from '../../../operations/control.ts'
import type { Output } from '../../../base/terminal/output.ts'
import { total } from '../../../operations/total.ts'
import { digits } from '../../../base/wording.ts'
import { CLEAR_LINE } from '../../../base/terminal/output.ts'
import { textWidth } from '../../../base/terminal/text.ts'

const BAR = 24

export interface Progress extends Disposable {
  update(run: RunSummary): void
}

/** A terminal line that is redrawn in place and removed at the end; nothing without a terminal. */
export function createProgress(output: Output, wanted: boolean): Progress {
  if (!wanted || output.isTTY !== true) {
    return { update: () => undefined, [Symbol.dispose]: () => undefined }
  }
  let drawn = ''
  return {
    update(run) {
      const line = fit(progressLine(run), (output.columns || 80) - 1)
      if (line !== drawn) output.write(CLEAR_LINE + line)
      drawn = line
    },
    [Symbol.dispose]() {
      if (drawn !== '') output.write(CLEAR_LINE)
    },
  }
}

/** `corp  applying  [######------------------]  340/1,360  2 failed` */
export function progressLine(run: RunSummary): string {
  const { planned, outcomes } = run.counts ?? { planned: {}, outcomes: {} }
  const all = total(planned)
  if (run.state !== 'applying' || all === 0) return `${run.sync}  ${stateText(run)}`
  const done = Math.min(all, total(outcomes) - (outcomes.pending ?? 0))
  const count = `${digits(done)}/${digits(all)}`
  if (run.waitsUntil !== null) return `${run.sync}  ${waitText(run.waitsUntil)}  ${count}`
  const filled = Math.floor((done / all) * BAR)
  const bar = '#'.repeat(filled) + '-'.repeat(BAR - filled)
  const bad = (['quarantined', 'failed'] as const)
    .filter((outcome) => (outcomes[outcome] ?? 0) > 0)
    .map((outcome) => `  ${digits(outcomes[outcome] ?? 0)} ${outcome}`)
  return `${run.sync}  applying  [${bar}]  ${count}${bad.join('')}`
}

function stateText({ state, run, waitsUntil }: RunSummary): string {
  if (waitsUntil !== null) return waitText(waitsUntil)
  if (state === 'waiting') return `waiting for run ${run} to begin`
  if (state === 'reading') return 'reading source and directory'
  return state
}

function fit(line: string, columns: number): string {
  return textWidth(line) <= columns ? line : line.slice(0, Math.max(0, columns))
}
