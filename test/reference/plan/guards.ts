import type { Kind } from '../directory/entry.ts'
import { forEachInSteps, type Steps } from '../directory/steps.ts'
import { amount, digits } from '../directory/wording.ts'
import { type Change, deleteFingerprint, membersDifference, type Op } from './change.ts'
import type { Plan, PlannedChange } from './changes.ts'
import { type ConfigurationChange, keysText } from './configuration.ts'
import { isMovedId } from './moved.ts'

/** Limits for users, groups or memberships; beyond any of them, changes are held. `null` means no limit. */
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

/** The fewest updates that can be too large a share. */
const MIN_MASS_UPDATES = 20

export interface GuardLimits {
  readonly users: KindLimits
  readonly groups: KindLimits
  readonly memberships: KindLimits
  readonly minSourceUsers: number
  /** How much smaller the source may be than in the last completed run; beyond that, deletes are held. */
  readonly maxSourceShrinkPercent: number
  /** The most users whose id seems to belong to another person now. No limit if left out. */
  readonly maxMovedIds?: number
}

export type Guarded = 'users' | 'groups' | 'memberships'

/** The limits that a change counts against. */
export const GUARDED: Readonly<Record<Op, Guarded>> = {
  'create-user': 'users',
  'update-user': 'users',
  'delete-user': 'users',
  'create-group': 'groups',
  'update-group': 'groups',
  'delete-group': 'groups',
  'set-members': 'memberships',
}

/** What the guards know besides the plan. */
export interface GuardFacts {
  readonly source: { readonly users: number; readonly groups: number }
  /** Who is not in the source and waits for the evidence: whether the source lost them, nobody knows yet. */
  readonly waiting?: { readonly users: number; readonly groups: number } | undefined
  readonly directory: Readonly<Record<Guarded, number>>
  /** Lists of the directory that were empty without a total that says so. */
  readonly unprovedEmpty: readonly Kind[]
  /** The source in the last completed run of this sync on this directory, if there was one. */
  readonly lastGood: { readonly users: number; readonly groups: number } | undefined
  /** Deletes applied in the last 24 hours by runs without approval. */
  readonly deletedLastDay: Readonly<Record<Guarded, number>>
  /** Which options decide otherwise than in the last completed run. */
  readonly configurationChange?: ConfigurationChange | undefined
}

/** A guard's objection: its name, the reason in one sentence, and the fingerprints of the changes that it holds. */
export interface Breach {
  readonly guard: string
  readonly detail: string
  readonly changes: readonly string[]
  /**
   * Set where the evidence of a read objects: then only these changes wait and the others are applied. For whom they
   * wait: for a person, or for a better read, which may come by itself.
   */
  readonly waitsFor?: 'person' | 'better-read'
}

/** Changes that count against a limit, by how much, and their fingerprints. */
interface Tally {
  count: number
  readonly changes: string[]
}

