import type { QuarantinedChange } from '../../operations/control.ts'
import { amount, cut, digits } from '../../base/wording.ts'
import { refusalText } from '../messages/blocks.ts'
import { html, type Html, path, withQuery } from './html.ts'
import { type Page, table } from './layout.ts'
import { at } from './time.ts'

const SHOWN = 50

export interface QuarantineAsked {
  readonly sync?: string | undefined
  readonly skip?: number | undefined
}

export function quarantinePage(
  all: readonly QuarantinedChange[],
  { sync, skip = 0 }: QuarantineAsked,
  now: Date,
): Page {
  const shown = all.slice(skip, skip + SHOWN)
  const title = sync === undefined ? 'Quarantine' : `Quarantine of ${sync}`
  const rows = shown.map((each) => [
    html`<a href="${path`/syncs/${each.sync}`}"><bdi>${each.sync}</bdi></a>`,
    each.op,
    html`<a href="${withQuery(path`/syncs/${each.sync}/people`, { who: each.id, kind: each.kind })}"
      >${each.name !== null && html`<bdi>${cut(each.name)}</bdi> `}<bdi class="id">${each.id}</bdi></a
    >`,
    html`${cut(refusalText(each.refusal))}`,
    at(each.since, now),
    at(each.triedAgainAt, now),
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
        : html`${
              shown.length === 0
                ? behindEnd(all.length, { sync, skip })
                : html`${table(
                    caption(all.length, { skip, shown: shown.length }),
                    ['Sync', 'Change', 'Who', 'What the service said', 'Since', 'Tried again', 'Release'],
                    rows,
                  )}
                  ${pager(all.length, { sync, skip })}`
            }
            <form method="post" action="/quarantine/release" class="actions">
              <input type="hidden" name="all" value="yes" />
              ${sync !== undefined && html`<input type="hidden" name="sync" value="${sync}" />`}<button>
                Release all${sync !== undefined && html` of <bdi>${sync}</bdi>`}
              </button>
            </form>`
    }`
  return { title, body, refresh: 10 }
}

function caption(all: number, { skip, shown }: { readonly skip: number; readonly shown: number }): string {
  if (shown === all) return amount(all, 'change')
  return `${digits(skip + 1)} to ${digits(skip + shown)} of ${amount(all, 'change')}`
}

interface Place {
  readonly sync: string | undefined
  readonly skip: number
}

function behindEnd(all: number, { sync, skip }: Place): Html {
  const whose = sync !== undefined && html` of <bdi>${sync}</bdi>`
  return html`<p>
    The quarantine${whose} has ${amount(all, 'change')}, so there are none from number ${digits(skip + 1)} on:
    <a href="${withQuery('/quarantine', { sync })}">see the first ones</a>.
  </p>`
}

function pager(all: number, { sync, skip }: Place): Html {
  const to = (place: number) => withQuery('/quarantine', { sync, skip: place === 0 ? undefined : place })
  return html`<p class="actions">
    ${skip > 0 && html`<a href="${to(Math.max(0, skip - SHOWN))}" rel="prev">Earlier ones</a>`}
    ${skip + SHOWN < all && html`<a href="${to(skip + SHOWN)}" rel="next">Later ones</a>`}
  </p>`
}
