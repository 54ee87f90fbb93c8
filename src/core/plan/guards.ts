import { isWaitingDelete } from '../notice.ts'
import type { Kind } from '../entries/entry.ts'
import { sortedUniqueInSteps } from '../entries/sorting.ts'
import { everyInSteps, forEachInSteps, type Steps } from '../../base/steps.ts'
import type { BlockReason, Guarded } from '../block.ts'
import { type Change, deleteFingerprint, membersDifference, type Op } from './change.ts'
import type { Plan, PlannedChange } from './changes.ts'
import type { ConfigurationChange } from './configuration.ts'
import { isMovedId } from './moved.ts'

/** Limits for users, groups or memberships; `null` means no limit. */
export interface KindLimits {
  readonly maxDeletes: number
  /** Of the entries in the directory, 0 to 100. */
  readonly maxDeletePercent: number
  /** Deletes without approval in the last 24 hours, including this plan's. */
  readonly maxDeletesPerDay: number
  readonly maxUpdates: number | null
  /** Counts only from `MIN_MASS_UPDATES` updates on, because a few updates are many of a small directory. */
  readonly maxUpdatePercent: number | null
}

const MIN_MASS_UPDATES = 20

export interface GuardLimits {
  readonly users: KindLimits
  readonly groups: KindLimits
  readonly memberships: KindLimits
  readonly minSourceUsers: number
  /** Against the last complete run; beyond that, deletes are held. */
  readonly maxSourceShrinkPercent: number
  /** Users whose id seems to belong to another person now. No limit if left out. */
  readonly maxMovedIds?: number
}

export const GUARDED: Readonly<Record<Op, Guarded>> = {
  'create-user': 'users',
  'update-user': 'users',
  'delete-user': 'users',
  'create-group': 'groups',
  'update-group': 'groups',
  'delete-group': 'groups',
  'set-members': 'memberships',
}

export interface GuardFacts {
  readonly source: { readonly users: number; readonly groups: number }
  /** Absent entries that wait for the evidence: the source may not have lost them. */
  readonly waiting?: { readonly users: number; readonly groups: number } | undefined
  readonly directory: Readonly<Record<Guarded, number>>
  /** Empty lists of the directory without a total. */
  readonly unprovedEmpty: readonly Kind[]
  /** The source in the last complete run of this sync on this directory. */
  readonly lastGood: { readonly users: number; readonly groups: number } | undefined
  /** Deletes applied in the last 24 hours by runs without approval. */
  readonly deletedLastDay: Readonly<Record<Guarded, number>>
  /** Options that changed scope or mapping since the last complete run. */
  readonly configurationChange?: ConfigurationChange | undefined
}

/** A reason, and the fingerprints of the changes that it holds. */
export type Breach = BlockReason & {
  readonly changes: readonly string[]
  /** Set by anomalies: only these changes wait, for an operator or for a better read, which may come by itself. */
  readonly waitsFor?: 'person' | 'better-read'
}

/** The changes that count against a limit, by how much, and their fingerprints. */
interface Tally {
  count: number
  readonly changes: string[]
}

interface Tallies {
  readonly deletes: Readonly<Record<Guarded, Tally>>
  readonly updates: Readonly<Record<Guarded, Tally>>
  /** Deletes that are often mistakes: of a changed filter, and of a changed id attribute. */
  readonly leftFilter: Record<Guarded, number>
  readonly renewed: Record<Guarded, number>
  readonly moved: Tally
  readonly waiting: Readonly<Record<Guarded, readonly string[]>>
  /** The fingerprints of all changes, where a guard may hold the whole plan. */
  readonly all: readonly string[]
}

type Guard = (plan: Tallies, facts: GuardFacts, limits: GuardLimits) => readonly Breach[]

const GUARDS: readonly Guard[] = [
  firstContact,
  emptySource,
  emptyDirectory,
  shrunkenSource,
  deleteLimits,
  dailyBudget,
  updateLimits,
  afterConfigurationChange,
  movedIds,
]

/** Runs every guard on the whole plan. A plan without changes is held only for deletes of later runs that it starts. */
export function* checkGuards(plan: Plan, facts: GuardFacts, limits: GuardLimits): Steps<readonly Breach[]> {
  const mayHoldAll = facts.source.users < limits.minSourceUsers || facts.unprovedEmpty.length > 0
  const tallies = yield* tallyPlan(plan, { mayHoldAll })
  if (plan.changes.length === 0)
    return [...firstContact(tallies, facts), ...afterConfigurationChange(tallies, facts)]
  return GUARDS.flatMap((guard) => guard(tallies, facts, limits))
}

