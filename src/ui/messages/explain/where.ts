import { amount, digits, pointInTime } from '../../../base/wording.ts'
import { membersDifference } from '../../../core/plan/change.ts'
import type { FoundEntry, JournalEntry, Story } from '../../../operations/story.ts'
import { DELETE_REASONS } from '../deletes.ts'
import { approvalText, deletionOf, type Part, titleOf, withoutStop } from './part.ts'

/** `Ana Šimić (user u1) is in the source, and not in the directory` */
export function whereText(facts: Story): string {
  const deletion = deletionOf(facts)
  const deleted = deletion === undefined ? '' : `; ${deletionText(deletion)}`
  return `${titleOf(facts)} ${placeOf(facts).text}, and ${directoryText(facts)}${deleted}`
}

/** The text is about the source; code and remedy only where a sync does not want an entry that is there. */
export function placeOf({ source: { entries } }: Story): Part {
  const [first] = entries
  if (first === undefined) return { text: 'is not in the source' }
  if (!entries.some(isWithin) && first.standing !== undefined) return placeOutside(first, first.standing)
  const rules = entries.map(({ standing }) => standing?.disabled)
  const [rule] = rules
  if (rule === undefined || rules.includes(undefined)) return { text: 'is in the source' }
  return {
    code: 'disabled',
    text: `is disabled in the source by ${rule.rule} and so ${rule.action === 'delete' ? 'counts as absent' : 'is left as it is'}`,
    todo: 'Enable the account in the source',
  }
}

function isWithin({ standing }: FoundEntry): boolean {
  return standing === undefined || (standing.inBase && standing.inFilter)
}

function placeOutside(
  { from }: FoundEntry,
  { inBase, bases, filter }: NonNullable<FoundEntry['standing']>,
): Part {
  if (inBase)
    return {
      code: 'left-filter',
      text: `is outside the sync's filter ${filter}`,
      todo: 'Change the entry so that it meets the filter, or change the filter',
    }
  const where = bases.map((base) => `"${base}"`).join(' and ')
  return {
    code: 'other-base',
    text: `is at "${from}", outside the bases of the sync (${where})`,
    todo: 'Move the entry in the source, or change the base of the sync',
  }
}

function directoryText(facts: Story): string {
  const { entry, error } = facts.directory
  if (error !== null) return `what the directory has cannot be asked now: ${withoutStop(error)}`
  if (entry === null) return 'not in the directory'
  const difference = differenceText(facts)
  if (difference !== undefined) return `in the directory with other ${difference}`
  const isWithoutEmail = 'email' in entry && !entry.email
  return `is in the directory${isWithoutEmail ? ' without an e-mail' : ''}${memberNumbers(facts)}`
}

/** `values: the name is "Ana" there and "Anna" in the source` */
function differenceText({ difference: change }: Story): string | undefined {
  if (change?.op === 'set-members') {
    const { added, removed } = membersDifference(change)
    const parts = [
      ...(added.length === 0 ? [] : [`${idsText(added)} to add`]),
      ...(removed.length === 0 ? [] : [`${idsText(removed)} to remove`]),
    ]
    return `members: ${parts.join(', and ')}`
  }
  if (change?.op !== 'update-user' && change?.op !== 'update-group') return undefined
  const have: { readonly email?: string | null; readonly name: string | null } = change.have
  const want: { readonly email?: string; readonly name?: string } = change.want
  const parts = (['name', 'email'] as const).flatMap((field) => {
    if (want[field] === undefined) return []
    const there = have[field] ? `"${have[field]}"` : 'missing'
    return `the ${field === 'email' ? 'e-mail' : field} is ${there} there and "${want[field]}" in the source`
  })
  return `values: ${parts.join(', ')}`
}

const MOST_NAMED = 5

function idsText(ids: readonly string[]): string {
  const more = ids.length - MOST_NAMED
  return `${ids.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${digits(more)} more` : ''}`
}

function memberNumbers(facts: Story): string {
  const listed = facts.source.entries[0]?.members
  const there = membersThere(facts)
  if (listed === undefined || there === undefined || facts.membership === 'off' || facts.sameMembers === true)
    return ''
  const members = amount(listed, 'member')
  return listed === there
    ? `; the source lists ${members}, as many as the directory has`
    : `; the source lists ${members}, and the directory has ${digits(there)}`
}

function membersThere({ directory: { entry } }: Story): number | undefined {
  return entry !== null && 'members' in entry ? entry.members.length : undefined
}

/** `deleted 2026-11-21 07:29:03Z by run 12, approved by ana: disabled in the source` */
function deletionText({ at, run, undoes, why, ...line }: JournalEntry): string {
  const undo = undoes === null ? '' : `, which undid run ${undoes}`
  const reason = why === null || why === 'undone' ? '' : `: ${DELETE_REASONS[why]}`
  return `deleted ${pointInTime(at)} by run ${run}${undo}${approvalText(line)}${reason}`
}