/** What the guards weigh of a plan. */
interface Tallies {
  readonly deletes: Readonly<Record<Guarded, Tally>>
  readonly updates: Readonly<Record<Guarded, Tally>>
  /** Deletes that are often mistakes: of a changed filter, and of a changed id attribute. */
  readonly leftFilter: Record<Guarded, number>
  readonly renewed: Record<Guarded, number>
  /** Users whose id seems to belong to another person now. */
  readonly moved: Tally
  /** The fingerprints of the deletes that only wait for their time. */
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

/**
 * Runs every guard on the whole plan. A plan without changes has nothing to hold but what it lets later runs delete.
 */
export function* checkGuards(plan: Plan, facts: GuardFacts, limits: GuardLimits): Steps<readonly Breach[]> {
  const mayHoldAll = facts.source.users < limits.minSourceUsers || facts.unprovedEmpty.length > 0
  const tallies = yield* tallyPlan(plan, { mayHoldAll })
  if (plan.changes.length === 0)
    return [...firstContact(tallies, facts), ...afterConfigurationChange(tallies, facts)]
  return GUARDS.flatMap((guard) => guard(tallies, facts, limits))
}

/** Creates are not looked at: no guard limits them. */
function* tallyPlan(plan: Plan, { mayHoldAll }: { readonly mayHoldAll: boolean }): Steps<Tallies> {
  const all: string[] = []
  if (mayHoldAll) yield* forEachInSteps(plan.changes.fingerprints(), (fingerprint) => all.push(fingerprint))
  const tallies: Tallies = {
    deletes: { users: emptyTally(), groups: emptyTally(), memberships: emptyTally() },
    updates: { users: emptyTally(), groups: emptyTally(), memberships: emptyTally() },
    leftFilter: { users: 0, groups: 0, memberships: 0 },
    renewed: { users: 0, groups: 0, memberships: 0 },
    moved: emptyTally(),
    waiting: waitingDeletes(plan),
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

/** True if every held change is approved. */
export function isApproved(breaches: readonly Breach[], approved: ReadonlySet<string>): boolean {
  return breaches.every((breach) => breach.changes.every((change) => approved.has(change)))
}

/** The fingerprints of all held changes, sorted and without duplicates. */
export function heldChanges(breaches: readonly Breach[]): string[] {
  return [...new Set(breaches.flatMap((breach) => breach.changes))].toSorted()
}

function firstContact(plan: Tallies, facts: GuardFacts): readonly Breach[] {
  if (facts.lastGood !== undefined) return []
  const deletes = allDeletes(plan)
  const waiting = [...plan.waiting.users, ...plan.waiting.groups]
  const changes = [...deletes, ...waiting]
  if (changes.length === 0) return []
  const what = [
    ...(deletes.length === 0 ? [] : [`would remove ${describeDeletes(plan)}`]),
    ...(waiting.length === 0 ? [] : [`would let a later run delete ${digits(waiting.length)}`]),
  ]
  const detail =
    `this sync has never completed a run on this directory, and the plan ${what.join(' and ')} that ` +
    `${changes.length === 1 ? 'is' : 'are'} not in the source`
  return [{ guard: 'first-contact', detail, changes }]
}

/** The deletes that only wait for their time: completing the first run would decide about them too. */
function waitingDeletes({ notices }: Plan): Tallies['waiting'] {
  const waiting = { user: [] as string[], group: [] as string[] }
  for (const { code, kind, id } of notices)
    if (id !== undefined && (code === 'in-grace' || code === 'unproved'))
      waiting[kind].push(deleteFingerprint(kind, id))
  return { users: waiting.user, groups: waiting.group, memberships: [] }
}

function emptySource({ all }: Tallies, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  if (facts.source.users >= limits.minSourceUsers) return []
  const detail = `the source has ${amount(facts.source.users, 'user')}, at least ${digits(limits.minSourceUsers)} are expected`
  return [{ guard: 'min-source-users', detail, changes: all }]
}

/** After a completed run an empty directory is more likely a broken answer than one that somebody emptied. */
function emptyDirectory({ all }: Tallies, { unprovedEmpty, lastGood }: GuardFacts): readonly Breach[] {
  return unprovedEmpty.flatMap((kind) => {
    const noun = `${kind}s` as const
    const before = lastGood?.[noun] ?? 0
    if (before === 0) return []
    const detail =
      `the directory shows no ${noun}, without the headers that count them, and the source of ` +
      `the last good run had ${digits(before)}`
    return [{ guard: `empty-directory-${noun}`, detail, changes: all }]
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
    const detail =
      `the source has ${digits(now)} ${kind}, ${percent(before - now, before)} fewer than the ${digits(before)} of the last good run; ` +
      `limit ${limits.maxSourceShrinkPercent} %`
    breaches.push({ guard: `source-shrunk-${kind}`, detail, changes: deletes })
  }
  return breaches
}

function deleteLimits(plan: Tallies, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  return eachKind((kind) => {
    const { count: deletes, changes } = plan.deletes[kind]
    const { maxDeletes, maxDeletePercent } = limits[kind]
    return [
      deletes > maxDeletes && {
        guard: `max-deletes-${kind}`,
        detail: `${digits(deletes)} of ${digits(facts.directory[kind])} ${kind} would be removed${causesText(plan, kind)}, limit ${digits(maxDeletes)}`,
        changes,
      },
      exceeds(deletes, facts.directory[kind], maxDeletePercent) && {
        guard: `max-delete-percent-${kind}`,
        detail:
          `${percent(deletes, facts.directory[kind])} of the ${kind} (${digits(deletes)} of ${digits(facts.directory[kind])}) would be ` +
          `removed${causesText(plan, kind)}, limit ${maxDeletePercent} %`,
        changes,
      },
    ]
  })
}

function dailyBudget(plan: Tallies, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  return eachKind((kind) => {
    const { count: deletes, changes } = plan.deletes[kind]
    const before = facts.deletedLastDay[kind]
    return [
      deletes > 0 &&
        before + deletes > limits[kind].maxDeletesPerDay && {
          guard: `max-deletes-per-day-${kind}`,
          detail:
            `${digits(deletes)} ${kind} would be removed after ${digits(before)} in the last 24 hours, ` +
            `limit ${digits(limits[kind].maxDeletesPerDay)} a day`,
          changes,
        },
    ]
  })
}

function updateLimits(plan: Tallies, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  return eachKind((kind) => {
    const { count: updates, changes } = plan.updates[kind]
    const { maxUpdates, maxUpdatePercent } = limits[kind]
    const verb = kind === 'memberships' ? 'added' : 'updated'
    return [
      maxUpdates !== null &&
        updates > maxUpdates && {
          guard: `max-updates-${kind}`,
          detail: `${digits(updates)} ${kind} would be ${verb}, limit ${digits(maxUpdates)}`,
          changes,
        },
      maxUpdatePercent !== null &&
        updates >= MIN_MASS_UPDATES &&
        exceeds(updates, facts.directory[kind], maxUpdatePercent) && {
          guard: `max-update-percent-${kind}`,
          detail:
            `${percent(updates, facts.directory[kind])} of the ${kind} (${digits(updates)} of ${digits(facts.directory[kind])}) would be ` +
            `${verb}, limit ${maxUpdatePercent} %`,
          changes,
        },
    ]
  })
}

/** How much of a kind may be removed or updated after a change of the configuration, in percent. */
const MOST_AFTER_CHANGE = 20

/** What a changed filter or mapping does to many is often not what its author meant. */
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
    const { since, keys } = configurationChange
    const later = plan.waiting[kind].length > 0 ? ' now or later' : ''
    const detail =
      `the configuration was changed since run ${since} (${keysText(keys)}): ${digits(deletes)} of ` +
      `${digits(directory[kind])} ${kind} would be removed${later}${causesText(plan, kind)} and ${digits(updates)} ` +
      `${kind === 'memberships' ? 'added' : 'updated'}, together ${percent(deletes + updates, directory[kind])}, ` +
      `limit ${MOST_AFTER_CHANGE} % after such a change`
    const changes = [...plan.deletes[kind].changes, ...plan.waiting[kind], ...plan.updates[kind].changes]
    return [{ guard: 'configuration-changed', detail, changes: [...new Set(changes)] }]
  })
}

/** If ids were renumbered, users get each other's accounts, although no single update looks wrong. */
function movedIds(plan: Tallies, _facts: GuardFacts, { maxMovedIds: limit }: GuardLimits): readonly Breach[] {
  if (limit === undefined) return []
  const { count: moved, changes } = plan.moved
  if (moved <= limit) return []
  const verb = moved === 1 ? 'id of a user seems' : 'ids of users seem'
  const detail = `${digits(moved)} ${verb} to belong to another person now (name and e-mail change at once), limit ${digits(limit)}`
  return [{ guard: 'max-moved-ids', detail, changes }]
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

/** Points out two causes that are often mistakes: a changed filter, and a changed id attribute. */
function causesText(plan: Tallies, kind: Guarded): string {
  const left = plan.leftFilter[kind]
  const renewed = plan.renewed[kind]
  const parts = [
    ...(left === 0 ? [] : [`${digits(left)} still in the source, but outside the sync's filter`]),
    ...(renewed === 0 ? [] : [`${digits(renewed)} created again under another id`]),
  ]
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`
}

function allDeletes({ deletes }: Tallies): readonly string[] {
  return (['users', 'groups', 'memberships'] as const).flatMap((kind) => deletes[kind].changes)
}

function describeDeletes({ deletes }: Tallies): string {
  const parts = (['users', 'groups', 'memberships'] as const)
    .filter((kind) => deletes[kind].count > 0)
    .map((kind) => amount(deletes[kind].count, kind.slice(0, -1)))
  return parts.join(' and ')
}

function percent(part: number, whole: number): string {
  const share = (part * 100) / whole
  return `${share < 10 ? share.toFixed(1) : Math.round(share)} %`
}
