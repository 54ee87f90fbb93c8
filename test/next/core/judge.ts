import { forEachInSteps, type Steps } from '../../../src/base/steps.ts'
import type { Block, Check } from './checks/check.ts'
import type { Decisions } from './decisions.ts'
import type { Differences } from './diff/differences.ts'
import { type BlockedKeys, FIELDS, isEmpty, type Key, KeySet, keyText, matching, wholeOf } from './keys.ts'
import { type Left, without } from './without.ts'

/** What a tier of checks sees. */
export interface Facts {
  readonly wanted: Differences
  /** What the tiers before leave. */
  readonly left: Left
  /** All of the tiers before, without what is approved. */
  readonly blocks: readonly Block[]
  /** The same with what is approved. */
  readonly found: readonly Block[]
  readonly decisions: Decisions
  /** Whether the read of the source is of some ids only. */
  readonly isPartial: boolean
  /** What a run of some entries leaves alone. */
  readonly outside: readonly BlockedKeys[]
  /** Whether a block stops the plan, so that only approved keys are left. */
  readonly isStopped: boolean
  /** What would be left without the stop. */
  readonly waiting: Left
}

export function* firstFacts(wanted: Differences, decisions: Decisions, isPartial = false): Steps<Facts> {
  const left = yield* without(wanted, [])
  return {
    wanted,
    left,
    waiting: left,
    blocks: [],
    found: [],
    decisions,
    isPartial,
    outside: [],
    isStopped: false,
  }
}

/** Adds the blocks of one tier and takes what they name out. Its checks see the same facts, in any order. */
export function* judge<F extends Facts>(checks: readonly Check<F>[], facts: F): Steps<F> {
  const found = [...facts.found]
  const blocks = [...facts.blocks]
  for (const check of checks) {
    for (const block of yield* blocksOf(check, facts)) {
      found.push(block)
      const open = yield* withoutApproved(block, facts.decisions)
      if (open !== undefined) blocks.push(open)
    }
  }
  const { wanted, decisions } = facts
  const blocked = [...facts.outside, ...blocks.map(({ keys }) => keys)]
  const waiting = yield* without(wanted, blocked)
  const stops = blocks.filter((block) => block.stops === 'plan')
  const isStopped = stops.length > 0
  if (!isStopped) return { ...facts, found, blocks, waiting, left: waiting, isStopped }
  const isForAll = stops.some(({ asks }) => asks !== undefined)
  const goes = isForAll ? () => false : yield* approvedWithNeeds(wanted, decisions, blocked)
  const left = yield* without(wanted, [...blocked, matching(waiting, FIELDS, (key) => !goes(key))])
  return { ...facts, found, blocks, waiting, left, isStopped }
}

function* blocksOf<F extends Facts>(check: Check<F>, facts: F): Steps<readonly Block[]> {
  const { concerns } = check
  if (!facts.isPartial || concerns === undefined) return yield* check.judge(facts)
  return [{ code: check.name, until: 'read', keys: matching(facts.left, concerns) }]
}

/** The block without keys that an operator approved for its reason; `undefined` where nothing is left of it. */
function* withoutApproved(block: Block, decisions: Decisions): Steps<Block | undefined> {
  if (block.asks !== undefined) return decisions.isApproved(block.asks) ? undefined : block
  if (!decisions.mayLift(block)) return isEmpty(block.keys) ? undefined : block
  const open = new KeySet()
  yield* forEachInSteps(block.keys, (key) => {
    if (!decisions.lifts(key, block)) open.add(key)
  })
  return open.size === 0 ? undefined : { ...block, keys: open }
}

/**
 * Of a stopped plan, what is approved is made with what it needs, but for needs that a block names: each of those is a
 * question of its own. Approved creates come with their values and memberships, and absent users with their removals.
 */
function* approvedWithNeeds(
  wanted: Differences,
  decisions: Decisions,
  blocked: readonly BlockedKeys[],
): Steps<(key: Key) => boolean> {
  const isBlocked = (key: Key): boolean => blocked.some((keys) => keys.has(key))
  const needs = new Map<string, readonly Key[]>()
  const released = new Set<string>()
  yield* forEachInSteps(wanted.transfers(), ([key, needed]) => {
    needs.set(keyText(key), needed)
    if (decisions.isApproved(key) || wanted.ownNeedsOf(key).some(decisions.isApproved))
      released.add(keyText(key))
  })
  // The set grows during the loop.
  yield* forEachInSteps(released, (text) => {
    for (const need of needs.get(text) ?? []) {
      if (isBlocked(wholeOf(need)) || isBlocked(need)) continue
      released.add(keyText(need))
      if (need[2] === 'delete') released.add(keyText(wholeOf(need)))
    }
  })
  return (key) => {
    if (decisions.isApproved(key) || (released.size > 0 && released.has(keyText(key)))) return true
    const isWithEntry = (need: Key) =>
      (need[2] === 'create' || need[2] === 'leave') && decisions.isApproved(need)
    return wanted.needsOf(key).some(isWithEntry)
  }
}
