import type { ChangeFilter, ChangePage, ShownRun } from '../../operations/browse.ts'
import {
  CHANGE_STATES,
  type ChangeView,
  FIRST_BLOCKED,
  type RunCounts,
  type RunDetail,
} from '../../operations/control.ts'
import { total } from '../../operations/total.ts'
import { keptEmailText, reasonText } from '../messages/blocks.ts'
import { DELETE_REASONS } from '../messages/deletes.ts'
import { type Change, membersDifference, type Op, OPS } from '../../core/plan/change.ts'
import { amount, cut, digits } from '../../base/wording.ts'
import { mayDecide, partButtons } from './decide.ts'
import { html, type Html, path, withQuery } from './html.ts'
import { badge, table } from './layout.ts'

export const CHANGES_SHOWN = 50

export interface ChangesAsked extends ChangeFilter {
  readonly after?: number | undefined
  readonly before?: number | undefined
}

export function changesSection(run: ShownRun, page: ChangePage, asked: ChangesAsked): Html {
  const { changes } = page
  const [first, last] = [changes.at(0), changes.at(-1)]
  const caption = `No. ${first && placeText(first)} to ${last && placeText(last)}`
  const isChoice = mayDecide(run) && changes.some(isDecidable)
  return html`<section aria-labelledby="changes">
    <h2 id="changes">Changes</h2>
    ${filterForm(run, asked)}
    ${changes.length === 0 ? html`<p>${noChanges(run, asked)}</p>` : changeTable(run.run, changes, { caption, isChoice })}
    ${isChoice && partButtons(run, 'Approve the selected', 'Reject the selected')}
    ${pager(run.run, page, asked)}
  </section>`
}

/** An approval lifts only these reasons. */
function isDecidable({ state, reasons }: ChangeView): boolean {
  return state === 'blocked' && reasons.every(({ until }) => until === 'decision' || until === 'time')
}

/** Undecided plans are deleted earlier than their runs. */
function noChanges({ run, finishedAt, counts }: RunDetail, asked: ChangesAsked): Html | string {
  const { after, before, ...filter } = asked
  if (after !== undefined || before !== undefined) {
    const first = `${withQuery(path`/runs/${run}`, { ...filter })}#changes`
    return html`There are none ${after === undefined ? 'before' : 'after'} this one; see
      <a href="${first}">the first ones</a>.`
  }
  if (Object.values(filter).some((value) => value !== undefined)) return 'No change matches.'
  const isKnown = total(counts?.planned ?? {}) + total(counts?.blocked ?? {}) > 0
  return finishedAt !== null && isKnown ? 'The changes are not kept any more.' : 'There are none.'
}

function filterForm({ run, counts, blocks }: RunDetail, { op, state, code, search }: ChangesAsked): Html {
  const { planned = {}, blocked = {}, outcomes = {} } = counts ?? {}
  const countOf = (each: Op) => (planned[each] ?? 0) + (blocked[each] ?? 0)
  const inState: RunCounts['outcomes'] = { ...outcomes, blocked: total(blocked) }
  const ops = OPS.filter((each) => countOf(each) > 0 || each === op)
  const states = CHANGE_STATES.filter((each) => (inState[each] ?? 0) > 0 || each === state)
  const codes = [...new Set(blocks.flatMap((block) => (block.changes > 0 ? [block.code] : [])))]
  return html`<form class="filters" method="get" action="${path`/runs/${run}`}#changes">
    <label
      ><span>Operation</span
      ><select name="op">
        <option value="">all</option>
        ${ops.map((each) => option(each, each === op, countOf(each)))}
      </select></label
    >
    <label
      ><span>State</span
      ><select name="state">
        <option value="">all</option>
        ${states.map((each) => option(each, each === state, inState[each]))}
      </select></label
    >
    ${
      (codes.length > 0 || code !== undefined) &&
      html`<label
        ><span>Reason</span
        ><select name="code">
          <option value="">all</option>
          ${codes.map((each) => html`<option value="${each}" ${each === code && html`selected`}>${each}</option>`)}
        </select></label
      >`
    }
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
  const { after, before, ...filter } = asked
  const to = (place: { after?: number; before?: number }) =>
    `${withQuery(path`/runs/${run}`, { ...filter, ...place })}#changes`
  const [first, last] = [changes.at(0)?.number, changes.at(-1)?.number]
  const hasEarlier = before === undefined ? after !== undefined : isMore
  const hasLater = before === undefined ? isMore : true
  return html`<p class="actions">
    ${hasEarlier && first !== undefined && html`<a href="${to({ before: first })}" rel="prev">Earlier changes</a>`}
    ${hasLater && last !== undefined && html`<a href="${to({ after: last })}" rel="next">Later changes</a>`}
  </p>`
}

interface TableOptions {
  readonly caption: string
  readonly isChoice?: boolean
  /** One change with all of its reasons; a list has them above. */
  readonly isAlone?: boolean
}

export function changeTable(
  run: number,
  changes: readonly ChangeView[],
  { caption, isChoice = false, isAlone = false }: TableOptions,
): Html {
  return table(
    caption,
    ['No.', 'Change', 'Who', 'Before', 'After', 'State'],
    changes.map((view) => {
      const change = briefly(view.change)
      return [
        html`${isChoice && isDecidable(view) && html`${choice(change)} `}<a
            href="${path`/runs/${run}/changes/${view.number}`}"
            >${placeText(view)}</a
          >`,
        html`<span class="op">${change.op}</span>`,
        whoIs(change),
        beforeIn(change),
        afterIn(change),
        outcome(view, isAlone ? blockedTexts(view).map((text) => html`${text}`) : blockedBriefly(view)),
      ]
    }),
  )
}

function choice(change: Change): Html {
  return html`<input
    type="checkbox"
    form="decide"
    name="id"
    value="${encodeURIComponent(change.id.toWellFormed())}"
    aria-label="Select ${nameOf(change) ?? change.id}"
  />`
}

/** Blocked changes are numbered far behind those of the plan. */
export function placeText({ number, state }: ChangeView): string {
  return state === 'blocked' ? `B${digits(number - FIRST_BLOCKED + 1)}` : digits(number)
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

const COLOURS: Readonly<Partial<Record<ChangeView['state'], Parameters<typeof badge>[1]>>> = {
  applied: 'good',
  found: 'good',
  already: 'good',
  missing: 'warn',
  quarantined: 'bad',
  failed: 'bad',
  dropped: 'warn',
  unknown: 'warn',
}

function outcome({ state, status, detail }: ChangeView, reasons: readonly Html[]): Html {
  const answer = status === null ? '' : ` (${status})`
  const texts = [...(detail === null ? [] : [html`${cut(detail)}`]), ...reasons]
  return html`${badge(`${state}${answer}`, COLOURS[state] ?? 'plain')}${texts.map((text) => html`<br /><small>${text}</small>`)}`
}

function blockedBriefly(view: ChangeView): readonly Html[] {
  if (view.reasons.length === 0) return blockedTexts(view).map((text) => html`${text}`)
  return view.reasons.map(
    (reason) =>
      html`<code>${reason.code}</code>${reason.facts !== null && html` ${cut(reasonText(reason))}`}`,
  )
}

export function blockedTexts({ state, reasons, keptBy }: ChangeView): readonly string[] {
  if (state !== 'blocked') return []
  const texts =
    reasons.length === 0 ? ['a guard stops the whole plan'] : reasons.map((reason) => reasonText(reason))
  return keptBy === undefined ? texts : [...texts, keptEmailText(keptBy)]
}
