import type { Story } from '../../../operations/story.ts'
import type { DeleteReason } from '../../../core/plan/change.ts'
import {
  type Case,
  noticeOf,
  saidOf,
  quoted,
  titleOf,
  nounOf,
  verbAlone,
  verbOf,
  withoutStop,
} from './case.ts'
import { blockText } from '../blocks.ts'
import { howToRelease, whoRejected, writesEmail } from './remedies.ts'

/** A decision, an answer of the service or the evidence stops a change. */
export function keptBack(facts: Story): Case | undefined {
  return rejected(facts) ?? refused(facts) ?? held(facts)
}

/** With the reason why the source does not want the entry, where the change deletes it. */
function subjectOf(facts: Story, endOfClause = ''): string {
  const { change, kind } = facts
  const who = kind === 'user' ? 'who' : 'which'
  const isDelete = change !== null && 'why' in change
  const why = isDelete ? `, ${who} ${unwanted(facts, change.why)}${endOfClause}` : ''
  return `${titleOf(facts)}${why}`
}

/** A run does not see an entry outside of the bases, and takes it for gone. */
function unwanted({ source: { entries } }: Story, why: DeleteReason): string {
  return why === 'gone' && entries.some(({ standing }) => standing?.inBase === false)
    ? 'is outside the bases of the sync'
    : UNWANTED[why]
}

const UNWANTED: Readonly<Record<DeleteReason, string>> = {
  gone: 'is not in the source',
  'left-filter': "is outside the sync's filter",
  disabled: 'is disabled in the source',
  undone: 'was created by a run that is undone',
}

function rejected(facts: Story): Case | undefined {
  const said = noticeOf(facts, 'rejected')
  if (said === undefined) return undefined
  const hasRest = facts.planned !== undefined && leftAlone(facts) === undefined
  if (hasRest && facts.hold !== null) return undefined
  return {
    code: 'rejected',
    why: hasRest
      ? `A part of what the source wants for ${titleOf(facts)} was ${whoRejected(said.params)}`
      : `${subjectOf(facts, ',')} is left as it is, because its ${nounOf(facts.change)} was ${whoRejected(said.params)}`,
    next: hasRest
      ? 'The next run makes the rest of the change, unless a check blocks that'
      : (leftAlone(facts) ?? 'The next run leaves it as it is'),
    todo: howToRelease(facts, said.params, 'the change'),
  }
}

/** A group whose name is left as it is, while its members change. */
function leftAlone({ planned, change }: Story): string | undefined {
  if (planned?.op !== 'set-members' || change?.op === 'set-members') return undefined
  return 'The next run leaves its name as it is, and changes its members, unless a check blocks that'
}

function refused(facts: Story): Case | undefined {
  const said = saidOf(facts, 'quarantined') ?? saidOf(facts, 'does-not-converge')
  if (said === undefined) return undefined
  const { sync, kind, id } = facts
  const release = `dirsyncd quarantine release --sync ${sync} --${kind} ${quoted(id ?? '')}`
  return {
    code: 'quarantined',
    why: `The service did not ${verbOf(facts.change)} ${subjectOf(facts)}, so the change is in quarantine: ${withoutStop(said)}`,
    next:
      leftAlone(facts) ??
      'The next run leaves it as it is: it is tried again when the entry changes, or a day after the last try',
    todo: `Correct the entry in the source${withoutBadEmail(facts)}, or use ${release} and let the next run try again`,
  }
}

/** Only the service's own words say what it refused. */
function withoutBadEmail({ change }: Story): string {
  if (change === null || !writesEmail(change)) return ''
  return (
    ', or, if the service refused the e-mail itself, set directory.dropBadEmails: true, which writes users without an ' +
    'e-mail that is no address or outside directory.allowedDomains'
  )
}

function held(facts: Story): Case | undefined {
  if (facts.hold === null) return undefined
  const { run, breaches, isPlanHeld } = facts.hold
  const verb = verbOf(facts.change)
  const reasons = breaches.map((breach) => `${breach.code} (${blockText(breach)})`).join(' and ')
  const decide = isPlanHeld
    ? `dirsyncd approve ${run} or dirsyncd reject ${run}`
    : `dirsyncd approve ${run} --only ${breaches[0]?.code} or dirsyncd reject ${run} --only ${breaches[0]?.code}`
  return {
    code: isPlanHeld ? 'held' : 'unproved',
    why: isPlanHeld
      ? `Run ${run} needs a decision before it may ${verb} ${subjectOf(facts)}: ${reasons}`
      : `Run ${run} did not ${verb} ${subjectOf(facts)}, because its read does not confirm it: ${reasons}`,
    next: `The next run does not ${verbAlone(facts.change)}, unless an operator approves it or ${isPlanHeld ? 'the plan is within the guards again' : 'a later read confirms it'}`,
    todo: `See dirsyncd runs ${run}, then ${decide}`,
  }
}
