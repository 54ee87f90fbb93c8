import type { ShownRun } from '../../operations/browse.ts'
import type { NumberedNotice } from '../../operations/control.ts'
import { pauseText, type RunDetail } from '../../operations/control.ts'
import { endText } from '../messages/ends.ts'
import { NOTICES, noticeText } from '../messages/notices.ts'
import { serverText } from '../messages/servers.ts'
import { mayHaveChanged } from '../../operations/undo.ts'
import { keysText } from '../messages/words.ts'
import type { NoticeCode } from '../../core/notice.ts'
import { amount, digits } from '../../base/wording.ts'
import {
  blocksSection,
  decidedSo,
  decisionsSection,
  ENTER_SENDS_NOTHING,
  questionsSection,
} from './decide.ts'
import { html, type Html, path, withQuery } from './html.ts'
import { facts, type Page } from './layout.ts'
import { isUnderWay, progressBlock } from './progress.ts'
import { whyUntouchable } from './run-of.ts'
import { blockedLink, plannedLinks, runBadge } from './runs.ts'
import { at, took } from './time.ts'

export interface RunPageParts {
  readonly run: ShownRun
  readonly changes: Html
  readonly name: Html | false
  readonly now: Date
}

export function runPage({ run, changes, name, now }: RunPageParts): Page {
  const title = `Run ${run.run} of ${run.sync}`
  const body = html`<h1>
      Run ${run.run} of <a href="${path`/syncs/${run.sync}`}"><bdi>${run.sync}</bdi></a> ${runBadge(run)}
    </h1>
    ${!isUnderWay(run) && html`<p><strong>${capitalized(endText(run))}.</strong></p>`}
    ${isUnderWay(run) && html`<section class="box" data-events="${path`/runs/${run.run}/events`}">${progressBlock(run)}</section>`}
    ${
      run.error !== null &&
      html`<section class="box bad">
        <h2>Failed</h2>
        <p>${run.error}</p>
      </section>`
    }
    ${run.paused !== null && run.directoryNow !== 'none' && html`<p class="box warn">${pauseText(run.paused)}</p>`}
    ${purpose(run)}
    ${run.configurationChange !== null && html`<p>The configuration was changed since run ${run.configurationChange.since}: ${keysText(run.configurationChange.keys)}</p>`}
    ${questionsSection(run, name)} ${decisionsSection(run)} ${blocksSection(run)}
    <section aria-labelledby="facts">
      <h2 id="facts">What it read and did</h2>
      ${factsOf(run, now)}${phases(run)}
    </section>
    ${evidenceSection(run)}
    ${
      run.lost.length > 0 &&
      html`<section>
        <h2>Does not come back</h2>
        <ul>
          ${run.lost.map((text) => html`<li>${text}</li>`)}
        </ul>
      </section>`
    }
    ${putBackForm(run, name)} ${changes} ${noticesSection(run)} ${downloads(run)}`
  return { title, body, ...renewal(run) }
}

