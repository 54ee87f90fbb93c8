import type { Kind } from '../directory/entry.ts'
import { amount, digits } from '../directory/wording.ts'
import { deleteFingerprint, type Op } from './change.ts'
import { isMovedId } from './moved.ts'
import type { Plan, PlannedChange } from './plan.ts'

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

/** The sum of deletes or updates, and the fingerprints of the changes that count. */
interface Tally {
  readonly count: number
  readonly changes: readonly string[]
}

type Guard = (plan: Plan, facts: GuardFacts, limits: GuardLimits) => readonly Breach[]

const GUARDS: readonly Guard[] = [
  firstContact,
  emptySource,
  emptyDirectory,
  shrunkenSource,
  deleteLimits,
  dailyBudget,
  updateLimits,
  movedIds,
]

/**
 * Runs every guard on the whole plan. A plan without changes has nothing to hold but what it lets later runs delete.
 */
export function checkGuards(plan: Plan, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  if (plan.changes.length === 0) return firstContact(plan, facts)
  return GUARDS.flatMap((guard) => guard(plan, facts, limits))
}

/** True if every held change is approved. */
export function isApproved(breaches: readonly Breach[], approved: ReadonlySet<string>): boolean {
  return breaches.every((breach) => breach.changes.every((change) => approved.has(change)))
}

/** The fingerprints of all held changes, sorted and without duplicates. */
export function heldChanges(breaches: readonly Breach[]): string[] {
  return [...new Set(breaches.flatMap((breach) => breach.changes))].toSorted()
}

function firstContact(plan: Plan, facts: GuardFacts): readonly Breach[] {
  if (facts.lastGood !== undefined) return []
  const deletes = allDeletes(plan)
  const waiting = waitingDeletes(plan)
  const changes = [...deletes.changes, ...waiting]
  if (changes.length === 0) return []
  const what = [
    ...(deletes.changes.length === 0 ? [] : [`would remove ${describeDeletes(plan)}`]),
    ...(waiting.length === 0 ? [] : [`would let a later run delete ${digits(waiting.length)}`]),
  ]
  const detail =
    `this sync has never completed a run on this directory, and the plan ${what.join(' and ')} that ` +
    `${changes.length === 1 ? 'is' : 'are'} not in the source`
  return [{ guard: 'first-contact', detail, changes }]
}

/** The deletes that only wait for their time: completing the first run would decide about them too. */
function waitingDeletes({ notices }: Plan): string[] {
  return notices.flatMap(({ code, kind, id }) =>
    id !== undefined && (code === 'in-grace' || code === 'unproved') ? [deleteFingerprint(kind, id)] : [],
  )
}

function emptySource(plan: Plan, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  if (facts.source.users >= limits.minSourceUsers) return []
  const detail = `the source has ${amount(facts.source.users, 'user')}, at least ${digits(limits.minSourceUsers)} are expected`
  return [{ guard: 'min-source-users', detail, changes: plan.changes.map((planned) => planned.fingerprint) }]
}

/** After a completed run an empty directory is more likely a broken answer than one that somebody emptied. */
function emptyDirectory(plan: Plan, { unprovedEmpty, lastGood }: GuardFacts): readonly Breach[] {
  return unprovedEmpty.flatMap((kind) => {
    const noun = `${kind}s` as const
    const before = lastGood?.[noun] ?? 0
    if (before === 0) return []
    const detail =
      `the directory shows no ${noun}, without the headers that count them, and the source of ` +
      `the last good run had ${digits(before)}`
    return [
      {
        guard: `empty-directory-${noun}`,
        detail,
        changes: plan.changes.map(({ fingerprint }) => fingerprint),
      },
    ]
  })
}

