import type { Story } from '../../../operations/story.ts'
import type { NoticeCode, NoticeParams } from '../../../core/notice.ts'
import { rejectionText, releaseText } from '../words.ts'
import type { Change } from '../../../core/plan/change.ts'
import { quoted, withoutStop } from './case.ts'

/** Notices about changes that wait for a better read. */
const DOUBTS: ReadonlySet<NoticeCode> = new Set(['reborn', 'unproved', 'members-kept'])

/** The operator, the time and the run of a rejection. */
export function whoRejected({ rejections: [first] }: NoticeParams['rejected']): string {
  return first === undefined ? 'rejected' : rejectionText(first)
}

/** How to apply a rejected change after all. */
export function howToRelease(
  { id }: Story,
  { rejections: [first] }: NoticeParams['rejected'],
  what: string,
): string {
  const release = first && releaseText(first, { id: quoted(id ?? ''), what })
  return release ?? 'The change is planned again when the source wants another one'
}

/** Only a run that holds a change can be approved. */
export function remedyOfDoubt({ lastRun, sync }: Story): string {
  const held = lastRun?.notices.some(({ code }) => DOUBTS.has(code)) === true
  const run = held ? `dirsyncd runs ${lastRun.run}` : `dirsyncd sync ${sync}`
  return `${run} lists the blocked changes, and the run that dirsyncd approve takes`
}

/** Why it was not done before: the last try failed, or the last run. */
export function troubleOf({ journal, lastFailure }: Story, { op }: Change): string | undefined {
  const [last] = journal
  if (last?.op === op && FAILED.has(last.outcome)) {
    const why = last.detail === null ? '' : ` (${withoutStop(last.detail)})`
    return `run ${last.run} tried it, and it failed${why}`
  }
  if (lastFailure === null) return undefined
  return `run ${lastFailure.run} failed: ${withoutStop(lastFailure.error)}`
}

const FAILED: ReadonlySet<string> = new Set(['failed', 'unknown'])

/** A run of one entry does nothing that needs other entries. */
export function remedyOf({ sync, kind, id, paused }: Story, change: Change, isTriedAgain: boolean): string {
  if (paused !== null) return `dirsyncd resume ${sync} lets the sync run again`
  const does = isTriedAgain ? 'tries it again' : 'does it'
  return `dirsyncd sync ${sync} --${kind} ${quoted(id ?? '')} ${does} at once${exceptionOf(change)}`
}

function exceptionOf(change: Change): string {
  if (change.op === 'set-members') return ', except for users that a run creates or deletes'
  return writesEmail(change) ? ', except for an e-mail that another user still has' : ''
}

/** The directory's API finds users by id only, so the owner of an e-mail is unknown. */
export function writesEmail(change: Change): boolean {
  return (change.op === 'create-user' || change.op === 'update-user') && change.want.email !== undefined
}
