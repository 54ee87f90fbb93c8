import type { RunSummary } from '../../control/control.ts'
import { partChoices } from './decide.ts'
import { html, type Html, path } from './html.ts'
import type { Page } from './layout.ts'

/** Asks what of a run is to be put back; the answer is a plan that shows it first. */
export function undoPage({ run, sync }: RunSummary, name: Html): Page {
  const title = `Undo run ${run}`
  const body = html`<h1>${title}</h1>
    <p>
      What <a href="${path`/runs/${run}`}">run ${run}</a> of <bdi>${sync}</bdi> created is deleted, what it
      deleted is created, and what it changed is as before. Whatever others changed since stays. First you see
      the plan; nothing is changed before you say so.
    </p>
    <form class="stacked" method="post" action="${path`/runs/${run}/undo`}">
      <fieldset>
        <legend>Only a part of it (all of it where nothing is chosen)</legend>
        ${partChoices()}
      </fieldset>
      ${name}<button class="main">Show the plan</button>
    </form>`
  return { title, body }
}
