import type { DeleteReason } from '../../core/plan/change.ts'
import {
  answerIn,
  type Case,
  noticeOf,
  quoted,
  titleOf,
  type VerdictFacts,
  nounOf,
  verbAlone,
  verbOf,
  withoutStop,
} from './case.ts'
import { howToRelease, whoRejected, writesEmail } from './remedies.ts'

/** A decision, an answer of the service or the evidence stops a change. */
export function keptBack(facts: VerdictFacts): Case | undefined {
  return rejected(facts) ?? refused(facts) ?? held(facts)
}

/** With the reason why the source does not want the entry, where the change deletes it. */
function subjectOf(facts: VerdictFacts, endOfClause = ''): string {
  const { change, kind } = facts
  const who = kind === 'user' ? 'who' : 'which'
  const isDelete = change !== null && 'why' in change
  const why = isDelete ? `, ${who} ${unwanted(facts, change.why)}${endOfClause}` : ''
  return `${titleOf(facts)}${why}`
}

/** A run does not see an entry outside of the bases, and takes it for gone. */
function unwanted({ source: { entries } }: VerdictFacts, why: DeleteReason): string {
  return why === 'gone' && entries.some(({ standing }) => standing?.inBase === false)
    ? 'is not where the sync looks'
    : UNWANTED[why]
}

const UNWANTED: Readonly<Record<DeleteReason, string>> = {
  gone: 'is not in the source any more',
  'left-filter': "is outside the sync's filter",
  disabled: 'is disabled in the source',
  undone: 'was created by a run that is undone',
}

function rejected(facts: VerdictFacts): Case | undefined {
  const said = noticeOf(facts, 'rejected')
  if (said === undefined) return undefined
  const hasRest = facts.planned !== undefined && leftAlone(facts) === undefined
  if (hasRest && facts.hold !== null) return undefined
  return {
    code: 'rejected',
    why: hasRest
      ? `A part of what the source wants for ${titleOf(facts)} was ${whoRejected(said)}`
      : `${subjectOf(facts, ',')} is left as it is, because its ${nounOf(facts.change)} was ${whoRejected(said)}`,
    next: hasRest
      ? 'The next run makes the rest of the change, unless a guard or the evidence holds that'
      : (leftAlone(facts) ?? 'The next run leaves it as it is'),
    todo: howToRelease(facts, said, 'the change'),
  }
}

/** A group whose name is left as it is, while its members change. */
function leftAlone({ planned, change }: VerdictFacts): string | undefined {
  if (planned?.op !== 'set-members' || change?.op === 'set-members') return undefined
  return 'The next run leaves its name as it is, and changes its members, unless a guard or the evidence holds that'
}

function refused(facts: VerdictFacts): Case | undefined {
  const said = noticeOf(facts, 'quarantined') ?? noticeOf(facts, 'does-not-converge')
  if (said === undefined) return undefined
  const { sync, kind, id } = facts
  const release = `dirsyncd quarantine release --sync ${sync} --${kind} ${quoted(id ?? '')}`
  return {
    code: 'quarantined',
    why: `The service did not ${verbOf(facts.change)} ${subjectOf(facts)}, so the change is in quarantine: ${withoutStop(answerIn(said))}`,
    next:
      leftAlone(facts) ??
      'The next run leaves it alone: it is tried again when the entry changes, or a day after the last try',
    todo: `Correct the entry in the source${withoutBadEmail(facts, said)}, or use ${release} and let the next run try again`,
  }
}

/** The remedy where the service refused the e-mail itself, and not because another user has it. */
function withoutBadEmail({ change }: VerdictFacts, said: string): string {
  if (change === null || !writesEmail(change)) return ''
  if (!/\be-?mail\b/i.test(said) || /taken|exists|already|unique|duplicate|in use/i.test(said)) return ''
  return (
    ', or set directory.dropBadEmails: true, which writes users without an e-mail that is no address or outside ' +
    'directory.allowedDomains'
  )
}

function held(facts: VerdictFacts): Case | undefined {
  if (facts.hold === null) return undefined
  const { run, breaches, isPlanHeld } = facts.hold
  const verb = verbOf(facts.change)
  const reasons = breaches.map(({ guard, detail }) => `${guard} (${detail})`).join(' and ')
  const decide = isPlanHeld
    ? `dirsyncd approve ${run} or dirsyncd reject ${run}`
    : `dirsyncd approve ${run} --only ${breaches[0]?.guard} or dirsyncd reject ${run} --only ${breaches[0]?.guard}`
  return {
    code: isPlanHeld ? 'held' : 'unproved',
    why: isPlanHeld
      ? `Run ${run} waits for a person before it may ${verb} ${subjectOf(facts)}: ${reasons}`
      : `Run ${run} did not ${verb} ${subjectOf(facts)}, because its read does not prove that: ${reasons}`,
    next: `The next run does not ${verbAlone(facts.change)}, unless somebody approves it or ${isPlanHeld ? 'the plan no longer breaks a guard' : 'a better read proves it'}`,
    todo: `See dirsyncd runs ${run}, then ${decide}`,
  }
}
