import type { RunCounts, RunState, RunSummary } from '../../operations/control.ts'
import { total } from '../../operations/total.ts'
import { type Op, OPS } from '../../core/plan/change.ts'
import { digits } from '../../base/wording.ts'
import { amountsText } from '../messages/amounts.ts'
import { rejectedText, stateText } from '../messages/ends.ts'
import { html, type Html, path, withQuery } from './html.ts'
import { badge, type Page, table } from './layout.ts'
import { at, took } from './time.ts'

export const RUNS_SHOWN = 50

export interface RunsAsked {
  readonly sync?: string | undefined
  readonly before?: number | undefined
}

/** Newest first; `runs` has one more than a page shows where there are older ones. */
export function runsPage(runs: readonly RunSummary[], { sync, before }: RunsAsked, now: Date): Page {
  const shown = runs.slice(0, RUNS_SHOWN)
  const older = runs.length > RUNS_SHOWN ? shown.at(-1)!.run : undefined
  const title = sync === undefined ? 'Runs' : `Runs of ${sync}`
  const body = html`<h1>${title}</h1>
    ${shown.length === 0 ? html`<p>There are none${before !== undefined && ' before these'}.</p>` : runTable(shown, now)}
    <p class="actions">
      ${before !== undefined && html`<a href="${withQuery('/runs', { sync })}">Newest</a>`}
      ${older !== undefined && html`<a href="${withQuery('/runs', { sync, before: older })}" rel="next">Older runs</a>`}
    </p>`
  return { title, body, refresh: before === undefined ? 10 : undefined }
}

export function runTable(runs: readonly RunSummary[], now: Date): Html {
  return table(
    'The newest first',
    ['Run', 'Sync', 'State', 'Questions', 'Requested', 'Took', 'Planned', 'Notes'],
    runs.map((run) => row(run, now)),
  )
}

function row(run: RunSummary, now: Date): readonly (Html | string)[] {
  return [
    html`<a href="${path`/runs/${run.run}`}">${run.run}</a>`,
    html`<a href="${path`/syncs/${run.sync}`}"><bdi>${run.sync}</bdi></a>`,
    runBadge(run),
    run.questions === 0
      ? '–'
      : html`<a href="${path`/runs/${run.run}`}#questions">${digits(run.questions)} open</a>`,
    at(run.requestedAt, now),
    took(run.startedAt, run.finishedAt),
    plannedText(run),
    noteOf(run),
  ]
}

const COLOURS: Partial<Record<RunState, Parameters<typeof badge>[1]>> = { done: 'good', failed: 'bad' }

type Badged = Pick<RunSummary, 'state' | 'mode' | 'questions' | 'counts' | 'decisions'>

/** Green only where nothing is asked and nothing rejected. */
export function runBadge(run: Badged): Html {
  const text = stateText(run)
  const colour = text === run.state ? COLOURS[run.state] : text === 'needs approval' ? 'warn' : undefined
  return html`${badge(text, colour ?? 'plain')}${run.mode === 'plan' && html` <small>plan only</small>`}`
}

export function plannedText({ counts }: Pick<RunSummary, 'counts'>): string {
  if (counts === null) return ''
  return total(counts.planned) === 0 ? nothingPlanned(counts) : amountsText(counts.planned)
}

function nothingPlanned({ blocked }: RunCounts): string {
  return total(blocked) > 0 ? 'all changes are blocked' : 'no changes'
}

export function plannedLinks({ run, counts }: Pick<RunSummary, 'run' | 'counts'>): Html {
  if (counts === null) return html``
  const links = plannedOps(counts).map(
    ({ op, count }, place) =>
      html`${place > 0 && ', '}<a href="${withQuery(path`/runs/${run}`, { op })}#changes"
          >${digits(count)} ${op}</a
        >`,
  )
  return html`${links.length === 0 ? nothingPlanned(counts) : links}`
}

function plannedOps({ planned }: RunCounts): readonly { readonly op: Op; readonly count: number }[] {
  return OPS.map((op) => ({ op, count: planned[op] ?? 0 })).filter(({ count }) => count > 0)
}

export function blockedLink({ run, counts }: Pick<RunSummary, 'run' | 'counts'>): Html | false {
  const count = total(counts?.blocked ?? {})
  return (
    count > 0 &&
    html`<a href="${withQuery(path`/runs/${run}`, { state: 'blocked' })}#changes"
      >${digits(count)} blocked</a
    >`
  )
}

function noteOf({ run, error, undo, counts }: RunSummary): Html {
  const rejected = rejectedText(counts)
  const { quarantined = 0, failed = 0 } = counts?.outcomes ?? {}
  const notes = [
    undo && html`undo of <a href="${path`/runs/${undo.run}`}">run ${undo.run}</a>`,
    blockedLink({ run, counts }),
    rejected !== '' && html`${rejected}`,
    quarantined > 0 && html`${digits(quarantined)} quarantined`,
    failed > 0 && html`${digits(failed)} failed`,
    error !== null && html`${error}`,
  ].filter((note) => note !== false && note !== null)
  return html`${notes.map((note, place) => html`${place > 0 && '; '}${note}`)}`
}
