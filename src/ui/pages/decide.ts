import type { ShownRun } from '../../operations/browse.ts'
import { PARTS, type RunCounts, type RunDetail, type StoredBlock } from '../../operations/control.ts'
import { decisionText } from '../../operations/decision-text.ts'
import type { ShownReason } from '../../operations/shown-reasons.ts'
import { total } from '../../operations/total.ts'
import { amount } from '../../base/wording.ts'
import { inWords } from '../messages/amounts.ts'
import { BLOCKS, blockText } from '../messages/blocks.ts'
import { factsOf, needText } from '../messages/ends.ts'
import { html, type Html, path, withQuery } from './html.ts'
import { whyUntouchable } from './run-of.ts'

/**
 * Browsers press the first button of a form on Enter in a field. This one sends nothing, as there is no dialog around
 * it, so that only an explicit button sends. Disabling it would not do: on Enter in a radio button or a checkbox,
 * Chromium presses the next enabled button.
 */
export const ENTER_SENDS_NOTHING = html`<button hidden formmethod="dialog" formnovalidate></button>`

/** Changes with each decision about what the run showed: a form of an older page is refused. */
export function decidedSo({ state, questions, decisions }: RunDetail): string {
  return [state, questions, decisions.length].join(' ')
}

export function mayDecide(run: ShownRun): boolean {
  return whyUntouchable(run) === undefined && (run.reasons.length > 0 || run.state === 'held')
}

export function questionsSection(run: ShownRun, name: Html | false): Html | false {
  const open = openReasons(run)
  if (open.length === 0) return mayDecide(run) && decidedSection(run, name)
  const why = whyUntouchable(run)
  const reasons = open.length === 1 ? '' : `, for ${open.length} reasons`
  const differ = nameDifferentChanges(run, open)
  const facts = factsOf(run, (code) => open.some((reason) => reason.code === code))
  return html`<section class="box warn" aria-labelledby="questions">
    <h2 id="questions">${needText(run.open, facts, 'your approval')}${reasons}</h2>
    ${open.map((reason) => reasonText(run, reason))} ${restText(run)}
    ${why !== undefined && html`<p>${why}</p>`}
    ${
      why === undefined &&
      form(
        run,
        name,
        html`${differ && open.map((reason) => reasonButtons(run, reason))}
        ${buttons('all', run.open, { run, facts, of: differ ? ' all' : '' })}`,
      )
    }
  </section>`
}

/** Guards often object to the same changes: these are decided at once. */
function nameDifferentChanges({ open: all }: ShownRun, open: readonly ShownReason[]): boolean {
  return (
    open.length > 1 && !open.every((reason) => total(reason.open) > 0 && total(reason.open) === total(all))
  )
}

/** Decided changes, and those of a plan, can be decided, too. */
function decidedSection(run: ShownRun, name: Html | false): Html {
  return html`<details class="box">
    <summary>
      ${run.mode === 'sync' ? 'Decide again' : run.undo === null ? 'Decide before the next run' : 'Decide'}
    </summary>
    ${form(run, name, html`${run.reasons.map((reason) => reasonButtons(run, reason))}`)}
  </details>`
}

function openReasons({ reasons }: ShownRun): readonly ShownReason[] {
  return reasons.filter(({ isOpen }) => isOpen)
}

function restText({ state, counts }: RunDetail): Html | false {
  if (state !== 'held') return state === 'done' && html`<p>The rest of the plan was applied.</p>`
  const sent = (counts?.outcomes.applied ?? 0) === 0 ? 'nothing was sent' : 'only approved changes were sent'
  return html`<p>A guard stops the whole plan: ${sent}. The rest is sent when all of this is decided.</p>`
}

function form(run: ShownRun, name: Html | false, choices: Html): Html {
  return html`<form id="decide" class="stacked" method="post" action="${path`/runs/${run.run}/approve`}">
    ${ENTER_SENDS_NOTHING}<input type="hidden" name="seen" value="${decidedSo(run)}" />
    <label><span>Why (shown with the run)</span><input name="reason" maxlength="500" size="50" /></label>
    ${name} ${choices}
    <details>
      <summary>Only a part</summary>
      <fieldset>
        <legend>Changes that match both</legend>
        <p>
          ${PARTS.map((each) => html`<label><input type="checkbox" name="only" value="${each}" /> ${each}</label>`)}
        </p>
        <label
          ><span>Ids of users and groups, one a line, exactly as they are</span
          ><textarea name="ids" rows="2" cols="40"></textarea>
        </label>
        ${partButtons(run, 'Approve this part', 'Reject this part')}
      </fieldset>
    </details>
  </form>`
}

export function partButtons({ run, counts }: RunDetail, approve: string, reject: string): Html {
  return html`<p class="actions">
    <button class="${looks(counts?.blocked ?? {})}" form="decide" name="what" value="part">${approve}</button>
    <button form="decide" name="what" value="part" formaction="${path`/runs/${run}/reject`}">
      ${reject}
    </button>
  </p>`
}

