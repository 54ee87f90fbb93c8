import { holdBefore, type RunCounts, type RunState, type RunSummary } from '../../operations/control.ts'
import { type Op, OPS } from '../../core/plan/change.ts'
import { digits } from '../../base/wording.ts'
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
    ['Run', 'Sync', 'State', 'Asked', 'Took', 'Planned', 'Notes'],
    runs.map((run) => row(run, now)),
  )
}

function row(run: RunSummary, now: Date): readonly (Html | string)[] {
  return [
    html`<a href="${path`/runs/${run.run}`}">${run.run}</a>`,
    html`<a href="${path`/syncs/${run.sync}`}"><bdi>${run.sync}</bdi></a>`,
    runBadge(run),
    at(run.requestedAt, now),
    took(run.startedAt, run.finishedAt),
    plannedText(run),
    noteOf(run),
  ]
}

const COLOURS: Readonly<Record<RunState, Parameters<typeof badge>[1]>> = {
  waiting: 'plain',
  reading: 'plain',
  planning: 'plain',
  applying: 'plain',
  planned: 'plain',
  held: 'warn',
  done: 'good',
  failed: 'bad',
}

export function runBadge(run: Pick<RunSummary, 'state' | 'mode' | 'hold'>): Html {
  const { state, mode, hold } = run
  const shown = isHoldOver(run) ? badge(`held, then ${hold}`, 'plain') : badge(state, COLOURS[state])
  return html`${shown}${mode === 'plan' && html` <small>plan only</small>`}`
}

/** The hold of the plan has expired. */
function isHoldOver({ state, hold }: Pick<RunSummary, 'state' | 'hold'>): boolean {
  return state === 'held' && hold !== null && hold !== 'open'
}

/** `12 create-user, 3 delete-group` */
export function plannedText(run: Pick<RunSummary, 'counts' | 'breaches'>): string {
  if (run.counts === null) return ''
  const parts = plannedOps(run.counts).map(({ op, count }) => `${digits(count)} ${op}`)
  return parts.length === 0 ? nothingPlanned(run) : parts.join(', ')
}

function nothingPlanned({ breaches }: Pick<RunSummary, 'breaches'>): string {
  return breaches.some(({ changes }) => changes > 0) ? 'no changes but those that wait' : 'no changes'
}

/** As `plannedText`, with links to the changes. */
export function plannedLinks({
  run,
  counts,
  breaches,
}: Pick<RunSummary, 'run' | 'counts' | 'breaches'>): Html {
  if (counts === null) return html``
  const links = plannedOps(counts).map(
    ({ op, count }, place) =>
      html`${place > 0 && ', '}<a href="${withQuery(path`/runs/${run}`, { op })}#changes"
          >${digits(count)} ${op}</a
        >`,
  )
  return html`${links.length === 0 ? nothingPlanned({ breaches }) : links}`
}

function plannedOps({ planned }: RunCounts): readonly { readonly op: Op; readonly count: number }[] {
  return OPS.map((op) => ({ op, count: planned[op] ?? 0 })).filter(({ count }) => count > 0)
}

function noteOf(summary: RunSummary): Html {
  const { run, error, undo, approvalOf, hold, holdRun, counts, undecidedChanges } = summary
  const { quarantined = 0, failed = 0 } = counts?.outcomes ?? {}
  const held = holdRun ?? run
  const first = holdBefore(summary)
  const notes = [
    undo && html`undo of <a href="${path`/runs/${undo.run}`}">run ${undo.run}</a>`,
    approvalOf !== null && html`approved in <a href="${path`/runs/${approvalOf}`}">run ${approvalOf}</a>`,
    hold === 'open' &&
      html`<a href="${path`/runs/${held}`}"
        >${undecidedChanges > 0 && `${digits(undecidedChanges)} `}${undecidedChanges > 1 ? 'wait' : 'waits'}
        for a decision</a
      >`,
    first !== undefined && html`behind the hold of <a href="${path`/runs/${first}`}">run ${first}</a>`,
    hold !== null && hold !== 'open' && !isHoldOver(summary) && html`hold ${hold}`,
    quarantined > 0 && html`${digits(quarantined)} quarantined`,
    failed > 0 && html`${digits(failed)} failed`,
    error !== null && html`${error}`,
  ].filter((note) => note !== false && note !== null)
  return html`${notes.map((note, place) => html`${place > 0 && '; '}${note}`)}`
}
