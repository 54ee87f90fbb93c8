import type { ChangeFilter, ChangePage } from '../../operations/browse.ts'
import { CHANGE_STATES, type ChangeView, type RunDetail } from '../../operations/control.ts'
import { DELETE_REASONS } from '../messages/deletes.ts'
import { type Change, membersDifference, OPS } from '../../core/plan/change.ts'
import { amount, cut, digits } from '../../base/wording.ts'
import { html, type Html, path, withQuery } from './html.ts'
import { badge, table } from './layout.ts'

export const CHANGES_SHOWN = 50

export interface ChangesAsked extends ChangeFilter {
  readonly after?: number | undefined
  readonly before?: number | undefined
}

export function changesSection(run: RunDetail, page: ChangePage, asked: ChangesAsked): Html {
  const { changes } = page
  const [first, last] = [changes.at(0)?.number ?? 0, changes.at(-1)?.number ?? 0]
  const caption = `No. ${digits(first)} to ${digits(last)}`
  return html`<section aria-labelledby="changes">
    <h2 id="changes">Changes</h2>
    ${filterForm(run, asked)}
    ${changes.length === 0 ? html`<p>${noChanges(run, asked)}</p>` : changeTable(run.run, changes, caption)}
    ${pager(run.run, page, asked)}
  </section>`
}

/** Undecided plans are deleted earlier than their runs. */
function noChanges({ run, finishedAt, counts, breaches }: RunDetail, asked: ChangesAsked): Html | string {
  const { op, state, search, after, before } = asked
  if (after !== undefined || before !== undefined) {
    const first = `${withQuery(path`/runs/${run}`, { op, state, search })}#changes`
    return html`There are none ${after === undefined ? 'before' : 'after'} this one; see
      <a href="${first}">the first ones</a>.`
  }
  if (op !== undefined || state !== undefined || search !== undefined) return 'No change meets this.'
  const isPlanned = Object.values(counts?.planned ?? {}).some((count) => count > 0)
  if (finishedAt !== null && isPlanned) return 'The changes are not kept any more.'
  return breaches.some(({ changes }) => changes > 0)
    ? 'There are none but those that wait.'
    : 'There are none.'
}

function filterForm({ run, counts }: RunDetail, { op, state, search }: ChangesAsked): Html {
  const { planned = {}, outcomes = {} } = counts ?? {}
  const ops = OPS.filter((each) => (planned[each] ?? 0) > 0 || each === op)
  const states = CHANGE_STATES.filter((each) => (outcomes[each] ?? 0) > 0 || each === state)
  return html`<form class="filters" method="get" action="${path`/runs/${run}`}#changes">
    <label
      ><span>Operation</span
      ><select name="op">
        <option value="">all</option>
        ${ops.map((each) => option(each, each === op, planned[each]))}
      </select></label
    >
    <label
      ><span>State</span
      ><select name="state">
        <option value="">all</option>
        ${states.map((each) => option(each, each === state, outcomes[each]))}
      </select></label
    >
    <label
      ><span>Id, name or e-mail</span
      ><input type="search" name="search" value="${search ?? ''}" maxlength="200"
    /></label>
    <button>Show</button>
  </form>`
}

function option(value: string, isChosen: boolean, count = 0): Html {
  return html`<option value="${value}" ${isChosen && html`selected`}>${value} (${digits(count)})</option>`
}

function pager(run: number, { changes, isMore }: ChangePage, asked: ChangesAsked): Html {
  const { op, state, search, after, before } = asked
  const to = (place: { after?: number; before?: number }) =>
    `${withQuery(path`/runs/${run}`, { op, state, search, ...place })}#changes`
  const [first, last] = [changes.at(0)?.number, changes.at(-1)?.number]
  const hasEarlier = before === undefined ? after !== undefined : isMore
  const hasLater = before === undefined ? isMore : true
  return html`<p class="actions">
    ${hasEarlier && first !== undefined && html`<a href="${to({ before: first })}" rel="prev">Earlier changes</a>`}
    ${hasLater && last !== undefined && html`<a href="${to({ after: last })}" rel="next">Later changes</a>`}
  </p>`
}