function reasonText(run: ShownRun, { code }: ShownReason): Html {
  const blocks = run.blocks.filter((block) => block.code === code)
  if (blocks.length > 0) return html`${blocks.map((block) => blockItem(run, block))}`
  return html`<p><code>${code}</code> ${BLOCKS[code].meaning}</p>`
}

function reasonButtons(run: ShownRun, reason: ShownReason): Html {
  const { code, changes, open, isOpen } = reason
  const facts = factsOf(run, (each) => each === code)
  const decided = total(changes) - total(open)
  const inAll = run.reasons.reduce((sum, each) => sum + total(each.open), 0)
  const isShared = isOpen && inAll > total(run.open)
  return html`<div>
    <code>${code}</code>
    ${isShared && html`<small>what is asked for several reasons needs an approval for each</small>`}
    ${isOpen && decided > 0 && html`<small>${amount(decided, 'change')} of it ${decided === 1 ? 'is' : 'are'} decided already, and would be decided again</small>`}
    ${buttons(`code:${code}`, changes, { run, facts, of: isShared ? ' this reason to' : '' })}
  </div>`
}

interface Buttons {
  readonly run: ShownRun
  readonly facts: readonly string[]
  readonly of: string
}

function buttons(what: string, counts: RunCounts['asking'], { run, facts, of }: Buttons): Html {
  const count = total(counts)
  const does = [...(count > 0 ? [doesText(counts)] : []), ...facts.map((fact) => `accept ${fact}`)]
  const keeps =
    deletesOf(counts) === count
      ? `keep ${entriesText(counts, 'delete')}`
      : `leave out ${amount(count, 'change')}`
  return html`<p class="actions">
    <button class="${looks(counts)}" name="what" value="${what}">
      Approve${of}${!of.endsWith(' to') && ':'} ${does.join(', ')}
    </button>
    <button name="what" value="${what}" formaction="${path`/runs/${run.run}/reject`}">
      Reject${of === ' all' && of}${count > 0 && `: ${keeps}`}
    </button>
  </p>`
}

function deletesOf(counts: RunCounts['asking']): number {
  return (counts['delete-user'] ?? 0) + (counts['delete-group'] ?? 0)
}

/** Red only where entries are deleted. */
function looks(counts: RunCounts['asking']): string {
  return deletesOf(counts) > 0 ? 'danger' : 'main'
}

/** `delete 93 users and 1 group, change the members of 2 groups` */
function doesText(counts: RunCounts['asking']): string {
  const parts = (['delete', 'update', 'create'] as const).flatMap((verb) => {
    const entries = entriesText(counts, verb)
    return entries === '' ? [] : [`${verb} ${entries}`]
  })
  const members = counts['set-members'] ?? 0
  if (members > 0) parts.push(`change the members of ${amount(members, 'group')}`)
  return parts.join(', ')
}

function entriesText(counts: RunCounts['asking'], verb: 'delete' | 'update' | 'create'): string {
  const some = (['user', 'group'] as const).map((kind) => [counts[`${verb}-${kind}`] ?? 0, kind] as const)
  return inWords(some.filter(([count]) => count > 0).map(([count, kind]) => amount(count, kind)))
}

const ENDS: Readonly<Record<StoredBlock['until'], string>> = {
  decision: 'until an operator decides',
  time: 'until later',
  read: 'until a later read',
  configuration: 'by the configuration',
  service: 'until they are tried again',
}

export function blocksSection(run: ShownRun): Html | false {
  const open = new Set<string>(openReasons(run).map(({ code }) => code))
  const others = run.blocks.filter(
    ({ code, changes, asks }) => !open.has(code) && (changes > 0 || asks !== null),
  )
  if (others.length === 0) return false
  return html`<section aria-labelledby="blocks">
    <h2 id="blocks">Changes that were not made</h2>
    ${others.map((block) => blockItem(run, block))}
  </section>`
}

function blockItem({ run }: Pick<ShownRun, 'run'>, block: StoredBlock): Html {
  const { code, changes, until, stops } = block
  const to = `${withQuery(path`/runs/${run}`, { code })}#changes`
  return html`<p>
    <code>${code}</code> ${blockText(block)}
    <small
      >${changes > 0 && html`<a href="${to}">${amount(changes, 'change')}</a>, `}${stops ? 'stops the plan' : 'blocked'}
      ${ENDS[until]}</small
    >
  </p>`
}

export function decisionsSection({ decisions }: RunDetail): Html | false {
  if (decisions.length === 0) return false
  return html`<section>
    <h2>Decisions</h2>
    <ul>
      ${decisions.map(
        (decision) =>
          html`<li>
            ${decisionText(decision)}
            ${decision.started !== null && html`(applied by <a href="${path`/runs/${decision.started}`}">run ${decision.started}</a>)`}
          </li>`,
      )}
    </ul>
  </section>`
}
