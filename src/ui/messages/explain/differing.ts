import type { Change } from '../../../core/plan/change.ts'
import type { DirectorySide, Story } from '../../../operations/story.ts'
import { canonicalEmail } from '../../../core/entries/normalize.ts'
import { isNotice } from '../../../core/notice.ts'
import { emailOwnerText, noticeTextAlone } from '../notices.ts'
import { type Case, noticeOf, saidOf, titleOf } from './case.ts'
import { sameGroup, withOtherMembers } from './group.ts'
import { sameUser, waitingGroups } from './groups-of-user.ts'
import { remedyOf, remedyOfDoubt, troubleOf, writesEmail } from './remedies.ts'

/** The source wants something else than the directory has, or cannot have it. */
export function differing(facts: Story): Case | undefined {
  return reborn(facts) ?? emailTaken(facts) ?? doubted(facts) ?? keptByPolicy(facts) ?? changed(facts)
}

/** A block decides first; a taken e-mail matters only afterwards. */
function reborn(facts: Story): Case | undefined {
  const said = noticeOf(facts, 'reborn')
  if (said === undefined) return undefined
  const taken = noticeOf(facts, 'duplicate-email')
  const also = taken === undefined ? '' : `; and its e-mail is taken: ${emailOwnerText(taken.params)}`
  return {
    code: 'unproved',
    why: `${titleOf(facts)} is not created yet, because the read may be older than the directory: ${noticeTextAlone(said)}${also}`,
    next: 'The next run creates it only if a day has passed since its delete, or after an approval',
    todo: remedyOfDoubt(facts),
  }
}

function emailTaken(facts: Story): Case | undefined {
  const said = noticeOf(facts, 'duplicate-email')
  if (said === undefined) return emailKept(facts)
  return {
    code: 'email-taken',
    why: `${titleOf(facts)} does not get its e-mail: ${emailOwnerText(said.params)}`,
    todo: 'Give one of the two another e-mail in the source',
  }
}

/** Only a run knows every user that may have the e-mail, such as a user whose delete waits. */
function emailKept(facts: Story): Case | undefined {
  const { planned, lastRun } = facts
  if (planned?.op !== 'create-user' && planned?.op !== 'update-user') return undefined
  const { email } = planned.want
  const said = lastRun === null ? undefined : noticeOf(lastRun, 'duplicate-email')?.params
  if (lastRun === null || email === undefined || said?.email !== canonicalEmail(email)) return undefined
  const did = lastRun.state === 'held' ? 'would not give' : 'did not give'
  return {
    code: 'email-taken',
    why: `${whatDiffers(facts, planned)}; run ${lastRun.run} ${did} it the e-mail: ${emailOwnerText(said)}`,
    but: 'the e-mail is written only if no user of the directory has it then',
    todo: 'dirsyncd explain shows why the other user keeps the e-mail',
  }
}

/** A change that the read does not prove. */
function doubted(facts: Story): Case | undefined {
  const { lastRun, planned } = facts
  const isCreate = planned?.op.startsWith('create') === true
  const unproved = lastRun?.notices.find(
    (notice) => isNotice(notice, 'unproved') && notice.params.op.startsWith(isCreate ? 'create' : 'update'),
  )
  if (planned === undefined || unproved === undefined) return undefined
  return {
    code: 'unproved',
    why: `${titleOf(facts)} is not changed yet, because the read does not confirm it: ${noticeTextAlone(unproved)}`,
    next: 'Whether the next run changes it depends on what it reads',
    todo: remedyOfDoubt(facts),
  }
}

function keptByPolicy(facts: Story): Case | undefined {
  const said = saidOf(facts, 'kept-by-policy')
  if (said === undefined) return undefined
  return { code: 'kept', why: `${titleOf(facts)} ${said}`, next: 'The next run leaves it as it is' }
}

function changed(facts: Story): Case | undefined {
  const { planned } = facts
  if (planned === undefined) return undefined
  if (planned.op === 'set-members') return withOtherMembers(facts, planned)
  const what = `${whatDiffers(facts, planned)}${withoutEmail(facts)}`
  const trouble = troubleOf(facts, planned)
  return {
    code: trouble === undefined ? 'changed' : 'failed',
    why: trouble === undefined ? what : `${what}; ${trouble}`,
    ...(writesEmail(planned) &&
      !facts.sharesEmails && {
        but: 'its e-mail is not written while another user of the directory keeps it',
      }),
    todo: remedyOf(facts, planned, trouble !== undefined),
  }
}

function withoutEmail(facts: Story): string {
  const said = saidOf(facts, 'email-dropped')
  return said === undefined ? '' : `; ${said}`
}

function whatDiffers(facts: Story, planned: Change): string {
  const title = titleOf(facts)
  return planned.op.startsWith('create')
    ? `${title} is in the source, and not in the directory yet`
    : `${title} is in the directory with other values than in the source: ${differenceOf(planned)}`
}

/** `the name is "Ana" there and "Anna" in the source` */
function differenceOf(change: Change): string {
  if (change.op !== 'update-user' && change.op !== 'update-group') return ''
  const have: { readonly email?: string | null; readonly name: string | null } = change.have
  const want: { readonly email?: string; readonly name?: string } = change.want
  const parts = (['name', 'email'] as const).flatMap((field) => {
    if (want[field] === undefined) return []
    const there = have[field] ? `"${have[field]}"` : 'missing'
    return `the ${field === 'email' ? 'e-mail' : field} is ${there} there and "${want[field]}" in the source`
  })
  return parts.join(', ')
}

export function same(facts: Story): Case {
  const title = titleOf(facts)
  const failed = saidOf(facts, 'value-failed')
  if (failed !== undefined) {
    const why = `${title} has a value that cannot be used: ${failed}`
    return { code: 'unusable', why, todo: 'Correct the entry in the source, or the mapping of the sync' }
  }
  const waiting = waitingGroups(facts)
  if (waiting !== undefined) return waiting
  if (facts.kind === 'user' && hasNoEmail(facts.directory)) {
    const said = saidOf(facts, 'email-dropped') ?? 'the source has none that can be used'
    return {
      code: 'no-email',
      why: `${title} is in the directory without an e-mail, because ${said}`,
      todo: 'Give it an e-mail in the source, or correct users.map.email of the sync',
    }
  }
  if (facts.kind === 'group') return sameGroup(facts)
  const kept = saidOf(facts, 'value-kept') ?? saidOf(facts, 'email-dropped')
  if (kept !== undefined) return { code: 'value-kept', why: `${title} is in the directory, and ${kept}` }
  return sameUser(facts)
}

function hasNoEmail({ entry }: DirectorySide): boolean {
  return entry !== null && 'email' in entry && !entry.email
}
