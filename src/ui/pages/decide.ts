import type { ShownRun } from '../../operations/browse.ts'
import { holdBefore, PART_NAMES, type RunDetail } from '../../operations/control.ts'
import { findingsOf, guardsOf, type Titled } from '../../operations/held-by.ts'
import { total } from '../../operations/total.ts'
import { undecided } from '../../core/plan/decide.ts'
import { amount, digits } from '../../base/wording.ts'
import { blockText } from '../messages/blocks.ts'
import { html, type Html, path } from './html.ts'
import { at } from './time.ts'
import { whyUntouchable } from './run-of.ts'
import { plannedLinks } from './runs.ts'

/**
 * Browsers press the first button of a form on Enter in a field. This one sends nothing, as there is no dialog around
 * it, so that only an explicit button sends. Disabling it would not do: on Enter in a radio button or a checkbox,
 * Chromium presses the next enabled button.
 */
export const ENTER_SENDS_NOTHING = html`<button hidden formmethod="dialog" formnovalidate></button>`

export function holdSections(run: ShownRun, name: Html | false, now: Date): Html {
  const [guards, findings] = [guardsOf(run), findingsOf(run)]
  const decision = whatToDo(run, name, now)
  const isOpen = run.hold === 'open'
  const isOfPlan = run.state === 'held' || findings.breaches.length === 0
  return html`${breachSection('guards', guards, { isOpen: isOpen && isOfPlan, decision: isOfPlan && decision })}
  ${breachSection('findings', findings, { isOpen: isOpen && !isOfPlan, decision: !isOfPlan && decision })}`
}

function breachSection(
  id: string,
  { title, breaches }: Titled,
  { isOpen, decision }: { readonly isOpen: boolean; readonly decision: Html | false },
): Html | false {
  if (breaches.length === 0) return false
  return html`<section class="box ${isOpen && 'warn'}" aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    <ul>
      ${breaches.map((breach) => html`<li><code>${breach.code}</code> ${blockText(breach)} <small>${amount(breach.changes, 'change')}${breach.decided !== undefined && `, ${breach.decided}`}</small></li>`)}
    </ul>
    ${decision}
  </section>`
}

function whatToDo(run: ShownRun, name: Html | false, now: Date): Html | false {
  const { hold, holdExpiresAt } = run
  const why = whyUntouchable(run)
  if (why !== undefined) return (hold === 'open' || hold === 'rejected') && html`<p>${why}</p>`
  const isOwn = (run.holdRun ?? run.run) === run.run
  return html`${whereToDecide(run)}
  ${holdExpiresAt !== null && hold === 'open' && html`<p>It expires at ${at(holdExpiresAt, now)}; then ${asksAgain(run)} asks again.</p>`}
  ${isOwn && hold === 'open' && decisionForm(run, name)}
  ${isOwn && hold === 'rejected' && overruleForm(run, name)}
  ${run.approvedWaiting > 0 && takeBackForm(run, name)}`
}

/** Where the hold belongs to another run, or is over. */
function whereToDecide(run: ShownRun): Html | false {
  const { hold, holdRun, openHold } = run
  const first = holdBefore(run)
  if (first !== undefined && first === openHold)
    return html`<p>The hold of ${runLink(first)} is of the whole sync and comes first.</p>`
  if (holdRun !== null && holdRun !== run.run && hold === null)
    return html`<p>The same is held in ${runLink(holdRun)}: decide there.</p>`
  const what =
    first !== undefined
      ? html`The hold of ${runLink(first)} was of the whole sync and came first.`
      : holdRun !== null && holdRun !== run.run
        ? html`The same was held in ${runLink(holdRun)}.`
        : hold !== null && (run.undo === null ? ENDS : UNDO_ENDS)[hold]
  if (what === undefined || what === false) return false
  const now = openHold !== null && html`What waits now is held in ${runLink(openHold)}.`
  return html`<p>${what} ${now}</p>`
}

function runLink(run: number): Html {
  return html`<a href="${path`/runs/${run}`}">run ${run}</a>`
}

/** The next run only follows the source, so it does not ask about an undo. */
function asksAgain({ undo }: RunDetail): Html {
  return undo === null ? html`the next run` : html`only a new undo of ${runLink(undo.run)}`
}

type Ends = Partial<Record<NonNullable<RunDetail['hold']>, string>>

const ENDS: Ends = {
  replaced: 'A newer run held something else, so nobody can decide here any more.',
  closed: 'A newer run had nothing to hold.',
  expired: 'Nobody decided in time; the next run holds again what is still to be decided.',
}
const ENDED = 'A later run ended this undo, so nothing of it was put back.'
const UNDO_ENDS: Ends = {
  replaced: ENDED,
  closed: ENDED,
  expired: 'Nobody decided in time, so nothing was put back.',
}

function decisionForm(run: RunDetail, name: Html | false): Html {
  const waiting = undecided(run.state, run.breaches).filter(({ changes }) => changes > 0)
  return html`<form class="stacked" method="post" action="${path`/runs/${run.run}/approve`}">
    ${ENTER_SENDS_NOTHING}
    ${run.state === 'held' && html`<p>The plan: ${plannedLinks(run)}. ${othersWait(run)}</p>`}
    ${choiceFields(run, allThatWaits(run), waiting)} ${reasonField()} ${name}
    <p class="actions">
      <button class="main">Approve</button>
      <button class="danger" formaction="${path`/runs/${run.run}/reject`}">Reject</button>
    </p>
  </form>`
}

