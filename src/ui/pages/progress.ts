import type { RunDetail } from '../../operations/control.ts'
import { waitText } from '../../operations/control.ts'
import { total } from '../../operations/total.ts'
import { digits } from '../../base/wording.ts'
import { html, type Html } from './html.ts'

export function progressBlock(run: RunDetail): Html {
  const { state, counts, waitsUntil } = run
  const outcomes = counts?.outcomes ?? {}
  const all = total(outcomes)
  const done = all - (outcomes.pending ?? 0)
  return html`<p role="status">
      ${STATES[state] ?? state}${state === 'applying' && all > 0 && html`: ${digits(done)} of ${digits(all)}`}.
      ${waitsUntil !== null && html`<br />${waitText(waitsUntil)}`}
    </p>
    ${state === 'applying' && all > 0 && html`<progress max="${all}" value="${done}" aria-label="Changes with an outcome"></progress>`}`
}

const STATES: Partial<Record<RunDetail['state'], string>> = {
  waiting: 'Waits to begin',
  reading: 'Reads the source and the directory',
  planning: 'Makes the plan',
  applying: 'Applies the changes',
}

export function isUnderWay({ finishedAt }: Pick<RunDetail, 'finishedAt'>): boolean {
  return finishedAt === null
}
