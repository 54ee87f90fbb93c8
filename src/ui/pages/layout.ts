import type { Viewer } from '../http/access.ts'
import { ASSETS } from './assets.ts'
import { html, type Html } from './html.ts'

export interface Page {
  readonly title: string
  readonly body: Html
  /** In seconds. */
  readonly refresh?: number | undefined
  /**
   * Changes when the subject of a form changes. Without JavaScript, such a page is not reloaded, which would lose typed
   * text.
   */
  readonly state?: string | undefined
}

export function layout({ title, body, refresh, state }: Page, viewer: Viewer): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · dirsyncd</title>
        <link rel="icon" href="${ASSETS.icon.path}" type="image/svg+xml" />
        <link rel="stylesheet" href="${ASSETS.style.path}" />
        <script src="${ASSETS.script.path}" defer></script>
        ${refresh !== undefined && state === undefined && html`<noscript><meta http-equiv="refresh" content="${refresh}" /></noscript>`}
      </head>
      <body>
        <a class="skip" href="#main">To the content</a>
        <header>
          <nav aria-label="Pages">
            <a class="name" href="/">dirsyncd</a>
            <a href="/">Overview</a>
            <a href="/runs">Runs</a>
            <a href="/quarantine">Quarantine</a>
          </nav>
          ${viewerBox(viewer)}
        </header>
        <main
          id="main"
          tabindex="-1"
          ${refresh !== undefined && html`data-refresh="${refresh}"`}
          ${state !== undefined && html`data-state="${state}"`}
        >
          ${body}
        </main>
      </body>
    </html> `.toString()
}

function viewerBox({ user, by }: Viewer): Html | false {
  if (user === undefined) return false
  if (by !== 'session') return html`<p class="viewer"><bdi>${user}</bdi></p>`
  return html`<form class="viewer" method="post" action="/sign-out">
    <bdi>${user}</bdi> <button class="plain">Sign out</button>
  </form>`
}

/** On a phone, each cell shows the name of its column. */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly (Html | string | number)[])[],
): Html {
  return html`<div class="wide">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map((column) => html`<th scope="col">${column}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell, at) => html`<td data-label="${columns[at]}"><div>${cell}</div></td>`)}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`
}

export function facts(
  pairs: readonly (readonly [label: string, value: Html | string | number] | false)[],
): Html {
  const shown = pairs.filter((pair) => pair !== false)
  return html`<dl>
    ${shown.map(
      ([label, value]) =>
        html`<div>
          <dt>${label}</dt>
          <dd>${value}</dd>
        </div> `,
    )}
  </dl>`
}

/** The colour repeats the word. */
export function badge(word: string, kind: 'good' | 'warn' | 'bad' | 'plain'): Html {
  return html`<span class="badge ${kind}">${word}</span>`
}
