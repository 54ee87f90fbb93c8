import type {
  Explanation,
  FieldTrace,
  FoundEntry,
  JournalEntry,
  Match,
  Several,
  Story,
} from '../../control/story.ts'
import { pauseText } from '../../control/control.ts'
import { answerIn, quoted } from '../../control/explain/case.ts'
import { amount, digits, pointInTime } from '../../directory/wording.ts'
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
  const parts: readonly (readonly [label: string, texts: readonly string[]])[] = [
    ['source', sourceTexts(story)],
    ...mappingParts(story),
    ['directory', [directoryText(story)]],
    ...(story.waitingMemberships.length === 0 ? [] : [['groups', groupTexts(story)] as const]),
    ...(story.paused === null ? [] : [['paused', [pauseText(story.paused)]] as const]),
    ['last run', lastRunTexts(story)],
    ['journal', journalTexts(story)],
  ]
  return parts.flatMap(([label, texts]) =>
    texts.flatMap((text, at) => hang(`  ${(at === 0 ? label : '').padEnd(WIDTH)}`, printable(text), columns)),
  )
}

const WIDTH = 'employee id  '.length

function sourceTexts({ source: { error, server, searched, entries, sameEmail } }: Story): string[] {
  if (error !== null) return [error]
  const others = sameEmail.map(
    ({ id, name, from }) => `the same e-mail: ${name ?? 'user'} (${id ?? 'no id'}), ${from}`,
  )
  if (entries.length === 0) return [`not there; searched ${searched}`, ...others]
  return [
    ...entries.flatMap((entry) => [entry.from, ...standingTexts(entry)]),
    ...(server === null ? [] : [`shown by ${server}`]),
    ...others,
  ]
}

function standingTexts({ standing, members }: FoundEntry): string[] {
  const count = members === undefined ? [] : [amount(members, 'member')]
  if (standing === undefined) return count
  const { bases, inBase, filter, inFilter, disabled } = standing
  return [
    ...(inBase && inFilter ? ['within base and filter of the sync'] : []),
    ...(inBase ? [] : [`not below ${bases.join(' or ')}`]),
    ...(inFilter ? [] : [`not within ${filter}`]),
    ...(disabled === undefined ? [] : [`disabled by ${disabled.rule}`]),
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
  return `${entry.name ?? 'no name'}, ${entry.email ?? 'no e-mail'}`
}

function groupTexts({ waitingMemberships }: Story): string[] {
  return waitingMemberships.map(
    ({ run, group, comes, isRejected }) =>
      `${comes ? 'comes into' : 'leaves'} ${group}: ${isRejected ? 'rejected in' : 'waits with'} run ${run}`,
  )
}

/** Without what the verdict is made of. */
function lastRunTexts({ lastRun, lastFailure, notices }: Story): string[] {
  const failed =
    lastFailure === null
      ? []
      : [`run ${lastFailure.run}, failed ${pointInTime(lastFailure.at)}: ${lastFailure.error}`]
  if (lastRun === null) return [...failed, 'none has read both sides yet']
  const { run, state, at } = lastRun
  const now = new Set(notices.map(({ code }) => code))
  const others = lastRun.notices.filter(({ code }) => !now.has(code))
  return [
    ...failed,
    `run ${run}, ${state} ${pointInTime(at)}`,
    ...others.map(({ code, detail }) => `${code}: ${detail}`),
  ]
}

function journalTexts({ journal }: Story): string[] {
  return journal.length === 0 ? ['nothing was sent for it, as far as it is kept'] : journal.map(journalText)
}

function journalText({ run, op, at, outcome, status, detail, approvedBy, undoes }: JournalEntry): string {
  const answer = status === null ? '' : ` (${status})`
  const by = approvedBy === null ? '' : approvedBy === '' ? ', approved' : `, approved by ${approvedBy}`
  const why = detail === null ? '' : `: ${answerIn(detail)}`
  const undo = undoes === null ? '' : ` (undo of run ${undoes})`
  return `${pointInTime(at)}  run ${run}${undo}  ${op}  ${outcome ?? 'under way'}${answer}${by}${why}`
}
