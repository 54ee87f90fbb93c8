import type { Change } from '../../../core/plan/change.ts'
import type { Story } from '../../../operations/story.ts'
import { unresolvedMembersText } from '../notices.ts'
import { blockedGroups } from './decisions.ts'
import { deletionOf, emailWritten, KEEP, noticeOf, type Part, quoted, withoutStop } from './part.ts'
import { placeOf } from './where.ts'
import { maybeUnread, noticed } from './reasons.ts'

export function outcome(facts: Story): readonly Part[] {
  const { source, directory, planned, difference } = facts
  const isInSource = source.entries.length > 0
  if (!isInSource && directory.entry === null) return [absent(facts)]
  const made = planned === null ? [] : [changed(facts, planned)]
  if (!isInSource || placeOf(facts).code !== undefined) return made
  const all = [...made, ...remarks(facts)]
  return all.length > 0 || difference !== null ? all : [equal(facts)]
}

const DAY_MS = 24 * 60 * 60 * 1000

function absent(facts: Story): Part {
  const { source, sync } = facts
  const deletion = deletionOf(facts)
  const isRecent = deletion !== undefined && Date.now() - Date.parse(deletion.at) < DAY_MS
  // A lagging LDAP server may show users that it has just lost.
  const then =
    source.server === null || !isRecent
      ? 'and the next run creates it'
      : `which creates it a day after its delete; sooner, approve it: dirsyncd sync ${sync} names the run`
  return {
    code: 'absent',
    text: maybeUnread(source.unreadable),
    todo: `If it should be there, put it back into the source, ${then}`,
  }
}

/** Most likely the absent user, with a changed or missing id. */
export function emailHolder({ source: { entries, sameEmail }, sync }: Story): Part {
  const [holder] = sameEmail
  if (entries.length > 0 || holder === undefined) return {}
  const named = `the source has its e-mail at "${holder.from}"`
  if (holder.id === null)
    return {
      code: 'unreadable',
      text: `${named}, with no id that can be used`,
      next: 'While an entry that the sync reads has no id, a run deletes no entry',
      todo: 'Give that entry its id back in the source',
    }
  return {
    text: `${named}, with the id ${holder.id}`,
    todo: `Most likely that is the same user: dirsyncd explain ${sync} ${quoted(holder.id)}`,
  }
}

function changed(facts: Story, planned: Change): Part {
  const trouble = troubleOf(facts, planned)
  return {
    code: trouble === undefined ? 'changed' : 'failed',
    text: trouble,
    todo: planned.op.startsWith('delete') ? KEEP : howToDoItNow(facts, planned, trouble !== undefined),
  }
}

const FAILED: ReadonlySet<string> = new Set(['failed', 'unknown'])

function troubleOf({ journal, lastFailure }: Story, { op }: Change): string | undefined {
  const [last] = journal
  if (last?.op === op && FAILED.has(last.outcome)) {
    const why = last.detail === null ? '' : ` (${withoutStop(last.detail)})`
    return `run ${last.run} tried it, and it failed${why}`
  }
  return lastFailure === null ? undefined : `run ${lastFailure.run} failed: ${withoutStop(lastFailure.error)}`
}

/** A run of one entry does nothing that needs other entries. */
function howToDoItNow({ sync, kind, id, paused }: Story, change: Change, isTriedAgain: boolean): string {
  if (paused !== null) return `dirsyncd resume ${sync} lets the sync run again`
  const does = isTriedAgain ? 'tries it again' : 'does it'
  const except =
    change.op === 'set-members'
      ? ', except for users that a run creates or deletes'
      : emailWritten(change) === undefined
        ? ''
        : ', except for an e-mail that another user still has'
  return `dirsyncd sync ${sync} --${kind} ${quoted(id ?? '')} ${does} at once${except}`
}

function remarks(facts: Story): readonly Part[] {
  const { planned, directory } = facts
  const dropped = noticed(facts, ['email-dropped'])
  const entry = planned === null ? directory.entry : null
  const isWithoutEmail = entry !== null && 'email' in entry && !entry.email
  return [
    ...noticed(facts, ['value-failed']),
    ...(planned === null ? blockedGroups(facts) : []),
    ...dropped,
    ...(isWithoutEmail && dropped.length === 0 ? [NO_EMAIL] : []),
    ...noticed(facts, ['membership-differs'], {
      next: 'The next run only reports that, as directory.membership of the sync says',
    }),
    ...noticed(facts, ['value-kept'], { todo: undefined }),
  ]
}

const NO_EMAIL: Part = {
  code: 'no-email',
  text: 'the source has none that can be used',
  todo: 'Give it an e-mail in the source, or correct users.map.email of the sync',
}

function equal(facts: Story): Part {
  const { kind, membership, sync, sameMembers } = facts
  if (membership !== 'off' && kind === 'group')
    return sameMembers === null ? withUncomparedMembers(facts) : withComparedMembers(facts)
  const both = { code: 'unchanged', text: 'both are equal' } as const
  const inService = 'look for the cause in the service'
  if (kind === 'group') return { ...both, text: `${both.text}, and the sync does not compare members` }
  // Neither side can list the groups of one user.
  if (membership === 'write')
    return {
      ...both,
      text: `${both.text}; only a run compares the groups of a user`,
      todo: `dirsyncd plan ${sync} shows the changed members of groups; if they are right, ${inService}`,
    }
  const what = membership === 'off' ? 'does not compare' : 'only reports'
  return { ...both, text: `${both.text}, and the sync ${what} members of groups, so ${inService}` }
}

/** No planned change although the lists may differ, because not every listed member counts. */
function withComparedMembers(facts: Story): Part {
  if (facts.sameMembers === false)
    return {
      code: 'unchanged',
      text: 'not all its members are the same',
      next: 'The next run changes none of them, unless it creates or deletes users: the other members are no users of the directory, or the rules of the sync exclude them',
    }
  // A listed member that is no user may be the missing one.
  const unknown = noticeOf(facts, 'unknown-members')
  return {
    code: 'unchanged',
    text: `both are equal, with the same members${unknown === undefined ? '' : `; ${unresolvedMembersText(unknown.params)}`}`,
    todo: unknown && 'dirsyncd explain shows for each of them why it is no user of the sync',
  }
}

function withUncomparedMembers({ membership, sync }: Story): Part {
  const isReported = membership === 'report' ? ', and only reports what differs' : ''
  return {
    code: 'unchanged',
    text: 'only a run compares the members',
    next: `The next run compares the members${isReported}: only users of the directory count`,
    todo: `dirsyncd plan ${sync} shows the members to add and to remove`,
  }
}
