import type { Explanation, Match, Several, Story } from '../../../operations/story.ts'
import { quoted } from '../../messages/explain/part.ts'
import { storyParts } from '../../messages/explain/story-parts.ts'
import { judgementOf } from '../../messages/explain/verdict.ts'
import { amount, digits } from '../../../base/wording.ts'
import { printable } from '../../../base/printable.ts'
import { renderTable } from '../../../base/terminal/table.ts'
import { fold, hang, wrap } from '../../../base/terminal/wrap.ts'

type Columns = number | undefined

export function renderExplanation(explanation: Explanation, columns: Columns): string[] {
  if (explanation.result === 'several') return renderSeveral(explanation, columns)
  const { verdict, next, todo } = judgementOf(explanation)
  const end = [next, todo].filter((sentence) => sentence !== null)
  return [
    ...wrap(printable(verdict.sentence), columns),
    '',
    ...(explanation.result === 'one' ? [...storyLines(explanation, columns), ''] : []),
    ...end.flatMap((sentence) => wrap(printable(sentence), columns)),
  ]
}

const SHOWN_MATCHES = 20

function renderSeveral({ sync, who, matches }: Several, columns: Columns): string[] {
  const rows = matches.slice(0, SHOWN_MATCHES).map(cellsOf)
  const more = matches.length - rows.length
  const ids = new Set(matches.map(({ id, from }) => id ?? from))
  const withId = matches.find(({ id }) => id !== null)
  const choice = quoted(withId?.id ?? matches[0]?.from ?? '')
  const column = withId === undefined ? 'FROM' : 'ID'
  return [
    ...wrap(`${amount(matches.length, 'entry')} of ${sync} may be meant by "${printable(who)}":`, columns),
    '',
    ...fold(renderTable(['KIND', 'ID', 'NAME', 'E-MAIL', 'FROM'], rows), columns),
    ...(more > 0 ? [`… and ${digits(more)} more`] : []),
    '',
    ...wrap(`Choose one by its ${column}: dirsyncd explain ${sync} ${printable(choice)}`, columns),
    ...(ids.size < matches.length
      ? wrap('Add --kind where a user and a group have the same ID.', columns)
      : []),
  ]
}

function cellsOf({ kind, id, name, email, from }: Match): string[] {
  return [kind, ...[id, name, email, from].map((text) => printable(text ?? '-'))]
}

function storyLines(story: Story, columns: Columns): string[] {
  return storyParts(story).flatMap(({ label, texts }) =>
    texts.flatMap((text, at) => hang(`  ${(at === 0 ? label : '').padEnd(WIDTH)}`, printable(text), columns)),
  )
}

const WIDTH = 'employee id  '.length