export function changeTable(run: number, changes: readonly ChangeView[], caption: string): Html {
  return table(
    caption,
    ['No.', 'Change', 'Who', 'Before', 'After', 'State'],
    changes.map((view) => {
      const change = briefly(view.change)
      return [
        html`<a href="${path`/runs/${run}/changes/${view.number}`}">${view.number}</a>`,
        html`<span class="op">${change.op}</span>`,
        whoIs(change),
        beforeIn(change),
        afterIn(change),
        outcome({ ...view, detail: view.detail === null ? null : cut(view.detail) }),
      ]
    }),
  )
}

/** Values may have any length, and a list has fifty of them. */
function briefly(change: Change): Change {
  const sides = (['have', 'want'] as const).flatMap((side) => {
    const value: unknown = side in change ? change[side as keyof Change] : undefined
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? [[side, withCutTexts(value)]]
      : []
  })
  return { ...(withCutTexts(change) as Change), ...Object.fromEntries(sides) } as Change
}

function withCutTexts(of: object): object {
  return Object.fromEntries(
    Object.entries(of).map(([key, value]) => [key, typeof value === 'string' ? cut(value) : value]),
  )
}

function whoIs(change: Change): Html {
  const name = nameOf(change)
  return html`<bdi class="id">${change.id}</bdi>${name !== undefined && html`<br /><bdi>${name}</bdi>`}`
}

function nameOf(change: Change): string | undefined {
  if (change.op === 'set-members') return change.name
  const { name } = 'have' in change ? change.have : change.want
  return name ?? undefined
}

function beforeIn(change: Change): Html {
  switch (change.op) {
    case 'create-user':
    case 'create-group':
      return html`not there`
    case 'delete-group':
      return html`<bdi>${change.have.name}</bdi>, ${amount(change.have.members.length, 'member')}`
    case 'update-user':
      return values(change.have, Object.keys(change.want))
    case 'delete-user':
    case 'update-group':
      return values(change.have)
    case 'set-members':
      return html`${amount(change.have.length, 'member')}`
  }
}

function afterIn(change: Change): Html {
  switch (change.op) {
    case 'delete-user':
    case 'delete-group': {
      const newId = change.op === 'delete-user' ? change.newId : undefined
      return html`deleted:
      ${DELETE_REASONS[change.why]}${newId !== undefined && html`; created again as <bdi class="id">${newId}</bdi>`}`
    }
    case 'set-members': {
      const { added, removed } = membersDifference(change)
      return html`${amount(change.want.length, 'member')}: ${digits(added.length)} added,
      ${digits(removed.length)} removed`
    }
    case 'create-user':
    case 'create-group':
    case 'update-user':
    case 'update-group':
      return html`${values(change.want)}${takenFrom(change)}`
  }
}

/** A changed id is a delete and a create; an e-mail may come from another user. */
function takenFrom(change: Change): Html | false {
  if (change.op === 'create-user' && change.oldId !== undefined)
    return html`<br /><small>was <bdi class="id">${change.oldId}</bdi> before</small>`
  if ('takes' in change && change.takes !== undefined)
    return html`<br /><small>gets the e-mail of <bdi class="id">${change.takes.from}</bdi></small>`
  return false
}

type Values = Readonly<Partial<Record<'name' | 'email' | 'employeeId', string | null>>>

const LABELS = { name: 'name', email: 'e-mail', employeeId: 'employee id' } as const

function values(side: Values, only?: readonly string[]): Html {
  const fields = (['name', 'email', 'employeeId'] as const).filter(
    (field) => side[field] !== undefined && (only?.includes(field) ?? true),
  )
  return html`${fields.map(
    (field, place) =>
      html`${place > 0 && html`<br />`}<small>${LABELS[field]}</small>
        ${side[field] === null ? 'none' : html`<bdi>${side[field]}</bdi>`}`,
  )}`
}

const COLOURS: Readonly<Record<ChangeView['state'], Parameters<typeof badge>[1]>> = {
  pending: 'plain',
  applied: 'good',
  found: 'good',
  already: 'good',
  missing: 'warn',
  quarantined: 'bad',
  failed: 'bad',
  dropped: 'warn',
  unknown: 'warn',
}

function outcome({ state, status, detail }: ChangeView): Html {
  const answer = status === null ? '' : ` (${status})`
  return html`${badge(`${state}${answer}`, COLOURS[state])}${detail !== null && html`<br /><small>${detail}</small>`}`
}
