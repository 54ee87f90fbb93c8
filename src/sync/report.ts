import { forEachInSteps, type Steps } from '../base/steps.ts'
import type { Block } from '../core/block.ts'
import { keysOfChange } from '../core/blocked.ts'
import type { Facts, Refusal } from '../core/checks/check.ts'
import { type Shown, shownBy } from '../core/decide.ts'
import { unchangedIn } from '../core/diff/unchanged.ts'
import type { Notice, NoticeCode } from '../core/notice.ts'
import { type Key, KeySet, parseKey, wholeOf } from '../core/keys.ts'
import type { Kind } from '../core/entries/entry.ts'
import { createChanges, isRemoval } from '../core/order.ts'
import { type Change, fingerprint, kindOf, type Op, OPS } from '../core/plan/change.ts'
import { type PlanKeys, without } from '../core/without.ts'
import type { replaceChanges, WaitingChange } from '../store/plans.ts'
import type { ReadEvidence, RunCounts, StoredBlock } from '../store/run-types.ts'
import type { Judged, Outcomes } from './run-store.ts'

export function* reportOf({ facts, plan, blocked, notices }: Judged) {
  const { wanted, server, blocks } = facts
  const { source, directory } = wanted.snapshots
  const { asking, rejected, lastRejection, named } = blocked
  const again = blocks.findIndex(({ code }) => code === 'seen-again')
  const counts: RunCounts = {
    sourceUsers: source.seen.user.size,
    sourceGroups: source.seen.group.size,
    directoryUsers: directory.users.size,
    directoryGroups: directory.groups.size,
    unchanged: yield* unchangedIn(wanted),
    planned: countsOf(plan),
    blocked: countsOf(blocked),
    asking,
    rejected,
    lastRejection,
    outcomes: {},
    notices: yield* noticesBy(notices),
  }
  const evidence: ReadEvidence = {
    server: server?.state ?? null,
    unreadable: source.unreadable,
    absent: { user: wanted.absent.user.size, group: wanted.absent.group.size },
    seenAgain: again < 0 ? 0 : named[again]!,
    directoryMoved: directory.moved,
  }
  return {
    counts,
    evidence,
    blocks: blocks.map((block, place) => storedBlock(block, named[place]!)),
  }
}

/** What the operator sees. A run of some entries shows nothing about others. */
export function* shownIn(run: number, facts: Facts): Steps<Shown> {
  const shown = yield* shownBy(run, facts)
  if (facts.outside.length === 0) return shown
  const codes = new Map<string, ReadonlySet<string>>()
  yield* forEachInSteps(shown.codes, ([text, reasons]) => {
    const key = parseKey(text)
    if (key === undefined || !facts.outside.some((keys) => keys.has(key))) codes.set(text, reasons)
  })
  return { ...shown, codes }
}

function storedBlock({ code, params, until, stops, asks }: Block, changes: number): StoredBlock {
  // The parameters are those of the code.
  return { code, params, until, stops: stops === 'plan', asks: asks ?? null, changes } as StoredBlock
}

/** The counts at the end of a run, with the notices of applying it. */
export function countsAtEnd(
  counts: RunCounts,
  applying: readonly Notice[],
  outcomes: RunCounts['outcomes'],
): RunCounts {
  const notices = { ...counts.notices }
  for (const { code } of applying) notices[code] = (notices[code] ?? 0) + 1
  return { ...counts, notices, outcomes }
}

function countsOf(changes: { readonly countOf: (op: Op) => number }): Partial<Record<Op, number>> {
  const used = OPS.filter((op) => changes.countOf(op) > 0)
  return Object.fromEntries(used.map((op) => [op, changes.countOf(op)]))
}

function* noticesBy(notices: readonly Notice[]): Steps<Partial<Record<NoticeCode, number>>> {
  const counts: Partial<Record<NoticeCode, number>> = {}
  yield* forEachInSteps(notices, ({ code }) => (counts[code] = (counts[code] ?? 0) + 1))
  return counts
}

