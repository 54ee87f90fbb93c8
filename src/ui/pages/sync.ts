import { pauseText, type RunSummary } from '../../operations/control.ts'
import type { SyncOverview } from '../../operations/overview.ts'
import { amount, timeTaken } from '../../base/wording.ts'
import { html, type Html, path, withQuery } from './html.ts'
import { facts, type Page } from './layout.ts'
import { doubtedIn, entries, nextText, rejectedIn, stateBadge, tokenText, wishesOf } from './overview.ts'
import { plannedText, runTable } from './runs.ts'
import { at, took } from './time.ts'

export const SYNC_RUNS = 20

export function syncPage(
  sync: SyncOverview,
  runs: readonly RunSummary[],
  name: Html | false,
  now: Date,
): Page {
  const wishes = wishesOf(sync)
  const rejected = rejectedIn(sync)
  const doubted = doubtedIn(sync)
  const body = html`<h1><bdi>${sync.sync}</bdi> ${stateBadge(sync)}</h1>
    ${
      wishes.length > 0 &&
      html`<ul class="box warn">
        ${wishes.map((wish) => html`<li>${wish}</li>`)}
      </ul>`
    }
    ${doubted !== null && html`<p class="box">Blocked until a later read: ${doubted}</p>`}
    ${rejected !== null && html`<p class="box">${rejected}</p>`}
    ${facts([
      ['Last success', at(sync.lastSuccess, now)],
      ['Last attempt', at(sync.lastAttempt, now)],
      ['Last full read', at(sync.lastFullRead, now)],
      ['Next', nextText(sync, now)],
      ['Source, as last read', entries(sync.source)],
      ['Directory, as last read', entries(sync.directory)],
      sync.token !== null && ['Access token', `ends ${tokenText(sync.token.secondsLeft)}`],
      [
        'Quarantine',
        html`<a href="${withQuery('/quarantine', { sync: sync.sync })}"
          >${amount(sync.quarantined, 'change')}</a
        >`,
      ],
    ])}
    <h2>Find a user or group</h2>
    <form method="get" action="${path`/syncs/${sync.sync}/people`}">
      <label
        ><span>Id, e-mail, name or DN of a user or group</span
        ><input type="search" name="who" required maxlength="1000" size="40"
      /></label>
      <button>Explain</button>
    </form>
    <h2>Actions</h2>
    ${actions(sync, name)}
    <h2>Runs</h2>
    ${chart(runs)} ${runTable(runs, now)}
    <p class="actions"><a href="${withQuery('/runs', { sync: sync.sync })}">All runs</a></p>`
  return { title: sync.sync, body, refresh: 10 }
}

/** For a sync that was removed from the configuration; its last runs are kept for a time. */
export function goneSyncPage(sync: string, runs: readonly RunSummary[], now: Date): Page {
  const body = html`<h1><bdi>${sync}</bdi></h1>
    <p class="box warn">
      This sync is not configured any more, so it does not run, and nothing can be decided about its runs.
    </p>
    <h2>Runs</h2>
    ${runTable(runs, now)}
    <p class="actions"><a href="${withQuery('/runs', { sync })}">All runs</a></p>`
  return { title: sync, body }
}

function actions({ sync, paused }: SyncOverview, name: Html | false): Html {
  const to = (what: string) => path`/syncs/${sync}/` + what
  return html`<div class="actions">
    <form method="post" action="${to('run')}">
      ${paused === null && html`<button class="main" name="mode" value="sync">Run now</button>`}
      <button name="mode" value="plan">Only plan</button>
    </form>
    ${
      paused === null
        ? html`<form method="post" action="${to('pause')}">
            <label><span>Why</span><input name="reason" maxlength="500" /></label>${name}<button>
              Pause
            </button>
          </form>`
        : html`<form method="post" action="${to('resume')}">
            <span>${pauseText(paused)}</span>${name}<button>Resume</button>
          </form>`
    }
  </div>`
}

function chart(runs: readonly RunSummary[]): Html | false {
  const ended = runs
    .filter(({ startedAt, finishedAt }) => startedAt !== null && finishedAt !== null)
    .toReversed()
  if (ended.length < 2) return false
  const lengths = ended.map(({ startedAt, finishedAt }) => Date.parse(finishedAt!) - Date.parse(startedAt!))
  const longest = Math.max(1, ...lengths)
  const colours = { done: 'good', held: 'warn', failed: 'bad' } as Readonly<Record<string, string>>
  return html`<svg
    class="chart"
    viewBox="0 0 640 70"
    role="img"
    aria-label="How long the last ${ended.length} runs took; the longest took ${timeTaken(longest)}"
  >
    ${ended.map((run, place) => {
      const height = Math.max(3, (Math.max(0, lengths[place]!) / longest) * 60)
      return html`<rect
        class="${colours[run.state] ?? 'plain'}"
        x="${place * 31}"
        y="${(66 - height).toFixed(1)}"
        width="24"
        height="${height.toFixed(1)}"
        rx="2"
      >
        <title>
          run ${run.run}, ${run.state}, ${took(run.startedAt, run.finishedAt)}, ${plannedText(run)}
        </title>
      </rect>`
    })}
  </svg>`
}
