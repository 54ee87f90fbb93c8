import type { NoticeCode } from '../../core/entries/snapshot.ts'
import type { Change } from '../../core/plan/change.ts'
import { answerIn, quoted, type VerdictFacts, withoutStop } from './case.ts'

/** What a run says of changes that wait for a better read. */
const DOUBTS: ReadonlySet<NoticeCode> = new Set(['reborn', 'unproved', 'members-kept'])

/** Who rejected a change, when, and where, by what a run says of it. */
export function whoRejected(said: string): string {
  return /rejected by .* in the hold of run \d+/.exec(said)?.[0] ?? 'rejected by a person'
}

/** How what was rejected can still be applied, by what a run says of it. */
export function howToRelease({ id }: VerdictFacts, said: string, what: string): string {
  const release = /dirsyncd approve .* releases .*/.exec(said)?.[0]
  return release === undefined
    ? 'The change is planned again when the source wants another one'
    : release.replace('--id ID releases it', `--id ${quoted(id ?? '')} releases ${what}`)
}

/** Only a run that holds it can be approved. */
export function remedyOfDoubt({ lastRun, sync }: VerdictFacts): string {
  const held = lastRun?.notices.some(({ code }) => DOUBTS.has(code)) === true
  const run = held ? `dirsyncd runs ${lastRun.run}` : `dirsyncd sync ${sync}`
  return `${run} names what waits, and the number of the run with which dirsyncd approve releases it`
}

/** Why it was not done before: the last try failed, or the last run. */
export function troubleOf({ journal, lastFailure }: VerdictFacts, { op }: Change): string | undefined {
  const [last] = journal
  if (last?.op === op && FAILED.has(last.outcome)) {
    const why = last.detail === null ? '' : ` (${withoutStop(answerIn(last.detail))})`
    return `run ${last.run} tried it, and it failed${why}`
  }
  if (lastFailure === null) return undefined
  return `run ${lastFailure.run} failed: ${withoutStop(lastFailure.error)}`
}

const FAILED: ReadonlySet<string> = new Set(['failed', 'unknown'])

/** The run of one entry, which does not do what needs others. */
export function remedyOf(
  { sync, kind, id, paused }: VerdictFacts,
  change: Change,
  isTriedAgain: boolean,
): string {
  if (paused !== null) return `dirsyncd resume ${sync} lets the sync run again`
  const does = isTriedAgain ? 'tries it again' : 'does it'
  return `dirsyncd sync ${sync} --${kind} ${quoted(id ?? '')} ${does} at once${exceptionOf(change)}`
}

function exceptionOf(change: Change): string {
  if (change.op === 'set-members') return ', but for users who are to be created or deleted'
  return writesEmail(change) ? ', but for an e-mail that somebody else still has' : ''
}

/** Nobody can be asked who has an e-mail in the directory: its API finds users by their ids only. */
export function writesEmail(change: Change): boolean {
  return (change.op === 'create-user' || change.op === 'update-user') && change.want.email !== undefined
}
