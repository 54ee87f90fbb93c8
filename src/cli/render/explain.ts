import type {
  Explanation,
  FieldTrace,
  FoundEntry,
  JournalEntry,
  Match,
  Several,
  Story,
} from '../../control/story.ts'
import { amount, digits, pointInTime } from '../../directory/wording.ts'
import type { Op } from '../../plan/change.ts'
import { printable } from '../../printable.ts'
import { renderTable } from './table.ts'
import { fold, hang, wrap } from './wrap.ts'

type Columns = number | undefined

/** The story of one entry for people, or whom they may mean; `columns` is the width of the terminal. */
export function renderExplanation(explanation: Explanation, columns: Columns): string[] {
  if (explanation.result === 'several') return renderSeveral(explanation, columns)
  const { verdict, todo } = explanation
  const isOne = explanation.result === 'one'
  const end = [isOne ? explanation.next : null, todo].filter((sentence) => sentence !== null)
  return [
    ...wrap(printable(verdict.sentence), columns),
    '',
    ...(isOne ? [...storyLines(explanation, columns), ''] : []),
    ...end.flatMap((sentence) => wrap(printable(sentence), columns)),
  ]
}

const SHOWN_MATCHES = 20

function renderSeveral({ sync, who, matches }: Several, columns: Columns): string[] {
  const rows = matches.slice(0, SHOWN_MATCHES).map(cellsOf)
  const more = matches.length - rows.length
  const some = matches.find(({ id }) => id !== null)
  const choice = some === undefined ? matches[0]!.from : some.id
  return [
    ...wrap(`${amount(matches.length, 'entry')} of ${sync} may be meant by "${printable(who)}":`, columns),
    '',
    ...fold(renderTable(['KIND', 'ID', 'NAME', 'E-MAIL', 'FROM'], rows), columns),
    ...(more > 0 ? [`… and ${digits(more)} more`] : []),
    '',
    ...wrap(
      `Choose one by its ID, such as: dirsyncd explain ${sync} ${printable(choice ?? '')}. If a user and a group have the same ID, add --kind.`,
      columns,
    ),
  ]
}

function cellsOf({ kind, id, name, email, from }: Match): string[] {
  return [kind, ...[id, name, email, from].map((text) => printable(text ?? '-'))]
}

function storyLines(story: Story, columns: Columns): string[] {
  const parts: readonly (readonly [label: string, texts: readonly string[]])[] = [
    ['source', sourceTexts(story)],
    ...mappingParts(story),
    ['directory', [directoryText(story)]],
    ['difference', [differenceText(story)]],
    ['last run', lastRunTexts(story)],
    ['journal', journalTexts(story)],
  ]
  return parts.flatMap(([label, texts]) =>
    texts.flatMap((text, at) => hang(`  ${(at === 0 ? label : '').padEnd(WIDTH)}`, printable(text), columns)),
  )
}

const WIDTH = 'difference  '.length

function sourceTexts({ source: { error, server, searched, entries, sameEmail } }: Story): string[] {
  if (error !== null) return [error]
  if (entries.length === 0) return [`not there; searched ${searched}`]
  const at = server === null ? '' : `, shown by ${server}`
  return [
    ...entries.flatMap((entry) => [`${entry.from}${at}`, ...standingTexts(entry)]),
    ...(sameEmail.length === 0 ? [] : [`the same e-mail: ${sameEmail.join(', ')}`]),
  ]
}

function standingTexts({ standing, members }: FoundEntry): string[] {
  const count = members === undefined ? [] : [amount(members, 'member')]
  if (standing === undefined) return count
  const { bases, inBase, filter, inFilter, disabled } = standing
  return [
    `${inBase ? 'within' : 'OUTSIDE'} the base ${bases.join(' and ')}`,
    `${inFilter ? 'within' : 'OUTSIDE'} the filter ${filter}`,
    ...(disabled === undefined ? [] : [`DISABLED by ${disabled.rule}; such accounts: ${disabled.action}`]),
    ...count,
  ]
}

const FIELDS = { email: 'e-mail', name: 'name', employee_id: 'employee id' } as const

/** Of entries that share an id the first one's. */
function mappingParts({ source }: Story): (readonly [string, readonly string[]])[] {
  const fields = source.entries[0]?.fields ?? []
  return fields.filter(isMapped).map((trace) => [FIELDS[trace.field], stepTexts(trace)])
}

function isMapped({ steps }: FieldTrace): boolean {
  return steps.length > 1
}

/** Without the result where it is the only value of the only attribute. */
function stepTexts({ steps, value }: FieldTrace): string[] {
  const [first] = steps
  const isPlain = steps.length === 2 && first?.kind === 'attribute' && first.values.join() === value
  return (isPlain ? steps.slice(0, 1) : steps).map(({ text }) => text)
}

function directoryText({ directory: { error, entry }, kind, id }: Story): string {
  if (error !== null) return error
  if (id === null) return 'not asked, because there is no id'
  if (entry === null) return `no ${kind} with the id ${id}`
  if ('members' in entry) return `"${entry.name}", ${amount(entry.members.length, 'member')}`
  return [entry.name ?? 'no name', entry.email === null ? 'no e-mail' : `<${entry.email}>`].join(' ')
}

function differenceText({ directory, source, change }: Story): string {
  if (directory.error !== null || source.error !== null) return 'not known'
  if (change === null) return 'none'
  return `${VERBS[change.op]} it`
}

const VERBS: Readonly<Record<Op, string>> = {
  'create-user': 'create',
  'create-group': 'create',
  'update-user': 'update',
  'update-group': 'update',
  'delete-user': 'delete',
  'delete-group': 'delete',
  'set-members': 'change the members of',
}

function lastRunTexts({ lastRun }: Story): string[] {
  if (lastRun === null) return ['none has read both sides yet']
  const { run, state, at, notices } = lastRun
  const said = notices.length === 0 ? [] : notices.map(({ code, detail }) => `${code}: ${detail}`)
  return [`run ${run}, ${state} ${pointInTime(at)}`, ...said]
}

function journalTexts({ journal }: Story): string[] {
  return journal.length === 0
    ? ['nothing was ever sent for it, as far as it is kept']
    : journal.map(journalText)
}

function journalText({ run, op, at, outcome, status, detail, approvedBy }: JournalEntry): string {
  const answer = status === null ? '' : ` (${status})`
  const by = approvedBy === null ? '' : approvedBy === '' ? ', approved' : `, approved by ${approvedBy}`
  const why = detail === null ? '' : `: ${detail}`
  return `${pointInTime(at)}  run ${run}  ${op}  ${outcome ?? 'under way'}${answer}${by}${why}`
}
