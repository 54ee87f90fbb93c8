import { pauseText, waitText } from '../../operations/control.ts'
import type { SyncOverview, SyncState } from '../../operations/overview.ts'
import { amount, digits } from '../../base/wording.ts'
import { rejectionText } from '../messages/blocks.ts'
import { askedText, rejectedText } from '../messages/ends.ts'
import { html, type Html, path, withQuery } from './html.ts'
import { badge, type Page, table } from './layout.ts'
import { at, roughly } from './time.ts'

type Colour = Parameters<typeof badge>[1]

const STATES: Readonly<Record<SyncState, readonly [word: string, colour: Colour]>> = {
  ok: ['all is well', 'good'],
  doubted: ['changes blocked', 'warn'],
  rejected: ['changes rejected', 'plain'],
  new: ['not yet run', 'plain'],
  asking: ['needs approval', 'warn'],
  waiting: ['waits for the API', 'warn'],
  late: ['late', 'bad'],
  failing: ['failing', 'bad'],
  paused: ['paused', 'warn'],
}

export function stateBadge({
  state,
  quarantined,
  lastAttempt,
}: Pick<SyncOverview, 'state' | 'quarantined' | 'lastAttempt'>): Html {
  if (state === 'ok' && quarantined > 0) return badge('some refused', 'warn')
  if (state === 'new' && lastAttempt !== null) return badge('not yet succeeded', 'warn')
  return badge(...STATES[state])
}

export function overviewPage(syncs: readonly SyncOverview[], now: Date): Page {
  const wishes = syncs.flatMap(wishesOf)
  const rejected = syncs.flatMap((sync) => rejectedIn(sync) ?? [])
  const doubted = syncs.flatMap((sync) => doubtedIn(sync) ?? [])
  const body = html`<h1>Overview</h1>
    ${
      wishes.length > 0 &&
      html`<section class="box warn">
        <h2>What needs you</h2>
        <ul>
          ${wishes.map((wish) => html`<li>${wish}</li>`)}
        </ul>
      </section>`
    }
    ${wishes.length === 0 && html`<p class="${rejected.length + doubted.length === 0 && 'good'}">Nothing needs you.</p>`}
    ${boxOf('Blocked until a later read', doubted)}${boxOf('Rejected', rejected)}
    ${table(
      amount(syncs.length, 'sync'),
      COLUMNS,
      syncs.map((sync) => row(sync, now)),
    )}`
  return { title: 'Overview', body, refresh: 10 }
}

function boxOf(title: string, items: readonly Html[]): Html | false {
  if (items.length === 0) return false
  return html`<section class="box">
    <h2>${title}</h2>
    <ul>
      ${items.map((text) => html`<li>${text}</li>`)}
    </ul>
  </section>`
}

const COLUMNS = [
  'Sync',
  'State',
  'Last success',
  'Last attempt',
  'Next',
  'Source read',
  'Directory read',
  'Token',
  'Now',
]

function row(sync: SyncOverview, now: Date): readonly (Html | string)[] {
  return [
    html`<a href="${path`/syncs/${sync.sync}`}"><bdi>${sync.sync}</bdi></a>`,
    stateBadge(sync),
    at(sync.lastSuccess, now),
    at(sync.lastAttempt, now),
    nextText(sync, now),
    entries(sync.source),
    entries(sync.directory),
    sync.token === null ? '–' : `ends ${tokenText(sync.token.secondsLeft)}`,
    nowText(sync),
  ]
}

export function nextText({ next, paused }: SyncOverview, now: Date): Html {
  return paused === null ? at(next, now, 'on demand') : html`none while paused`
}

export function entries(counts: SyncOverview['source']): string {
  return counts === null ? '–' : `${amount(counts.users, 'user')}, ${amount(counts.groups, 'group')}`
}

function nowText({ underWay, pending, wait }: SyncOverview): Html {
  const parts = [
    underWay && html`<a href="${path`/runs/${underWay.run}`}">run ${underWay.run}</a> is ${underWay.state}`,
    pending > 0 && html`${amount(pending, 'change')} to send`,
    wait && html`${waitText(wait)}`,
  ].filter((part) => part !== null && part !== false)
  return parts.length === 0
    ? html`idle`
    : html`${parts.map((part, place) => html`${place > 0 && html`<br />`}${part}`)}`
}

/** The most urgent first. */
export function wishesOf(sync: SyncOverview): readonly Html[] {
  const { asking, failures, error, paused, quarantined, token, state } = sync
  const name = html`<a href="${path`/syncs/${sync.sync}`}"><bdi>${sync.sync}</bdi></a>`
  const wishes = [
    failures > 0 &&
      html`${name}: ${failures === 1 ? 'the last run' : `the last ${digits(failures)} runs`} failed:
      ${error ?? 'see its runs'}`,
    asking && html`${name}: ${askingText(asking)}`,
    paused && html`${pauseText(paused)}`,
    state === 'late' && html`${name} has not succeeded since its schedule called for it three times`,
    token?.isSoon === true && html`${name}: the access token ends ${tokenText(token.secondsLeft)}`,
    quarantined > 0 &&
      html`${name}:
        <a href="${`/quarantine?sync=${encodeURIComponent(sync.sync)}`}"
          >${amount(quarantined, 'change')} in quarantine</a
        >`,
  ]
  return wishes.filter((wish) => wish !== false && wish !== null)
}

function askingText(asking: NonNullable<SyncOverview['asking']>): Html {
  const { run, state, counts, blocks, questions, undo } = asking
  const text = askedText({ run, mode: 'sync', counts, blocks, questions, decisions: [] })
  const rest = state === 'held' ? 'the plan is stopped' : 'the rest was applied'
  return html`<a href="${path`/runs/${run}`}#questions">${text}</a
    >${undo !== null && `, an undo of run ${undo.run}`}; ${rest}`
}

export function rejectedIn({ sync, rejected }: SyncOverview): Html | null {
  if (rejected === null) return null
  const { lastRejection: last } = rejected
  const text = rejectedText(rejected) || `changes are ${rejectionText(last)}`
  return html`<a href="${path`/syncs/${sync}`}"><bdi>${sync}</bdi></a
    >: ${text} (<a href="${path`/runs/${last.run}`}">run ${last.run}</a>)`
}

/** `corp: 3 changes (removals-not-confirmed), 1 change (seen-again)` */
export function doubtedIn({ sync, doubted }: SyncOverview): Html | null {
  if (doubted === null) return null
  const { run, blocks } = doubted
  const texts = blocks.map(({ code, changes }) => `${amount(changes, 'change')} (${code})`)
  return html`<a href="${path`/syncs/${sync}`}"><bdi>${sync}</bdi></a
    >: <a href="${withQuery(path`/runs/${run}`, { state: 'blocked' })}#changes">${texts.join(', ')}</a>`
}

export function tokenText(secondsLeft: number): string {
  const left = roughly(secondsLeft)
  return left === undefined ? 'now' : `in ${left}`
}
