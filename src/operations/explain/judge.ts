import { atOnce } from '../../base/steps.ts'
import { BlockedChanges } from '../../core/blocked.ts'
import { CHECKS } from '../../core/checks/checks.ts'
import type { Facts, Grace, GuardLimits, Refusal, RunFacts, States } from '../../core/checks/check.ts'
import { recentlyDeleted } from '../../core/checks/recently-deleted.ts'
import type { Decisions } from '../../core/decisions.ts'
import { diff } from '../../core/diff/diff.ts'
import type { Snapshots } from '../../core/diff/differences.ts'
import type { DiffRules } from '../../core/diff/rules.ts'
import { noticesOf } from '../../core/diff/notices.ts'
import type { DirectoryGroup, DirectoryUser, Kind } from '../../core/entries/entry.ts'
import type { Sighting } from '../../core/entries/recheck.ts'
import type { SourceSnapshot } from '../../core/entries/snapshot.ts'
import { firstFacts, judge } from '../../core/judge.ts'
import type { Key } from '../../core/keys.ts'
import { isNotice, type Notice } from '../../core/notice.ts'
import { createChanges } from '../../core/order.ts'
import { type Change, OPS } from '../../core/plan/change.ts'
import type { Options } from '../../core/plan/configuration.ts'
import type { Left } from '../../core/without.ts'
import type { Found, FoundEntry } from '../../source/source.ts'
import type { ChangeReason } from '../../store/change-list.ts'
import type { EntryKey } from './earlier-runs.ts'
import type { MembersInQuestion } from './members.ts'

export interface EntryFacts {
  readonly key: EntryKey
  readonly found: Found
  /** The directory's entry, and the entries of users that share its e-mail in the source. */
  readonly directory: readonly (DirectoryUser | DirectoryGroup)[]
  /** Left out where only a run can compare the members. */
  readonly members?: MembersInQuestion | undefined
  readonly rules: DiffRules
  readonly limits: GuardLimits
  readonly grace: Grace
  readonly options: Options
  readonly states: States
  readonly decisions: Decisions
  readonly refusals: readonly Refusal[]
  readonly now: Date
  readonly deletedLastDay: Readonly<Record<Kind, ReadonlySet<string>>>
}

export interface Judged {
  /** The change that makes source and directory equal, even if a run may not make it. */
  readonly difference: Change | null
  readonly planned: Change | null
  readonly reasons: readonly ChangeReason[]
  readonly notices: readonly Notice[]
  readonly keys: readonly Key[]
}

/** Checks that one entry is enough for; what the others block is in the last run's report. */
const TIERS = [CHECKS.rules, [recentlyDeleted], CHECKS.refusals]

export const OWN_CODES: ReadonlySet<string> = new Set(
  TIERS.flat()
    .map(({ name }) => name)
    .filter((name) => name !== 'unreadable'),
)

export function judgeEntry(entry: EntryFacts): Judged {
  const { key, decisions } = entry
  const wanted = atOnce(diff(snapshotsOf(entry), rulesOf(entry)))
  const bare: RunFacts = { ...atOnce(firstFacts(wanted, decisions)), ...seenBy(entry) }
  let facts = bare
  for (const tier of TIERS) facts = atOnce(judge(tier, facts))
  const why = whyDeleted(entry)
  return {
    difference: changeOf(key, bare.left, why),
    planned: changeOf(key, facts.left, why),
    reasons: reasonsIn(key, facts, why),
    notices: ownNotices(entry, facts.left),
    keys: [...wanted.keysOf(key.kind, key.id)],
  }
}

function seenBy(entry: EntryFacts): Omit<RunFacts, keyof Facts> {
  const { limits, grace, options, states, refusals, now, deletedLastDay } = entry
  return {
    run: 0,
    now,
    limits,
    grace: { deleteAfter: grace.deleteAfter, confirmAfterMs: undefined },
    states,
    rechecks: { entries: sightingsOf(entry), removals: new Map() },
    server: undefined,
    refusals,
    journal: { unapproved: { users: 0, groups: 0, memberships: 0 }, deleted: deletedLastDay },
    options,
  }
}

function rulesOf({ rules, members }: EntryFacts): DiffRules {
  return members === undefined ? { ...rules, membership: 'off' } : rules
}

type WhyDeleted = Parameters<typeof createChanges>[1]

function whyDeleted(entry: EntryFacts): WhyDeleted {
  const sighting = sightingOf(entry.found.entries)
  const why = sighting === 'disabled' ? sighting : sighting === 'out-of-scope' ? 'left-filter' : 'gone'
  return () => why
}

function changeOf({ kind, id }: EntryKey, left: Left, why: WhyDeleted): Change | null {
  const changes = atOnce(createChanges(left, why))
  for (const op of OPS) {
    const isOfKind = op.endsWith(`-${kind}`) || (kind === 'group' && op === 'set-members')
    const change = isOfKind ? atOnce(changes.of(op, id)) : undefined
    if (change !== undefined) return change
  }
  return null
}

function reasonsIn({ kind, id }: EntryKey, facts: RunFacts, why: WhyDeleted): readonly ChangeReason[] {
  const found = new Map<string, ChangeReason>()
  for (const { planned, reasons } of atOnce(BlockedChanges.of(facts, why))) {
    const { change } = planned
    if (change.id !== id || change.op.endsWith('-user') !== (kind === 'user')) continue
    for (const reason of reasons) {
      const { code, params, until, stops } = facts.blocks[reason.block]!
      // The parameters and facts are those of the code.
      const of = { code, params, until, stops: stops === 'plan', facts: reason.facts ?? null } as ChangeReason
      found.set(code, found.get(code) ?? of)
    }
  }
  return [...found.values()]
}

function ownNotices({ key: { kind, id }, found: { entries } }: EntryFacts, left: Left): readonly Notice[] {
  // A complete read reports rows and entries of others, too.
  const places = new Set(entries.map(({ from }) => from))
  const isOwn = (notice: Notice) =>
    notice.id === undefined
      ? isNotice(notice, 'unreadable') && places.has(notice.params.from)
      : notice.id === id
  const all = atOnce(noticesOf({ left, isStopped: false }, atOnce(createChanges(left, () => 'gone'))))
  return all.filter((notice) => notice.kind === kind && isOwn(notice))
}

function snapshotsOf({ found, directory, members }: EntryFacts): Snapshots {
  const users = directory.filter((entry): entry is DirectoryUser => !('members' in entry))
  const groups = directory.filter((entry): entry is DirectoryGroup => 'members' in entry)
  return {
    source: withMembers(found.snapshot, members),
    directory: {
      users: new Map([...users, ...(members?.directory ?? [])].map((user) => [user.id, user])),
      groups: new Map(groups.map((group) => [group.id, group])),
      notices: [],
      moved: false,
      unprovedEmpty: [],
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
function sightingsOf({ key, found, members }: EntryFacts): RunFacts['rechecks']['entries'] {
  const user = new Map<string, Sighting>(members?.ids.map((member) => [member, 'absent']))
  const group = new Map<string, Sighting>()
  const own = key.kind === 'user' ? user : group
  own.set(key.id, sightingOf(found.entries))
  return { user, group }
}

function sightingOf(entries: readonly FoundEntry[]): Sighting {
  const standings = entries.map(({ standing }) => standing).filter((standing) => standing?.inBase === true)
  if (standings.some((standing) => standing?.disabled !== undefined)) return 'disabled'
  return standings.some((standing) => standing?.inFilter === false) ? 'out-of-scope' : 'absent'
}
