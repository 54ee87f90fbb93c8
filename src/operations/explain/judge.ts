import type { DirectoryGroup, DirectoryUser, Kind } from '../../core/entries/entry.ts'
import type { Sighting } from '../../core/entries/recheck.ts'
import type { SourceSnapshot } from '../../core/entries/snapshot.ts'
import { isNotice, type Notice } from '../../core/notice.ts'
import { type Change, deleteFingerprint, fingerprint } from '../../core/plan/change.ts'
import { type Grace, whyDeleteWaits } from '../../core/plan/grace.ts'
import type { PlanInputs, PlanRules, Withheld } from '../../core/plan/inputs.ts'
import { makePlan } from '../../core/plan/plan.ts'
import type { Found, FoundEntry } from '../../source/source.ts'
import type { EntryKey } from '../../store/entry-history.ts'
import type { recallReasons } from '../../sync/memory.ts'
import type { MembersInQuestion } from './members.ts'

export interface PlanFacts {
  readonly key: EntryKey
  readonly found: Found
  /** The directory's entry, and the entries of users that share its e-mail in the source. */
  readonly directory: readonly (DirectoryUser | DirectoryGroup)[]
  /** Left out where only a run can compare the members. */
  readonly members?: MembersInQuestion | undefined
  readonly rules: PlanRules
  readonly grace: Grace
  readonly memory: Awaited<ReturnType<typeof recallReasons>>
  readonly deletedLastDay: Readonly<Record<Kind, ReadonlySet<string>>>
}

/** What a run would plan, as far as this entry alone can tell. */
export interface Judged {
  /** The change that makes the sides equal, even if a run may not make it. */
  readonly difference: Change | undefined
  readonly planned: Change | undefined
  readonly notices: readonly Notice[]
  /** Whether a run has found the entry absent, so that its grace period has begun. */
  readonly isAbsenceKnown: boolean
}

const NOTHING_WITHHELD: ReadonlyMap<string, Withheld> = new Map()

export function judge(facts: PlanFacts): Judged {
  const inputs = inputsOf(facts)
  const bare = planOf(facts, { ...inputs, withheld: NOTHING_WITHHELD, waits: undefined })
  const { planned, notices } = planOf(facts, withReborn(facts, inputs, bare.planned))
  const isAbsenceKnown = facts.memory.absences[facts.key.kind].has(facts.key.id)
  return { difference: bare.planned, planned, notices, isAbsenceKnown }
}

function planOf(
  { key: { kind, id }, found: { entries } }: PlanFacts,
  inputs: PlanInputs,
): Pick<Judged, 'planned' | 'notices'> {
  const plan = makePlan(inputs)
  // A complete read reports rows and entries of others too.
  const places = new Set(entries.map(({ from }) => from))
  const isOwn = (notice: Notice) =>
    notice.id === undefined
      ? isNotice(notice, 'unreadable') && places.has(notice.params.from)
      : notice.id === id
  const own = [...plan.changes].map(({ change }) => change).filter((change) => change.id === id)
  const ofEntry = own.find(({ op }) => op.endsWith(`-${kind}`))
  const ofMembers = kind === 'group' ? own.find(({ op }) => op === 'set-members') : undefined
  const notices = plan.notices.filter((notice) => notice.kind === kind && isOwn(notice))
  return { planned: ofEntry ?? ofMembers, notices }
}

function inputsOf({ key, found, directory, members, rules, grace, memory }: PlanFacts): PlanInputs {
  const users = directory.filter((entry): entry is DirectoryUser => !('members' in entry))
  const groups = directory.filter((entry): entry is DirectoryGroup => 'members' in entry)
  const rule = { deleteAfter: grace.deleteAfter, confirmAfterMs: undefined }
  return {
    source: withMembers(found.snapshot, members),
    directory: {
      users: new Map([...users, ...(members?.directory ?? [])].map((user) => [user.id, user])),
      groups: new Map(groups.map((group) => [group.id, group])),
      notices: [],
      moved: false,
      unprovedEmpty: [],
    },
    sightings: sightingsOf(key, found, members),
    rules: members === undefined ? { ...rules, membership: 'off' } : rules,
    withheld: memory.withheld,
    refused: memory.refused,
    waits: {
      whyNotDeleted: (kind, id) =>
        memory.approved.has(deleteFingerprint(kind, id))
          ? undefined
          : whyDeleteWaits(rule, memory.absences, memory.now, kind, id),
    },
  }
}

function withMembers(snapshot: SourceSnapshot, members: MembersInQuestion | undefined): SourceSnapshot {
  if (members === undefined) return snapshot
  const users = new Map(snapshot.users)
  for (const user of members.source) users.set(user.id, user)
  return { ...snapshot, users }
}

/** Members come from a complete read, so a user missing there is gone. */
function sightingsOf(
  { kind, id }: EntryKey,
  { entries }: Found,
  members: MembersInQuestion | undefined,
): PlanInputs['sightings'] {
  const users = new Map<string, Sighting>(members?.ids.map((member) => [member, 'absent']))
  const groups = new Map<string, Sighting>()
  const own = kind === 'user' ? users : groups
  own.set(id, sightingOf(entries))
  return { user: users, group: groups }
}

/** The result of a run's recheck. */
function sightingOf(entries: readonly FoundEntry[]): Sighting {
  const standings = entries.map(({ standing }) => standing).filter((standing) => standing?.inBase === true)
  if (standings.some((standing) => standing?.disabled !== undefined)) return 'disabled'
  return standings.some((standing) => standing?.inFilter === false) ? 'out-of-scope' : 'absent'
}

/** A lagging server shows users that this sync has just deleted. */
function withReborn(
  { key: { kind, id }, found, memory, deletedLastDay }: PlanFacts,
  inputs: PlanInputs,
  change: Change | undefined,
): PlanInputs {
  const isApproved = change !== undefined && memory.approved.has(fingerprint(change))
  if (isApproved || found.server === undefined || !deletedLastDay[kind].has(id)) return inputs
  return { ...inputs, waits: { ...inputs.waits, isReborn: () => true } }
}
