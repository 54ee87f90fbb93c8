import { amount, pointInTime } from '../../../base/wording.ts'
import { pauseText } from '../../../operations/control.ts'
import type { FieldTrace, FoundEntry, JournalEntry, Story } from '../../../operations/story.ts'
import type { ChangeReason } from '../../../store/change-list.ts'
import { reasonText } from '../blocks.ts'
import { noticeText } from '../notices.ts'
import { approvalText } from './part.ts'

/** One titled part of a story; not yet safe to print. */
export interface StoryPart {
  readonly label: string
  readonly texts: readonly string[]
}

export function storyParts(story: Story): readonly StoryPart[] {
  return [
    { label: 'source', texts: sourceTexts(story) },
    ...mappingParts(story),
    { label: 'directory', texts: [directoryText(story)] },
    ...(story.groups.length === 0 ? [] : [{ label: 'groups', texts: groupTexts(story) }]),
    ...(story.paused === null ? [] : [{ label: 'paused', texts: [pauseText(story.paused)] }]),
    { label: 'last run', texts: lastRunTexts(story) },
    { label: 'journal', texts: journalTexts(story) },
  ]
}

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

/** Of entries that share an id, the first one's. */
function mappingParts({ source }: Story): StoryPart[] {
  const fields = source.entries[0]?.fields ?? []
  return fields.filter(isMapped).map((trace) => ({ label: FIELDS[trace.field], texts: stepTexts(trace) }))
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

function groupTexts({ groups }: Story): string[] {
  return groups.map(({ run, group, comes, reasons }) => {
    const why = reasons.length === 0 ? 'the whole plan was stopped' : reasons.map(textOf).join('; ')
    return `not ${comes ? 'added to' : 'removed from'} ${group} in run ${run}: ${why}`
  })
}

function textOf(reason: ChangeReason): string {
  return reasonText(reason)
}

/** Without the facts of the verdict. */
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
    ...others.map((notice) => `${notice.code}: ${noticeText(notice)}`),
  ]
}

function journalTexts({ journal }: Story): string[] {
  return journal.length === 0 ? ['nothing was sent for it, as far as it is kept'] : journal.map(journalText)
}

function journalText({ run, op, at, outcome, status, detail, undoes, ...line }: JournalEntry): string {
  const answer = status === null ? '' : ` (${status})`
  const why = detail === null ? '' : `: ${detail}`
  const undo = undoes === null ? '' : ` (undo of run ${undoes})`
  return `${pointInTime(at)}  run ${run}${undo}  ${op}  ${outcome}${answer}${approvalText(line)}${why}`
}
