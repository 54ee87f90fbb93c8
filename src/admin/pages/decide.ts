import type { ShownRun } from '../../control/browse.ts'
import { holdBefore, PART_NAMES, type RunDetail } from '../../control/control.ts'
import { undecided } from '../../plan/decide.ts'
import { amount, digits } from '../../directory/wording.ts'
import { html, type Html, path } from './html.ts'
import { at } from './time.ts'
import { whyUntouchable } from './run-of.ts'
import { plannedLinks } from './runs.ts'

/** What holds a run or some of its changes, and the form in which a person decides. */
export function holdSection(run: ShownRun, name: Html, now: Date): Html | false {
  const { breaches, hold } = run
  if (breaches.length === 0) return false
  return html`<section class="box ${hold === 'open' && 'warn'}" aria-labelledby="hold">
    <h2 id="hold">${titleOf(run)}</h2>
    <ul>
      ${breaches.map(({ guard, detail, decided, changes }) => html`<li><code>${guard}</code> ${detail} <small>${amount(changes, 'change')}${decided !== undefined && `, ${decided}`}</small></li>`)}
    </ul>
    ${whatToDo(run, name, now)}
  </section>`
}

function whatToDo(run: ShownRun, name: Html, now: Date): Html | false {
  const { hold, holdExpiresAt } = run
  const why = whyUntouchable(run)
  if (why !== undefined) return (hold === 'open' || hold === 'rejected') && html`<p>${why}</p>`
  const isOpen = hold === 'open' && (run.holdRun ?? run.run) === run.run
  return html`${whereToDecide(run)}
  ${holdExpiresAt !== null && hold === 'open' && html`<p>It expires at ${at(holdExpiresAt, now)}; then the next run asks again.</p>`}
  ${isOpen && decisionForm(run, name)}
  ${hold === 'rejected' && html`<p>To overrule the rejection: <code>dirsyncd approve ${run.run}</code></p>`}`
}

function titleOf({ mode, hold, breaches }: RunDetail): string {
  if (mode === 'plan') return 'A sync would be held'
  if (hold === 'open')
    return breaches.every(({ waitsFor }) => waitsFor !== undefined)
      ? 'Not proved, so it waits for a person'
      : 'Held until a person decides'
  return hold === null ? 'Guards and findings' : `Guards and findings: ${hold}`
}

function whereToDecide(run: RunDetail): Html | false {
  const first = holdBefore(run)
  if (first !== undefined)
    return html`<p>
      The hold of <a href="${path`/runs/${first}`}">run ${first}</a> is of the whole sync and comes first.
    </p>`
  const { holdRun } = run
  if (holdRun === null || holdRun === run.run) return false
  return html`<p>
    The same is held in <a href="${path`/runs/${holdRun}`}">run ${holdRun}</a>: decide there.
  </p>`
}

function decisionForm(run: RunDetail, name: Html): Html {
  const waiting = undecided(run.state, run.breaches).filter(({ changes }) => changes > 0)
  const names = [...new Set(waiting.map(({ guard }) => guard))]
  const isPlan = run.state === 'held'
  return html`<form class="stacked" method="post" action="${path`/runs/${run.run}/approve`}">
    ${isPlan && html`<p>The plan: ${plannedLinks(run)}. ${othersWait(run)}</p>`}
    <fieldset>
      <legend>Decide on</legend>
      <label
        ><input type="radio" name="what" value="all" checked /> all that waits
        (${amount(run.undecidedChanges, 'change')})</label
      >
      ${names.length > 1 && names.map((each) => html`<label><input type="radio" name="what" value="only:${each}" /> only <code>${each}</code></label>`)}
      ${isPlan && run.undo === null && partFields()}
    </fieldset>
    <label
      ><span>Why (anybody who looks at the run later reads it)</span
      ><input name="reason" maxlength="500" size="50"
    /></label>
    ${name}
    <p class="actions">
      <button class="main">Approve</button>
      <button class="danger" formaction="${path`/runs/${run.run}/reject`}">Reject</button>
    </p>
  </form>`
}

/** A plan is sent as a whole, so what no guard holds waits with the rest. */
function othersWait({ counts, undecidedChanges }: RunDetail): string {
  const all = Object.values(counts?.planned ?? {}).reduce((sum, count) => sum + count, 0)
  const others = all - undecidedChanges
  if (others <= 0) return 'Nothing of it has been sent.'
  return `Nothing of it has been sent: the guards hold ${digits(undecidedChanges)} of these changes, and the other ${digits(others)} wait with them. Approved, all of it is sent; rejected, the next run sends the others only.`
}

/** Left empty, a choice chooses all. */
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

function partFields(): Html {
  return html`<label
      ><input type="radio" name="what" value="part" /> only a part of the plan, to approve it; the rest waits
      on</label
    >
    <details>
      <summary>Which part</summary>
      ${partChoices()}
    </details>`
}

/** Who decided what, when and why. */
export function decisionsSection({ decisions }: RunDetail, now: Date): Html | false {
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
  </section>`
}
