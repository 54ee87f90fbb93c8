import type { QuarantinedChange } from '../../control/control.ts'
import { amount } from '../../directory/wording.ts'
import { html, path, withQuery } from './html.ts'
import { type Page, table } from './layout.ts'
import { at } from './time.ts'

/** How many entries in quarantine the page shows. */
const SHOWN = 500

export function quarantinePage(all: readonly QuarantinedChange[], sync: string | undefined, now: Date): Page {
  const shown = all.slice(0, SHOWN)
  const title = sync === undefined ? 'Quarantine' : `Quarantine of ${sync}`
  const rows = shown.map((each) => [
    html`<a href="${path`/syncs/${each.sync}`}"><bdi>${each.sync}</bdi></a>`,
    each.op ?? 'change of an older version',
    each.id === null
      ? html`–`
      : html`<a
          href="${withQuery(path`/syncs/${each.sync}/people`, { who: each.id, kind: each.kind ?? undefined })}"
          ><bdi class="id">${each.id}</bdi></a
        >`,
    html`${each.detail}`,
    at(each.since, now),
    at(each.triedAgainAt, now),
    each.id !== null &&
      html`<form method="post" action="/quarantine/release">
        <input type="hidden" name="sync" value="${each.sync}" /><input
          type="hidden"
          name="kind"
          value="${each.kind}"
        /><input type="hidden" name="id" value="${encodeURIComponent(each.id.toWellFormed())}" /><button>
          Release
        </button>
      </form>`,
  ])
  const body = html`<h1>${title}</h1>
    <p>
      What the service refused for its own content. It is tried again when it changes, once a day, or when it
      is released.
    </p>
    ${
      all.length === 0
        ? html`<p class="good">There is nothing in quarantine.</p>`
        : html`${table(
              `${amount(all.length, 'change')}${all.length > SHOWN ? `; the first ${SHOWN} are shown` : ''}`,
              ['Sync', 'Change', 'Who', 'What the service said', 'Since', 'Tried again', 'Release'],
              rows.map((cells) => cells.map((cell) => (cell === false ? html`` : cell))),
            )}
            <form method="post" action="/quarantine/release" class="actions">
              ${sync !== undefined && html`<input type="hidden" name="sync" value="${sync}" />`}<button>
                Release all${sync !== undefined && html` of <bdi>${sync}</bdi>`}
              </button>
            </form>`
    }`
  return { title, body }
}