function shrunkenSource(plan: Plan, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  const deletes = allDeletes(plan)
  if (facts.lastGood === undefined || deletes.changes.length === 0) return []
  const breaches: Breach[] = []
  for (const kind of ['users', 'groups'] as const) {
    const before = facts.lastGood[kind]
    const now = facts.source[kind] + (facts.waiting?.[kind] ?? 0)
    if (before === 0 || (before - now) * 100 <= before * limits.maxSourceShrinkPercent) continue
    const detail =
      `the source has ${digits(now)} ${kind}, ${percent(before - now, before)} fewer than the ${digits(before)} of the last good run; ` +
      `limit ${limits.maxSourceShrinkPercent} %`
    breaches.push({ guard: `source-shrunk-${kind}`, detail, changes: deletes.changes })
  }
  return breaches
}

function deleteLimits(plan: Plan, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  return eachKind((kind) => {
    const { count: deletes, changes } = tallyDeletes(plan, kind)
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

function dailyBudget(plan: Plan, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  return eachKind((kind) => {
    const { count: deletes, changes } = tallyDeletes(plan, kind)
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

function updateLimits(plan: Plan, facts: GuardFacts, limits: GuardLimits): readonly Breach[] {
  return eachKind((kind) => {
    const { count: updates, changes } = tallyUpdates(plan, kind)
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

/** If ids were renumbered, users get each other's accounts, although no single update looks wrong. */
function movedIds(plan: Plan, _facts: GuardFacts, { maxMovedIds: limit }: GuardLimits): readonly Breach[] {
  if (limit === undefined) return []
  const { count: moved, changes } = tally(plan.changes, ({ change }) => (isMovedId(change) ? 1 : 0))
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

function tallyDeletes(plan: Plan, kind: Guarded): Tally {
  return tally(plan.changes, ({ change, removes }) => (GUARDED[change.op] === kind ? removes : 0))
}

function tallyUpdates(plan: Plan, kind: Guarded): Tally {
  return tally(plan.changes, ({ change }) => {
    if (kind === 'users') return change.op === 'update-user' ? 1 : 0
    if (kind === 'groups') return change.op === 'update-group' ? 1 : 0
    if (change.op !== 'set-members') return 0
    const members = new Set(change.have)
    return change.want.filter((id) => !members.has(id)).length
  })
}

/** Points out two causes that are often mistakes: a changed filter, and a changed id attribute. */
function causesText(plan: Plan, kind: Guarded): string {
  const changes = plan.changes.map(({ change }) => change).filter(({ op }) => GUARDED[op] === kind)
  const left = changes.filter((change) => 'why' in change && change.why === 'left-filter').length
  const renewed = changes.filter((change) => 'newId' in change).length
  const parts = [
    ...(left === 0 ? [] : [`${digits(left)} still in the source, but outside the sync's filter`]),
    ...(renewed === 0 ? [] : [`${digits(renewed)} created again under another id`]),
  ]
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`
}

function allDeletes(plan: Plan): Tally {
  const kinds = (['users', 'groups', 'memberships'] as const).map((kind) => tallyDeletes(plan, kind))
  return {
    count: kinds.reduce((sum, kind) => sum + kind.count, 0),
    changes: kinds.flatMap((kind) => kind.changes),
  }
}

function describeDeletes(plan: Plan): string {
  const parts = (['users', 'groups', 'memberships'] as const)
    .map((kind) => ({ kind, count: tallyDeletes(plan, kind).count }))
    .filter(({ count: deletes }) => deletes > 0)
    .map(({ kind, count: deletes }) => amount(deletes, kind.slice(0, -1)))
  return parts.join(' and ')
}

function tally(changes: readonly PlannedChange[], weight: (planned: PlannedChange) => number): Tally {
  const fingerprints: string[] = []
  let total = 0
  for (const planned of changes) {
    const weighs = weight(planned)
    if (weighs === 0) continue
    total += weighs
    fingerprints.push(planned.fingerprint)
  }
  return { count: total, changes: fingerprints }
}

function percent(part: number, whole: number): string {
  const share = (part * 100) / whole
  return `${share < 10 ? share.toFixed(1) : Math.round(share)} %`
}
