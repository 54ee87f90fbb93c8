import type { Explanation, Several } from '../../operations/story.ts'
import { storyParts } from '../messages/explain/story-parts.ts'
import { judgementOf } from '../messages/explain/verdict.ts'
import { amount } from '../../base/wording.ts'
import { html, type Html, path, withQuery } from './html.ts'
import { type Page, table } from './layout.ts'

const SHOWN = 50

export function peoplePage(explanation: Explanation): Page {
  const { sync, who, result } = explanation
  const title = result === 'one' ? (explanation.name ?? explanation.id ?? who) : who
  const body = html`<h1><bdi>${title}</bdi></h1>
    <p>
      <a href="${path`/syncs/${sync}`}"><bdi>${sync}</bdi></a>
    </p>
    ${result === 'several' ? several(explanation) : story(explanation)}
    <form method="get" action="${path`/syncs/${sync}/people`}">
      <label
        ><span>Id, e-mail, name or DN of a user or group</span
        ><input type="search" name="who" value="${who}" required maxlength="1000" size="40"
      /></label>
      <button>Explain</button>
    </form>`
  return { title, body }
}

function story(explanation: Exclude<Explanation, Several>): Html {
  const { verdict, next, todo } = judgementOf(explanation)
  return html`<p class="box"><strong>${verdict.sentence}</strong></p>
    ${explanation.result === 'one' && parts(explanation)} ${next !== null && html`<p>${next}</p>`}
    ${todo !== null && html`<p>${todo}</p>`}`
}

function parts(explanation: Parameters<typeof storyParts>[0]): Html {
  const rows = storyParts(explanation).map(({ label, texts }) => [
    html`${label}`,
    html`${texts.map((text) => html`<div><bdi>${text}</bdi></div>`)}`,
  ])
  return table('From the source to the directory', ['Where', 'What it says'], rows)
}

function several({ sync, matches }: Several): Html {
  const shown = matches.slice(0, SHOWN)
  const rows = shown.map(({ kind, id, name, email, from }) => [
    kind,
    html`<a href="${withQuery(path`/syncs/${sync}/people`, { who: id ?? from, kind })}"
      ><bdi class="id">${id ?? 'no id'}</bdi></a
    >`,
    html`<bdi>${name ?? '–'}</bdi>`,
    html`<bdi>${email ?? '–'}</bdi>`,
    html`<bdi>${from}</bdi>`,
  ])
  const more = matches.length - shown.length
  return html`${table(`${amount(matches.length, 'entry')} may be meant${more > 0 ? `; the first ${SHOWN} are shown` : ''}`, ['Kind', 'Id', 'Name', 'E-mail', 'Where'], rows)}`
}