/** With the operator who approved every key of a change. */
export function* approvedRows({ facts, plan }: Judged) {
  const { decisions, left } = facts
  const isDecided = decisions.ledger.approvals.size > 0
  for (const planned of plan) {
    const keys = isDecided ? [...keysOfChange(left, planned.change)] : []
    const isApproved = keys.length > 0 && keys.every((key) => decisions.isApproved(wholeOf(key)))
    yield isApproved ? { planned, approvedBy: decisions.approvalOf(wholeOf(keys[0]!))!.by } : { planned }
  }
}

/**
 * Which keys a run made. Changes are sent without the keys whose needs were not met; in a circle of e-mails, any key
 * may have been left out.
 *
 * @param open the changes that were not made, each as its operation and id
 */
export function* madeKeys(
  { facts: { wanted, left }, plan }: Judged,
  open: ReadonlySet<string>,
): Steps<Pick<Outcomes, 'isMade' | 'deleted'>> {
  const notMade = new KeySet()
  const deleted: Record<Kind, Set<string>> = { user: new Set(), group: new Set() }
  const isOpen = ({ op, id }: Change): boolean => open.has(`${op} ${id}`)
  for (const op of ['delete-user', 'delete-group'] as const)
    yield* forEachInSteps(plan.of(op), ({ change }) => {
      if (!isOpen(change)) deleted[kindOf(op)].add(change.id)
    })
  if (open.size > 0)
    yield* forEachInSteps(plan, ({ change }) => {
      const inCircle = 'takes' in change && change.takes?.after === null
      for (const key of keysOfChange(left, change))
        if (isOpen(change) || inCircle || wanted.needsOf(key).some((need) => notMade.has(need)))
          notMade.add(key)
    })
  const isMade = (key: Key): boolean => {
    const [kind, id, field, member] = key
    if (field === 'leave') return isMade([kind, id, 'delete'])
    if (field === '-member' && !isRemoval(left, key))
      return isMade(['user', member!, 'delete']) || isMade([kind, id, 'delete'])
    return left.has(key) && !notMade.has(key)
  }
  return { isMade, deleted }
}

type Replaced = Parameters<typeof replaceChanges>[2]

/** The changes that wait and of which less, or nothing, is planned now. */
export function* replacedIn(
  before: Judged,
  now: Judged,
  waiting: ReadonlyMap<string, WaitingChange>,
): Steps<Replaced> {
  const replaced = new Map<string, Replaced[number] & { readonly planned: string }>()
  yield* forEachInSteps(before.plan, ({ change: { op, id }, fingerprint: planned }) => {
    const waits = waiting.get(`${op} ${id}`)
    if (waits !== undefined) replaced.set(`${op} ${id}`, { ...waits, planned })
  })
  yield* forEachInSteps(now.plan, (smaller) => {
    const key = `${smaller.change.op} ${smaller.change.id}`
    const each = replaced.get(key)
    if (each?.planned === smaller.fingerprint) replaced.delete(key)
    else if (each !== undefined) replaced.set(key, { ...each, smaller })
  })
  return [...replaced.values()]
}

type Write = Pick<Refusal, 'op' | 'id' | 'digest'>

/** The digests of those changes that source and directory still differ by, also of blocked ones. */
export function* stillWanted({ wanted, left }: Facts, writes: readonly Write[]): Steps<ReadonlySet<string>> {
  if (writes.length === 0) return new Set()
  // The digest of a change tells from whom its e-mail comes, which blocks may change.
  const unblocked = yield* stillPlanned(yield* without(wanted, []), writes)
  return unblocked.union(yield* stillPlanned(left, writes))
}

/** The digests of those changes that a plan of some keys makes. */
export function* stillPlanned(keys: PlanKeys, writes: readonly Write[]): Steps<ReadonlySet<string>> {
  const changes = yield* createChanges(keys, () => 'gone')
  const still = new Set<string>()
  for (const { op, id, digest } of writes) {
    const change = yield* changes.of(op, id)
    if (change !== undefined && fingerprint(change) === digest) still.add(digest)
    yield
  }
  return still
}
