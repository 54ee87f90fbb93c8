import type { Story } from '../../../operations/story.ts'
import { amount, digits } from '../../../base/wording.ts'
import { membersDifference, type SetMembers } from '../../../core/plan/change.ts'
import { isNotice, type NoticeOf } from '../../../core/notice.ts'
import { membershipText, noticeText, unresolvedMembersText } from '../notices.ts'
import { type Case, noticeOf, titleOf } from './case.ts'
import { howToRelease, remedyOfDoubt, remedyOf, troubleOf, whoRejected } from './remedies.ts'

export function withOtherMembers(facts: Story, change: SetMembers): Case {
  const { added, removed } = membersDifference(change)
  if (removed.length > 0) {
    const kept = membersKept(facts)
    if (kept !== undefined) return kept
  }
  const parts = [
    ...(added.length === 0 ? [] : [`${idsText(added)} to add`]),
    ...(removed.length === 0 ? [] : [`${idsText(removed)} to remove`]),
  ]
  const what = `${titleOf(facts)} is in the directory with other members than in the source: ${parts.join(', and ')}`
  const trouble = troubleOf(facts, change)
  return {
    code: trouble === undefined ? 'changed' : 'failed',
    why: trouble === undefined ? what : `${what}; ${trouble}`,
    todo: remedyOf(facts, change, trouble !== undefined),
  }
}

const MOST_NAMED = 5

function idsText(ids: readonly string[]): string {
  const more = ids.length - MOST_NAMED
  return `${ids.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${digits(more)} more` : ''}`
}

export function sameGroup(facts: Story): Case {
  const { membership, sameMembers } = facts
  const title = titleOf(facts)
  if (membership === 'off')
    return {
      code: 'unchanged',
      why: `${title} is in the directory as the source has it, and the sync does not compare members`,
    }
  return sameMembers === null ? countedMembers(facts) : comparedMembers(facts)
}

/** No planned change although the lists may differ, because not every listed member counts. */
function comparedMembers(facts: Story): Case {
  const title = titleOf(facts)
  const reported = noticeOf(facts, 'membership-differs')
  if (reported !== undefined)
    return {
      code: 'kept',
      why: `${title} is in the directory with other members than in the source: ${membershipText(reported.params)}`,
      next: 'The next run only reports that, as directory.membership of the sync says',
    }
  if (facts.sameMembers === true) return withSameMembers(facts)
  const { listed, there } = countsOf(facts)
  const numbers = listed === undefined ? '' : ` (${numbersText(listed, there)})`
  return {
    code: 'unchanged',
    why: `${title} is in the directory, and not all its members are the same${numbers}`,
    next: 'The next run changes none of them, unless it creates or deletes users: the other members are no users of the directory, or the rules of the sync exclude them',
  }
}

/** A listed member that is no user may be the missing one. */
function withSameMembers(facts: Story): Case {
  const unknown = noticeOf(facts, 'unknown-members')
  const others = unknown === undefined ? '' : `; ${unresolvedMembersText(unknown.params)}`
  const todo = 'dirsyncd explain shows for each of them why it is no user of the sync'
  return {
    code: 'unchanged',
    why: `${titleOf(facts)} is in the directory as the source has it, with the same members${others}`,
    ...(unknown !== undefined && { todo }),
  }
}

/** Only a run knows the members, because it takes all users of both sides. */
function countedMembers(facts: Story): Case {
  const { membership, sync } = facts
  const { listed, there } = countsOf(facts)
  const kept = listed === there ? undefined : (membersRejected(facts) ?? membersKept(facts))
  if (kept !== undefined) return kept
  const numbers = listed === undefined ? '' : `; ${numbersText(listed, there)}`
  const isReported = membership === 'report' ? ', and only reports what differs' : ''
  return {
    code: 'unchanged',
    why: `${titleOf(facts)} is in the directory${numbers}; only a run compares the members`,
    next: `The next run compares the members${isReported}: only users of the directory count`,
    todo: `dirsyncd plan ${sync} shows the members to add and to remove`,
  }
}

function countsOf({ source, directory }: Story): {
  readonly listed: number | undefined
  readonly there: number
} {
  const { entry } = directory
  return {
    listed: source.entries[0]?.members,
    there: entry !== null && 'members' in entry ? entry.members.length : 0,
  }
}

function numbersText(listed: number, there: number): string {
  const members = amount(listed, 'member')
  return listed === there
    ? `the source lists ${members}, as many as the directory has`
    : `the source lists ${members}, and the directory has ${digits(there)}`
}

/** The last run left the members, because the operator rejected their change. */
function membersRejected(facts: Story): Case | undefined {
  const said = facts.lastRun?.notices.find(
    (notice): notice is NoticeOf<'rejected'> =>
      isNotice(notice, 'rejected') && notice.params.op === 'set-members',
  )
  if (said === undefined) return undefined
  const { listed, there } = countsOf(facts)
  const numbers = listed === undefined ? '' : `; ${numbersText(listed, there)}`
  return {
    code: 'rejected',
    why: `${titleOf(facts)} keeps its members, because the change was ${whoRejected(said.params)}${numbers}`,
    next: 'The next run leaves its members as they are, unless the source lists other ones by then',
    todo: howToRelease(facts, said.params, 'the members'),
  }
}

/** The last run removed no member for want of proof. */
function membersKept(facts: Story): Case | undefined {
  const kept = facts.lastRun && noticeOf(facts.lastRun, 'members-kept')
  if (kept === undefined || kept === null) return undefined
  const { listed, there } = countsOf(facts)
  const numbers = listed === undefined ? '' : `${numbersText(listed, there)}; `
  return {
    code: 'unproved',
    why: `${titleOf(facts)} keeps its members, because the read does not confirm the removals: ${numbers}${noticeText(kept)}`,
    next: 'The next run removes no member, unless an operator approves it or a later read confirms it',
    todo: remedyOfDoubt(facts),
  }
}
