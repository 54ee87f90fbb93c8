import { pointInTime } from '../../../base/wording.ts'
import type { NoticeParams } from '../../../core/notice.ts'
import { fingerprint, type Op } from '../../../core/plan/change.ts'
import type { Story } from '../../../operations/story.ts'
import { blockText } from '../blocks.ts'
import { noticeText } from '../notices.ts'
import { rejectionText, releaseText } from '../words.ts'
import { LEAVES, nextOf, nounOf } from './next.ts'
import { doneIn, emailWritten, noticeOf, type Part, quoted } from './part.ts'

/** A decision, an answer of the service or a block keeps the change back, or an undo took it back. */
export function decisionAbout(facts: Story): Part | undefined {
  return rejected(facts) ?? refused(facts) ?? held(facts) ?? undone(facts)
}

function rejected(facts: Story): Part | undefined {
  const said = noticeOf(facts, 'rejected')
  if (said === undefined) return undefined
  const { planned, change, hold } = facts
  const hasRest = planned !== undefined && (planned.op !== 'set-members' || change?.op === 'set-members')
  if (hasRest && hold !== null) return undefined
  return {
    ...rejection(facts, said.params, hasRest ? 'a part of its change' : `its ${nounOf(change)}`),
    next: hasRest ? 'The next run makes the rest of the change, unless a check blocks that' : nextOf(facts),
  }
}

/** @param what was rejected; the command releases it */
export function rejection(
  { id }: Story,
  { rejections: [first] }: NoticeParams['rejected'],
  what: string,
): Part {
  const release = first && releaseText(first, { id: quoted(id ?? ''), what: 'the change' })
  return {
    code: 'rejected',
    text: `${what} was ${first === undefined ? 'rejected' : rejectionText(first)}`,
    todo: release ?? 'The change is planned again when the source wants another one',
  }
}

function refused(facts: Story): Part | undefined {
  const said = noticeOf(facts, 'quarantined') ?? noticeOf(facts, 'does-not-converge')
  if (said === undefined) return undefined
  const { sync, kind, id, change } = facts
  const release = `dirsyncd quarantine release --sync ${sync} --${kind} ${quoted(id ?? '')}`
  // Only the service's own words say what it refused.
  const orDrop =
    emailWritten(change) === undefined
      ? ''
      : ', or, if the service refused the e-mail itself, set directory.dropBadEmails: true, which writes users without an e-mail that is no address or outside directory.allowedDomains'
  const next = nextOf(facts)
  return {
    code: said.code,
    text: `its ${nounOf(change)} is in quarantine: ${noticeText(said)}`,
    next:
      next === LEAVES
        ? `${LEAVES}: it is tried again when the entry changes, or a day after the last try`
        : next,
    todo: `Correct the entry in the source${orDrop}, or use ${release} and let the next run try again`,
  }
}

function held({ hold, change }: Story): Part | undefined {
  if (hold === null) return undefined
  const { run, breaches, isPlanHeld } = hold
  const noun = nounOf(change)
  const reasons = breaches.map((breach) => `${breach.code} (${blockText(breach)})`).join(' and ')
  const only = isPlanHeld ? '' : ` --only ${breaches[0]?.code}`
  return {
    code: isPlanHeld ? 'held' : 'unproved',
    text: isPlanHeld
      ? `run ${run} needs a decision before its ${noun}: ${reasons}`
      : `run ${run} did not make its ${noun}, because the read does not confirm it: ${reasons}`,
    next: `The next run does not make its ${noun}, unless an operator approves it or ${isPlanHeld ? 'the plan is within the guards again' : 'a later read confirms it'}`,
    todo: `See dirsyncd runs ${run}, then dirsyncd approve ${run}${only} or dirsyncd reject ${run}${only}`,
  }
}

/** The entry's last change was an undo, and the next run would repeat what was undone. */
function undone(facts: Story): Part | undefined {
  const { planned, sync, completedRun } = facts
  const done = doneIn(facts)
  const [last] = done
  if (last === undefined || last.undoes === null || planned === undefined) return undefined
  if (completedRun !== null && completedRun > last.run) return undefined
  const again = fingerprint(planned)
  const did = done.some(({ run, ...line }) => run === last.undoes && line.fingerprint === again)
  const back = done.find(({ run, op }) => run === last.run && op === reverse(planned.op))
  if (!did || back === undefined) return undefined
  const what = back.op.startsWith('delete') ? 'deleted it again' : 'put it back'
  return {
    code: 'undone',
    text: `run ${back.run} ${what} ${pointInTime(back.at)}, when it undid run ${last.undoes}; the source still wants what run ${last.undoes} did`,
    todo: `Correct the source or the configuration; dirsyncd plan ${sync} shows whether the next run would do it again`,
  }
}

function reverse(op: Op): string {
  return op.replace(/^(?:create|delete)/, (verb) => (verb === 'create' ? 'delete' : 'create'))
}

/** Memberships of a user that need approval; another part of the story lists them. */
export function waitingGroups({ waitingMemberships: all, id }: Story): readonly Part[] {
  const [first] = all
  if (first === undefined) return []
  const { run, isRejected } = first
  if (!isRejected)
    return [
      {
        code: 'held',
        text: `run ${run} needs a decision, also about its groups`,
        next: 'The next run plans again, and changes the groups unless a check still blocks that',
        todo: `See dirsyncd runs ${run}, then dirsyncd approve ${run} --id ${quoted(id ?? '')} or dirsyncd reject ${run}`,
      },
    ]
  const groups = all.filter((other) => other.run === run && other.isRejected)
  return [
    {
      code: 'rejected',
      text: `an operator rejected in run ${run} what was to be changed in its groups`,
      next: 'The next run leaves these groups as they are',
      todo: `dirsyncd approve ${run} ${groups.map(({ group }) => `--id ${quoted(group)}`).join(' ')} makes that change after all`,
    },
  ]
}
