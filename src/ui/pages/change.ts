import type { ChangeView, RunSummary } from '../../operations/control.ts'
import { type ChangeOf, kindOf, membersDifference } from '../../core/plan/change.ts'
import { amount, digits } from '../../base/wording.ts'
import { changeTable, placeText } from './changes.ts'
import { html, type Html, path, withQuery } from './html.ts'
import type { Page } from './layout.ts'

/** Downloads have all member ids. */
const NAMED = 1000

export function changePage(run: RunSummary, view: ChangeView): Page {
  const { change } = view
  const title = `Change ${placeText(view)} of run ${run.run}`
  const story = withQuery(path`/syncs/${run.sync}/people`, { who: change.id, kind: kindOf(change.op) })
  const body = html`<h1>${title}</h1>
    <p>
      <a href="${path`/runs/${run.run}`}">Run ${run.run} of <bdi>${run.sync}</bdi></a>
    </p>
    ${changeTable(run.run, [view], { caption: change.op, isAlone: true })}
    ${change.op === 'set-members' && membersLists(change)}
    ${change.op === 'delete-user' && idList('Leaves these groups', change.have.groups)}
    ${change.op === 'delete-group' && idList('Its members', change.have.members)}
    <p class="actions">
      <a href="${story}">Why the directory has this ${kindOf(change.op)} as it has it</a>
    </p>`
  return { title, body }
}

function membersLists(change: ChangeOf<'set-members'>): Html {
  const { added, removed } = membersDifference(change)
  return html`${idList('Added', added)}${idList('Removed', removed)}`
}

function idList(title: string, ids: readonly string[]): Html | false {
  if (ids.length === 0) return false
  const shown = ids.slice(0, NAMED)
  const more = ids.length - shown.length
  return html`<section class="box">
    <h2>${title} (${digits(ids.length)})</h2>
    <ul>
      ${shown.map((id) => html`<li><bdi class="id">${id}</bdi></li>`)}
    </ul>
    ${more > 0 && html`<p>… and ${amount(more, 'other')}; the download of the run has all.</p>`}
  </section>`
}
