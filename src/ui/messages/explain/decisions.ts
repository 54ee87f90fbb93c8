import { pointInTime } from '../../../base/wording.ts'
import { fingerprint, type Op } from '../../../core/plan/change.ts'
import type { BlockedMembership, Story, StoryReason } from '../../../operations/story.ts'
import { BLOCKS, reasonText } from '../blocks.ts'
import { LEAVES, nounOf } from './next.ts'
import { doneIn, emailWritten, KEEP, type Part, quoted } from './part.ts'

export function blocked(facts: Story): Part | undefined {
  const { reasons, planned, difference } = facts
  const [first] = reasons.toSorted((a, b) => rankOf(a) - rankOf(b))
  if (first === undefined) return undefined
  const isRest =
    planned !== null && (reasons.every(({ run }) => run === null) || planned.op !== difference?.op)
  const text = reasons.map(
    ({ run, ...reason }) => `${run === null ? '' : `run ${run}: `}${reasonText(reason)}`,
  )
  return {
    code: first.code,
    text: [...new Set(text)].join('; '),
    next: isRest
      ? 'The next run makes the rest of the change, unless a check blocks it'
      : nextOf(facts, first),
    todo: todoOf(facts, first),
  }
}

/** Reasons that no approval ends come first: until they end, an approval changes nothing. */
function rankOf({ code, until }: StoryReason): number {
  if (code === 'rejected') return 0
  return until === 'decision' ? 2 : 1
}

function nextOf(facts: Story, { code, until }: StoryReason): string {
  const { difference, kind, membership } = facts
  const noun = nounOf(difference)
  if (code === 'grace' && kind === 'user' && membership === 'write')
    return `${LEAVES}, but takes it out of the groups of the sync, unless a check blocks that`
  if (code === 'recently-deleted')
    return 'The next run creates it only if a day has passed since its delete, or after an approval'
  if (code === 'rejected' || until === 'configuration' || until === 'time') return LEAVES
  if (until === 'service')
    return `${LEAVES}: it is tried again when the entry changes, or a day after the last try`
  if (until === 'read') return `The next run makes its ${noun} only if its read confirms it`
  return `The next run does not make its ${noun} unless an operator approves it`
}

function todoOf({ sync, kind, id, difference, question, lastRun }: Story, reason: StoryReason): string {
  const { code, until, run } = reason
  const ofEntry = `--id ${quoted(id ?? '')}`
  if (code === 'rejected') {
    const rejection = reason.facts as { readonly run: number } | null
    return `dirsyncd approve ${rejection?.run ?? run} ${ofEntry} makes it after all`
  }
  if (code === 'grace') return KEEP
  if (code === 'quarantine' || code === 'not-persisted') {
    const release = `dirsyncd quarantine release --sync ${sync} --${kind} ${quoted(id ?? '')}`
    // Only the service's own words say what it refused.
    const orDrop =
      emailWritten(difference) === undefined
        ? ''
        : ', or, if the service refused the e-mail itself, set directory.dropBadEmails: true, which writes users without an e-mail that is no address or outside directory.allowedDomains'
    return `Correct the entry in the source${orDrop}, or use ${release} and let the next run try again`
  }
  const shown = question ?? run
  if (shown !== null && (until === 'decision' || until === 'time'))
    return `See dirsyncd runs ${shown}, then dirsyncd approve ${shown} ${ofEntry} or dirsyncd reject ${shown} ${ofEntry}`
  if (code === 'recently-deleted' && lastRun !== null)
    return `dirsyncd approve ${lastRun.run} ${ofEntry} creates it now, if that run shows it as blocked`
  return BLOCKS[code].remedy
}

export function undone(facts: Story): Part | undefined {
  const { planned, sync, completedRun } = facts
  const done = doneIn(facts)
  const [last] = done
  if (last === undefined || last.undoes === null || planned === null) return undefined
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

export function blockedGroups({ groups, id }: Story): readonly Part[] {
  const [first] = groups
  if (first === undefined) return []
  const { run } = first
  const code = first.reasons[0]?.code
  return [
    {
      ...(code !== undefined && { code }),
      text: `run ${run} blocked changes of its groups`,
      next: 'The next run plans again, and changes the groups unless a check still blocks that',
      ...(groups.some(canBeApproved) && {
        todo: `See dirsyncd runs ${run}; dirsyncd approve ${run} --id ${quoted(id ?? '')} makes these changes`,
      }),
    },
  ]
}

/** Also where only the stop of the plan blocks it. */
function canBeApproved({ reasons }: BlockedMembership): boolean {
  return reasons.every(({ until }) => until === 'decision' || until === 'time')
}