/** Creates are skipped: no guard limits them. */
function* tallyPlan(plan: Plan, { mayHoldAll }: { readonly mayHoldAll: boolean }): Steps<Tallies> {
  const all: string[] = []
  if (mayHoldAll) yield* forEachInSteps(plan.changes.fingerprints(), (fingerprint) => all.push(fingerprint))
  const tallies: Tallies = {
    deletes: { users: emptyTally(), groups: emptyTally(), memberships: emptyTally() },
    updates: { users: emptyTally(), groups: emptyTally(), memberships: emptyTally() },
    leftFilter: { users: 0, groups: 0, memberships: 0 },
    renewed: { users: 0, groups: 0, memberships: 0 },
    moved: emptyTally(),
    waiting: yield* waitingDeletes(plan),
    all,
  }
  yield* forEachInSteps(plan.changes.of(...WEIGHED), (planned) => weigh(tallies, planned))
  return tallies
}

const WEIGHED = ['update-user', 'delete-user', 'update-group', 'delete-group', 'set-members'] as const

function weigh(tallies: Tallies, { change, removes, fingerprint }: PlannedChange): void {
  const kind = GUARDED[change.op]
  count(tallies.deletes[kind], removes, fingerprint)
  count(tallies.updates[kind], updatesOf(change), fingerprint)
  count(tallies.moved, isMovedId(change) ? 1 : 0, fingerprint)
  if ('why' in change && change.why === 'left-filter') tallies.leftFilter[kind] += 1
  if ('newId' in change) tallies.renewed[kind] += 1
}

function updatesOf(change: Change): number {
  if (change.op === 'update-user' || change.op === 'update-group') return 1
  return change.op === 'set-members' ? membersDifference(change).added.length : 0
}

function emptyTally(): Tally {
  return { count: 0, changes: [] }
}

function count(tally: Tally, weight: number, fingerprint: string): void {
  if (weight === 0) return
  tally.count += weight
  tally.changes.push(fingerprint)
}

export function* isApproved(breaches: readonly Breach[], approved: ReadonlySet<string>): Steps<boolean> {
  for (const { changes } of breaches)
    if (!(yield* everyInSteps(changes, (change) => approved.has(change)))) return false
  return true
}

export function heldChanges(breaches: readonly Breach[]): Steps<readonly string[]> {
  return sortedUniqueInSteps(breaches.flatMap((breach) => breach.changes))
}

function firstContact(plan: Tallies, facts: GuardFacts): readonly Breach[] {
  if (facts.lastGood !== undefined) return []
  const deletes = allDeletes(plan)
  const waiting = [...plan.waiting.users, ...plan.waiting.groups]
  const changes = [...deletes, ...waiting]
  if (changes.length === 0) return []
  const { users, groups, memberships } = plan.deletes
  const counts = { users: users.count, groups: groups.count, memberships: memberships.count }
  return [{ code: 'first-contact', params: { deletes: counts, later: waiting.length }, changes }]
}

/** Deletes that are not due yet: completing the first run would decide about them too. */
function* waitingDeletes({ notices }: Plan): Steps<Tallies['waiting']> {
  const waiting = { user: [] as string[], group: [] as string[] }
  yield* forEachInSteps(notices, (notice) => {
    const { kind, id } = notice
    if (id !== undefined && isWaitingDelete(notice)) waiting[kind].push(deleteFingerprint(kind, id))
  })
  return { users: waiting.user, groups: waiting.group, memberships: [] }
}

function emptySource({ all }: Tallies, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  if (facts.source.users >= limits.minSourceUsers) return []
  const params = { users: facts.source.users, limit: limits.minSourceUsers }
  return [{ code: 'min-source-users', params, changes: all }]
}

/** After a complete run, an empty directory is more likely a broken answer than an emptied one. */
function emptyDirectory({ all }: Tallies, { unprovedEmpty, lastGood }: GuardFacts): readonly Breach[] {
  return unprovedEmpty.flatMap((kind) => {
    const noun = `${kind}s` as const
    const before = lastGood?.[noun] ?? 0
    return before === 0
      ? []
      : [{ code: `empty-directory-${noun}`, params: { kind, before }, changes: all } as const]
  })
}

function shrunkenSource(plan: Tallies, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  const deletes = allDeletes(plan)
  if (facts.lastGood === undefined || deletes.length === 0) return []
  const breaches: Breach[] = []
  for (const kind of ['users', 'groups'] as const) {
    const before = facts.lastGood[kind]
    const now = facts.source[kind] + (facts.waiting?.[kind] ?? 0)
    if (before === 0 || (before - now) * 100 <= before * limits.maxSourceShrinkPercent) continue
    const params = { kind, now, before, limit: limits.maxSourceShrinkPercent }
    breaches.push({ code: `source-shrunk-${kind}`, params, changes: deletes })
  }
  return breaches
}