function renewal(run: ShownRun): Pick<Page, 'refresh' | 'state'> {
  if (isUnderWay(run)) return { refresh: 10 }
  return run.questions > 0 || run.decisions.length > 0 ? { refresh: 10, state: decidedSo(run) } : {}
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

function purpose({ undo, mode }: RunDetail): Html | false {
  if (undo === null) return false
  return html`<p>
    ${mode === 'plan' ? 'Shows the' : 'The'} undo of ${Object.keys(undo.part).length > 0 && 'a part of '}<a
      href="${path`/runs/${undo.run}`}"
      >run ${undo.run}</a
    >.
  </p>`
}

function factsOf(run: RunDetail, now: Date): Html {
  const { counts } = run
  const outcomes = Object.entries(counts?.outcomes ?? {}).filter(([, count]) => count > 0)
  const blocked = blockedLink(run)
  return facts([
    ['Requested', html`${at(run.requestedAt, now)} by ${TRIGGERS[run.trigger]}`],
    ['Began', at(run.startedAt, now)],
    ['Ended', at(run.finishedAt, now)],
    counts !== null && [
      run.undo === null ? 'Read from the source' : 'Wanted',
      `${amount(counts.sourceUsers, 'user')}, ${amount(counts.sourceGroups, 'group')}`,
    ],
    counts !== null && [
      'Read from the directory',
      `${amount(counts.directoryUsers, 'user')}, ${amount(counts.directoryGroups, 'group')}`,
    ],
    counts !== null && ['Unchanged', digits(counts.unchanged)],
    counts !== null && ['Planned', plannedLinks(run)],
    blocked !== false && ['Not made', blocked],
    outcomes.length > 0 && [
      'Changes',
      outcomes.map(([state, count]) => `${digits(count)} ${state}`).join(', '),
    ],
    run.digest !== null && ['Digest of the plan', html`<span class="id">${run.digest}</span>`],
  ])
}

const TRIGGERS: Readonly<Record<RunDetail['trigger'], string>> = {
  schedule: 'the schedule',
  demand: 'an operator',
  approval: 'an approval',
}

function phases({ startedAt, readAt, applyingAt, finishedAt }: RunDetail): Html | false {
  if (startedAt === null || finishedAt === null) return false
  const [begin, end] = [Date.parse(startedAt), Date.parse(finishedAt)]
  const marks = [
    { name: 'read', from: startedAt, to: readAt ?? finishedAt },
    { name: 'plan', from: readAt, to: applyingAt ?? finishedAt },
    { name: 'apply', from: applyingAt, to: finishedAt },
  ]
  const shown = marks.flatMap(({ name, from, to }) => (from === null ? [] : [{ name, from, to }]))
  const scale = 400 / Math.max(1, end - begin)
  return html`<svg
    class="chart"
    viewBox="0 0 640 ${shown.length * 24}"
    role="img"
    aria-label="${shown.map(({ name, from, to }) => `${name}: ${took(from, to)}`).join(', ')}"
  >
    ${shown.map(({ name, from, to }, row) => {
      const x = 110 + (Date.parse(from) - begin) * scale
      const width = Math.max(2, (Date.parse(to) - Date.parse(from)) * scale)
      return html`<text x="0" y="${row * 24 + 16}" font-size="13" fill="currentColor">${name}</text
        ><rect
          class="plain"
          x="${x.toFixed(1)}"
          y="${row * 24 + 5}"
          width="${width.toFixed(1)}"
          height="14"
          rx="3"
        /><text x="${(x + width + 8).toFixed(1)}" y="${row * 24 + 16}" font-size="13" fill="currentColor"
          >${took(from, to)}</text
        >`
    })}
  </svg>`
}

function evidenceSection({ evidence, undo }: RunDetail): Html | false {
  if (evidence === null || undo !== null) return false
  const { server, unreadable, absent, seenAgain, directoryMoved } = evidence
  const gone = absent.user + absent.group
  return html`<section>
    <h2>What the reads prove</h2>
    <ul>
      ${server !== null && html`<li>Source: ${serverText(server)}.</li>`}
      ${gone === 0 && html`<li>Each entry of the directory is in the source.</li>`}
      ${gone > 0 && html`<li>Not in the source, but in the directory: ${amount(absent.user, 'user')}, ${amount(absent.group, 'group')}${seenAgain > 0 && `; ${digits(seenAgain)} of them were found by the recheck`}.</li>`}
      ${unreadable > 0 && html`<li>${amount(unreadable, 'entry')} of the source could not be understood, so nothing is deleted.</li>`}
      ${directoryMoved && html`<li>The list of the directory may be incomplete (it changed while it was read, has no total, or has entries without an id), so entries are looked up before they are created.</li>`}
    </ul>
  </section>`
}

function noticesSection({ run, counts }: RunDetail): Html | false {
  const codes = Object.entries(counts?.notices ?? {}) as [NoticeCode, number][]
  if (codes.length === 0) return false
  return html`<section>
    <h2>Notices</h2>
    <ul>
      ${codes.map(
        ([code, count]) =>
          html`<li>
            <a href="${withQuery(path`/runs/${run}/notices`, { code })}"
              >${digits(count)} <code>${code}</code></a
            >
            ${NOTICES[code].meaning} <small>${NOTICES[code].remedy}</small>
          </li>`,
      )}
    </ul>
  </section>`
}

export function noticesPage(
  { run, sync }: RunDetail,
  notices: readonly NumberedNotice[],
  { code, limit }: { readonly code: NoticeCode | undefined; readonly limit: number },
): Page {
  const shown = notices.slice(0, limit)
  const more = notices.length > limit ? shown.at(-1)!.number : undefined
  const title = `${code ?? 'Notices'} in run ${run}`
  const body = html`<h1>${title}</h1>
    <p>
      <a href="${path`/runs/${run}`}">Run ${run} of <bdi>${sync}</bdi></a
      >${code !== undefined && html`: ${NOTICES[code].meaning}. ${NOTICES[code].remedy}`}
    </p>
    <ul>
      ${shown.map((notice) => html`<li>${notice.kind} ${notice.id !== undefined && html`<a href="${withQuery(path`/syncs/${sync}/people`, { who: notice.id, kind: notice.kind })}"><bdi class="id">${notice.id}</bdi></a>`} ${code === undefined && html`<code>${notice.code}</code> `}${noticeText(notice)}</li>`)}
    </ul>
    ${more !== undefined && html`<p><a href="${withQuery(path`/runs/${run}/notices`, { code, after: more })}" rel="next">More</a></p>`}`
  return { title, body }
}

function putBackForm(run: ShownRun, name: Html | false): Html | false {
  const { mode, state, undo, counts } = run
  if (mode !== 'plan' || state !== 'planned' || undo === null) return false
  const why = whyUntouchable(run)
  if (why !== undefined) return html`<p class="box warn">${why}</p>`
  if (Object.values(counts?.planned ?? {}).every((count) => count === 0))
    return html`<p class="box warn">Nothing can be restored now: the notices below say why.</p>`
  return html`<form class="stacked box warn" method="post" action="${path`/runs/${run.run}/put-back`}">
    ${ENTER_SENDS_NOTHING}
    <p>
      This is only the plan of the undo. It pauses <bdi>${run.sync}</bdi>, because the next run would make the
      same changes again.
    </p>
    ${name}<button class="danger">Put this back and pause the sync</button>
  </form>`
}

function downloads(shown: ShownRun): Html {
  const { run, undo } = shown
  const hasChanged = undo === null && !isUnderWay(shown) && mayHaveChanged(shown)
  const canUndo = hasChanged && whyUntouchable(shown) === undefined
  return html`<section>
    <h2>Downloads</h2>
    <p class="actions">
      <a href="${path`/runs/${run}/changes.csv`}" download>Changes as CSV</a>
      <a href="${path`/runs/${run}/changes.json`}" download>Changes as JSON</a>
      <a href="${path`/runs/${run}/notices.csv`}" download>Notices as CSV</a>
      <a href="${path`/runs/${run}/notices.json`}" download>Notices as JSON</a>
      ${canUndo && html`<a href="${path`/runs/${run}/undo`}">Undo this run</a>`}
    </p>
  </section>`
}