/** What was rejected may still be approved. */
function overruleForm(run: RunDetail, name: Html | false): Html {
  const rejected = run.breaches.filter(({ decided }) => decided === 'rejected')
  return html`<form class="stacked" method="post" action="${path`/runs/${run.run}/approve`}">
    ${ENTER_SENDS_NOTHING}
    <p>
      It was rejected, ${run.undo === null ? 'and is left alone until it changes' : 'so nothing is put back'}.
      Whoever approves it overrules that.
    </p>
    <input type="hidden" name="seen" value="rejected" />
    ${choiceFields(run, 'all that was rejected', rejected)} ${reasonField()} ${name}
    <p class="actions"><button class="danger">Approve all the same</button></p>
  </form>`
}

/** What was approved may be rejected until it is applied. */
function takeBackForm(run: RunDetail, name: Html | false): Html {
  const waits = amount(run.approvedWaiting, 'change')
  return html`<form class="stacked" method="post" action="${path`/runs/${run.run}/reject`}">
    ${ENTER_SENDS_NOTHING}
    <p>
      It was approved, and ${waits} of it ${run.approvedWaiting === 1 ? 'is' : 'are'} not applied yet: the
      next run does that. Whoever rejects it takes that back.
    </p>
    <input type="hidden" name="seen" value="approved" /><input type="hidden" name="what" value="all" />
    ${reasonField()} ${name}
    <p class="actions"><button class="danger">Reject what is not applied yet</button></p>
  </form>`
}

function choiceFields(run: RunDetail, all: string, breaches: RunDetail['breaches']): Html {
  const names = [...new Set(breaches.map(({ code }) => code))]
  return html`<fieldset>
    <legend>Decide on</legend>
    <label><input type="radio" name="what" value="all" checked /> ${all}</label>
    ${names.length > 1 && run.undo === null && names.map((each) => html`<label><input type="radio" name="what" value="only:${each}" /> only <code>${each}</code></label>`)}
    ${run.state === 'held' && run.undo === null && partFields(run.hold === 'rejected' ? 'stays rejected' : 'waits on')}
  </fieldset>`
}

function reasonField(): Html {
  return html`<label
    ><span>Why (anybody who looks at the run later reads it)</span
    ><input name="reason" maxlength="500" size="50"
  /></label>`
}

/** With the number of changes that an approval sends, where it is known. */
function allThatWaits(run: RunDetail): string {
  if (run.state !== 'held' && run.undecidedChanges === 0) return 'the state of this server'
  if (run.state !== 'held') return `all that waits (${amount(run.undecidedChanges, 'change')})`
  return isRejectedInPart(run)
    ? 'all that still waits'
    : `the whole plan (${amount(total(run.counts?.planned ?? {}), 'change')})`
}

/** A plan is sent as a whole, so changes that no guard holds wait too. An undo is also rejected as a whole. */
function othersWait(run: RunDetail): string {
  const nothing = 'Nothing of it has been sent'
  if (run.undo !== null) return `${nothing}. Approved, all of it is sent; rejected, nothing of it is.`
  if (isRejectedInPart(run))
    return `${nothing}. Approved, all of it is sent but what was rejected; rejected, what waits is left out, too.`
  const others = total(run.counts?.planned ?? {}) - run.undecidedChanges
  if (others <= 0) return `${nothing}.`
  return `${nothing}: the guards hold ${digits(run.undecidedChanges)} of these changes, and the other ${digits(others)} ${others === 1 ? 'waits' : 'wait'} with them. Approved, all of it is sent; rejected, the next run sends of the others what does not depend on these.`
}

function isRejectedInPart({ breaches }: RunDetail): boolean {
  return breaches.some(({ decided }) => decided === 'rejected')
}

/** An empty choice means all. */
export function partChoices(): Html {
  return html`<p>
      ${PART_NAMES.map((each) => html`<label><input type="checkbox" name="names" value="${each}" /> ${each}</label>`)}
      <label><input type="checkbox" name="kinds" value="user" /> of users</label>
      <label><input type="checkbox" name="kinds" value="group" /> of groups</label>
    </p>
    <label
      ><span>Ids, one a line, exactly as they are</span><textarea name="ids" rows="2" cols="40"></textarea>
    </label>`
}

function partFields(rest: string): Html {
  return html`<label
      ><input type="radio" name="what" value="part" /> only a part of the plan, to approve it; the rest
      ${rest}</label
    >
    <details>
      <summary>Which part</summary>
      ${partChoices()}
    </details>`
}

export function decisionsSection({ decisions, approvalRuns }: RunDetail, now: Date): Html | false {
  if (decisions.length === 0) return false
  return html`<section>
    <h2>Decisions</h2>
    <ul>
      ${decisions.map(({ decision, by, at: time, reason, only, part }) => {
        const what =
          part === undefined
            ? (only ?? [])
            : [...(part.names ?? []), ...(part.kinds ?? []), ...(part.ids ?? [])]
        return html`<li>
          ${decision} by <bdi>${by}</bdi>,
          ${at(time, now)}${what.length > 0 && html` (${what.length > 20 ? digits(what.length) : what.join(', ')})`}${reason !== undefined && html`: <q>${reason}</q>`}
        </li>`
      })}
    </ul>
    ${
      approvalRuns.length > 0 &&
      html`<p>
        The approval began ${approvalRuns.map((run) => html` <a href="${path`/runs/${run}`}">run ${run}</a>`)}
      </p>`
    }
  </section>`
}