function deleteLimits(plan: Tallies, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  return eachKind((kind) => {
    const { count: deletes, changes } = plan.deletes[kind]
    const { maxDeletes, maxDeletePercent } = limits[kind]
    const of = facts.directory[kind]
    const params = { ...deletesOf(plan, kind), of }
    return [
      deletes > maxDeletes && {
        code: `max-deletes-${kind}`,
        params: { ...params, limit: maxDeletes },
        changes,
      },
      exceeds(deletes, of, maxDeletePercent) && {
        code: `max-delete-percent-${kind}`,
        params: { ...params, limit: maxDeletePercent },
        changes,
      },
    ]
  })
}

function dailyBudget(plan: Tallies, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  return eachKind((kind) => {
    const { count: deletes, changes } = plan.deletes[kind]
    const lastDay = facts.deletedLastDay[kind]
    const limit = limits[kind].maxDeletesPerDay
    return [
      deletes > 0 &&
        lastDay + deletes > limit && {
          code: `max-deletes-per-day-${kind}`,
          params: { kind, deletes, lastDay, limit },
          changes,
        },
    ]
  })
}

function updateLimits(plan: Tallies, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  return eachKind((kind) => {
    const { count: updates, changes } = plan.updates[kind]
    const { maxUpdates, maxUpdatePercent } = limits[kind]
    const of = facts.directory[kind]
    return [
      maxUpdates !== null &&
        updates > maxUpdates && {
          code: `max-updates-${kind}`,
          params: { kind, updates, limit: maxUpdates },
          changes,
        },
      maxUpdatePercent !== null &&
        updates >= MIN_MASS_UPDATES &&
        exceeds(updates, of, maxUpdatePercent) && {
          code: `max-update-percent-${kind}`,
          params: { kind, updates, of, limit: maxUpdatePercent },
          changes,
        },
    ]
  })
}

/** The share of a kind that may be removed or updated after a change of the configuration, in percent. */
const MOST_AFTER_CHANGE = 20

/** A changed filter or mapping often does to many entries what its author did not intend. */
function afterConfigurationChange(
  plan: Tallies,
  { configurationChange, directory }: GuardFacts,
): readonly Breach[] {
  if (configurationChange === undefined) return []
  return eachKind((kind) => {
    const deletes = plan.deletes[kind].count + plan.waiting[kind].length
    const updates = plan.updates[kind].count
    const isMass =
      exceeds(deletes, directory[kind], MOST_AFTER_CHANGE) ||
      (deletes + updates >= MIN_MASS_UPDATES &&
        exceeds(deletes + updates, directory[kind], MOST_AFTER_CHANGE))
    if (!isMass) return []
    const params = {
      ...configurationChange,
      ...deletesOf(plan, kind),
      deletes,
      updates,
      of: directory[kind],
      limit: MOST_AFTER_CHANGE,
      isLater: plan.waiting[kind].length > 0,
    }
    const changes = [...plan.deletes[kind].changes, ...plan.waiting[kind], ...plan.updates[kind].changes]
    // Only a change of members is both a delete and an update.
    const distinct = kind === 'memberships' ? [...new Set(changes)] : changes
    return [{ code: 'configuration-changed', params, changes: distinct }]
  })
}

/** If ids were renumbered, users get each other's accounts, although no single update looks wrong. */
function movedIds(plan: Tallies, _facts: GuardFacts, { maxMovedIds: limit }: GuardLimits): readonly Breach[] {
  if (limit === undefined) return []
  const { count: moved, changes } = plan.moved
  if (moved <= limit) return []
  return [{ code: 'max-moved-ids', params: { users: moved, limit }, changes }]
}

function eachKind(check: (kind: Guarded) => readonly (Breach | false)[]): readonly Breach[] {
  return (['users', 'groups', 'memberships'] as const).flatMap((kind) =>
    check(kind).filter((breach) => breach !== false),
  )
}

/** Compares in whole numbers, without rounding. An empty directory (`whole` is 0) has no percentage to exceed. */
function exceeds(part: number, whole: number, limitPercent: number): boolean {
  return part > 0 && whole > 0 && part * 100 > whole * limitPercent
}

function deletesOf(plan: Tallies, kind: Guarded) {
  const { leftFilter, renewed, deletes } = plan
  return { kind, deletes: deletes[kind].count, leftFilter: leftFilter[kind], newIds: renewed[kind] }
}

function allDeletes({ deletes }: Tallies): readonly string[] {
  return (['users', 'groups', 'memberships'] as const).flatMap((kind) => deletes[kind].changes)
}
