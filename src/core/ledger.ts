import { type Approval, type Blocked, type Ledger, NO_CODES } from './decisions.ts'
import { type Steps, copyInSteps, forEachInSteps } from '../base/steps.ts'
import type { Facts, RunFacts } from './checks/check.ts'
import { endsIn } from './diff/ended.ts'
import type { Shown } from './decide.ts'
import { isAbout, type ScopeIds } from './within.ts'
import { type Key, forEachKey, keyText, parseKey, wholeOf } from './keys.ts'

/** Without approvals that no run used in time: their questions are open again. */
export function* withoutExpired(ledger: Ledger, now: Date, expireAfterMs: number): Steps<Ledger> {
  const isInTime = ({ isUsed, at }: Approval): boolean =>
    isUsed || now.getTime() - at.getTime() <= expireAfterMs
  return { ...ledger, approvals: yield* kept(ledger.approvals, (_, approval) => isInTime(approval)) }
}

/**
 * The ledger with what a run is about to block. It asks about the keys of blocks that only an operator ends, or the facts
 * that they name.
 */
export function* blocking(
  ledger: Ledger,
  { blocks }: Pick<Facts, 'blocks'>,
  { run, codes, waiting }: Shown,
  isInScope: (key: Key) => boolean,
): Steps<Ledger> {
  const blocked = yield* copyInSteps(ledger.blocked)
  const asking = new Set<string>()
  for (const { asks, until, code } of blocks) if (asks !== undefined || until === 'decision') asking.add(code)
  // Many keys are asked about for the same reasons, so they share a set.
  const sets = new Map([['', NO_CODES]])
  // The check kept-membership repeats its own question while it objects.
  yield* forEachInSteps(ledger.blocked, ([text, { since, asks }]) => {
    if (
      asks.has('kept-membership') &&
      codes.get(text)?.has('kept-membership') !== true &&
      isInScope(parseKey(text)!)
    )
      blocked.set(text, { since, asks: asks.difference(new Set(['kept-membership'])) })
  })
  const note = (text: string, reasons: ReadonlySet<string>): void => {
    const before = blocked.get(text)
    const added = reasons.intersection(asking).difference(before?.asks ?? NO_CODES)
    if (before !== undefined && added.size === 0) return
    const all = [...(before?.asks ?? NO_CODES), ...added]
    const asks = sets.get(all.join(' ')) ?? new Set(all)
    sets.set(all.join(' '), asks)
    blocked.set(text, { since: before?.since ?? run, asks })
  }
  yield* forEachInSteps(codes, ([text, reasons]) => {
    const key = parseKey(text)
    if (key === undefined || isInScope(key)) note(text, reasons)
  })
  yield* forEachKey(waiting, (key) => isInScope(key) && note(keyText(key), NO_CODES))
  return { ...ledger, blocked }
}

/** A recheck found entries: their approvals end, and what is asked about them is asked anew. */
export function* afterRecheck(
  ledger: Ledger,
  { blocks, run }: Pick<RunFacts, 'blocks' | 'run'>,
): Steps<Ledger> {
  const again = blocks.filter(({ code }) => code === 'seen-again')
  if (again.length === 0) return ledger
  const isFound = (text: string): boolean => {
    const key = parseKey(text)
    return key !== undefined && again.some(({ keys }) => keys.has(wholeOf(key)))
  }
  const blocked = new Map<string, Blocked>()
  yield* forEachInSteps(ledger.blocked, ([text, block]) => {
    blocked.set(text, isFound(text) ? { ...block, since: run } : block)
  })
  return { ...ledger, blocked, approvals: yield* kept(ledger.approvals, (text) => !isFound(text)) }
}

/** The changes that a run made are not blocked any more, and their approvals end. */
export function* afterApplying(
  before: Ledger,
  facts: Facts & Pick<RunFacts, 'run'>,
  isMade: (key: Key) => boolean,
): Steps<Ledger> {
  const ledger = yield* afterRecheck(before, facts)
  const blocked = yield* kept(ledger.blocked, (text) => {
    const key = parseKey(text)
    return key === undefined || !isMade(key)
  })
  const approvals = new Map<string, Approval>()
  const raised = factsIn(facts)
  yield* forEachInSteps(ledger.approvals, ([text, approval]) => {
    const key = parseKey(text)
    if (key !== undefined && isMade(key)) return
    const isUsed = approval.isUsed || (key === undefined ? raised.has(text) : facts.left.has(key))
    approvals.set(text, isUsed === approval.isUsed ? approval : { ...approval, isUsed })
  })
  return { ...ledger, blocked, approvals }
}

/**
 * A complete run ends blocks and decisions about what it proves not to be wanted any more. Any run ends approvals of what
 * the source shows otherwise, so that it is asked anew.
 */
export function* afterRead(
  ledger: Ledger,
  { wanted, found }: Facts,
  {
    run,
    isComplete,
    scope,
  }: { readonly run: number; readonly isComplete: boolean; readonly scope?: ScopeIds | undefined },
): Steps<Ledger> {
  const facts = factsIn({ found })
  const endOf = yield* endsIn(wanted)
  const endIn = (text: string): ReturnType<typeof endOf> => {
    const key = parseKey(text)
    if (key === undefined) return scope !== undefined || facts.has(text) || !isComplete ? undefined : 'source'
    const end = scope === undefined || isAbout(key, scope) ? endOf(key) : undefined
    if (isComplete) return end
    return end === 'directory' ? undefined : end && 'unjudged'
  }
  const blocked = new Map<string, Blocked>()
  yield* forEachInSteps(ledger.blocked, ([text, block]) => {
    const end = endIn(text)
    if (end === undefined) blocked.set(text, block)
    // It stays asked, and the number of an earlier run was about what ended.
    else if (end === 'unjudged') blocked.set(text, { ...block, since: run })
  })
  return {
    blocked,
    approvals: yield* kept(ledger.approvals, (text) => endIn(text) === undefined),
    // It holds also for what was under way, or is done by hand, and is taken back.
    rejections: yield* kept(ledger.rejections, (text) => endIn(text) !== 'source'),
  }
}

/** The facts that the checks of a run found, approved ones too. */
function factsIn({ found }: Pick<Facts, 'found'>): ReadonlySet<string> {
  return new Set(found.flatMap(({ asks }) => (asks === undefined ? [] : [keyText(asks)])))
}

function* kept<T>(
  all: ReadonlyMap<string, T>,
  test: (text: string, value: T) => boolean,
): Steps<ReadonlyMap<string, T>> {
  const left = new Map<string, T>()
  yield* forEachInSteps(all, ([text, value]) => {
    if (test(text, value)) left.set(text, value)
  })
  return left
}
