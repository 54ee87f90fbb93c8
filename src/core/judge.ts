import type { Check, Facts } from './checks/check.ts'
import { forEachInSteps, type Steps } from '../base/steps.ts'
import type { Block } from './block.ts'
import type { Decisions } from './decisions.ts'
import type { Differences } from './diff/differences.ts'
import {
  type BlockedKeys,
  FIELDS,
  forEachKey,
  isEmpty,
  isMember,
  type Key,
  KeySet,
  keyText,
  matching,
  parseKey,
  union,
  wholeOf,
} from './keys.ts'
import { without } from './without.ts'

export function* firstFacts(wanted: Differences, decisions: Decisions, isPartial = false): Steps<Facts> {
  const left = yield* without(wanted, [])
  return {
    wanted,
    left,
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
  yield* dropRepeated(blocks, facts.decisions)
  const { wanted, decisions } = facts
  const blocked = [...facts.outside, ...blocks.map(({ keys }) => keys)]
  const waiting = yield* without(wanted, blocked)
  const stops = blocks.filter((block) => block.stops === 'plan')
  const isStopped = stops.length > 0
  if (!isStopped) return { ...facts, found, blocks, left: waiting, isStopped }
  const isForAll = stops.some(({ asks }) => asks !== undefined)
  const goes = isForAll ? () => false : yield* approvedWithNeeds(wanted, decisions, blocked)
  const left = yield* without(wanted, [...blocked, matching(waiting, FIELDS, (key) => !goes(key))])
  return { ...facts, found, blocks, left, isStopped }
}

/** Judges what is left once more, by checks that see newer facts. New keys of a check join its block. */
export function* judgeAgain<F extends Facts>(checks: readonly Check<F>[], facts: F): Steps<F> {
  const again = yield* judge(checks, facts)
  if (again.blocks.length === facts.blocks.length) return facts
  const blocks: Block[] = []
  for (const block of again.blocks) {
    const place = blocks.findIndex(
      ({ code }) => code === block.code && checks.some(({ name }) => name === code),
    )
    if (place < 0) blocks.push(block)
    else {
      const { keys, of } = blocks[place]!
      const both = (key: Key) => block.of?.(key) ?? of?.(key)
      blocks[place] = { ...block, keys: union([keys, block.keys]), of: both } as Block
    }
  }
  return { ...again, blocks }
}

/** What a check objects to anew is not repeated as asked before, so that a plan that is held again is the same one. */
function* dropRepeated(blocks: Block[], decisions: Decisions): Steps<void> {
  const place = blocks.findIndex(({ code }) => code === 'asked')
  const asked = blocks[place]
  if (asked === undefined) return
  const isNamed = (code: string, key: Key): boolean =>
    blocks.some((block) => block.code === code && (block.keys.has(key) || block.keys.has(wholeOf(key))))
  const keys = new KeySet()
  yield* forEachKey(asked.keys, (key) => {
    if (![...decisions.asksOf(keyText(key))].every((code) => isNamed(code, key))) keys.add(key)
  })
  blocks.splice(place, 1, ...(keys.size === 0 ? [] : [{ ...asked, keys } as Block]))
}

function* blocksOf<F extends Facts>(check: Check<F>, facts: F): Steps<readonly Block[]> {
  const { concerns } = check
  if (!facts.isPartial || concerns === undefined) return yield* check.judge(facts)
  const keys = matching(facts.left, concerns)
  return [{ code: 'partial-read', params: { check: check.name }, until: 'read', keys }]
}

/** The block without keys that an operator approved for its reason; `undefined` where nothing is left of it. */
function* withoutApproved(block: Block, decisions: Decisions): Steps<Block | undefined> {
  if (block.asks !== undefined) return decisions.isApproved(block.asks) ? undefined : block
  if (!decisions.mayLift(block)) return (yield* isEmpty(block.keys)) ? undefined : block
  const open = new KeySet()
  yield* forEachKey(block.keys, (key) => {
    if (!decisions.lifts(key, block)) open.add(key)
  })
  return open.size === 0 ? undefined : { ...block, keys: open }
}

/**
 * A stopped plan makes the approved changes and their needs, except needs that a block names: each of these is a question
 * of its own. An approved create brings its values and memberships, an approved delete its removals.
 */
function* approvedWithNeeds(
  wanted: Differences,
  decisions: Decisions,
  blocked: readonly BlockedKeys[],
): Steps<(key: Key) => boolean> {
  const isBlocked = (key: Key): boolean => blocked.some((keys) => keys.has(key))
  const needs = new Map<string, readonly Key[]>()
  const released = new Set<string>()
  yield* forEachInSteps(wanted.transfers(), (transfer) => {
    if (transfer === undefined) return
    const { key, needs: needed } = transfer
    needs.set(keyText(key), needed)
    if (decisions.isApproved(key) || wanted.ownNeedsOf(key).some(decisions.isApproved))
      released.add(keyText(key))
  })
  // A membership or value comes with the entry that it is of.
  yield* forEachInSteps(decisions.ledger.approvals.keys(), (text) => {
    const key = parseKey(text)
    if (key === undefined || !wanted.has(key)) return
    for (const need of wanted.needsOf(key))
      if (need[2] === 'create' && !isBlocked(need)) released.add(keyText(need))
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
    if (wanted.needsOf(key).some(isWithEntry)) return true
    return !isMember(key[2]) && wanted.ownNeedsOf(key).some((need) => released.has(keyText(need)))
  }
}
