import type { ShownRun } from '../../operations/browse.ts'
import { PARTS } from '../../operations/control.ts'
import { html, type Html, path } from './html.ts'
import type { Page } from './layout.ts'
import { whyUntouchable } from './run-of.ts'

/** The answer is a plan that is shown first. */
export function undoPage(shown: ShownRun, name: Html | false): Page {
  const { run, sync } = shown
  const title = `Undo run ${run}`
  const why = whyUntouchable(shown)
  if (why !== undefined)
    return {
      title,
      body: html`<h1>${title}</h1>
        <p class="box warn">${why}</p>
        <p><a href="${path`/runs/${run}`}">Run ${run}</a></p>`,
    }
  const body = html`<h1>${title}</h1>
    <p>
      What <a href="${path`/runs/${run}`}">run ${run}</a> of <bdi>${sync}</bdi> created is deleted, what it
      deleted is created, and what it changed is as before. Later changes of others stay. You see the plan
      first; nothing is changed before you confirm it.
    </p>
    <form class="stacked" method="post" action="${path`/runs/${run}/undo`}">
      <fieldset>
        <legend>Only a part of it (all of it where nothing is chosen)</legend>
        <p>
          ${PARTS.map((each) => html`<label><input type="checkbox" name="names" value="${each}" /> ${each}</label>`)}
          <label><input type="checkbox" name="kinds" value="user" /> of users</label>
          <label><input type="checkbox" name="kinds" value="group" /> of groups</label>
        </p>
        <label
          ><span>Ids, one a line, exactly as they are</span
          ><textarea name="ids" rows="2" cols="40"></textarea>
        </label>
      </fieldset>
      ${name}<button class="main">Show the plan</button>
    </form>`
  return { title, body }
}
