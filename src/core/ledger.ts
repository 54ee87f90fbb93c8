import { type Approval, type Ledger, NO_CODES } from './decisions.ts'
import { type Steps, copyInSteps, forEachInSteps } from '../base/steps.ts'
import type { Facts } from './checks/check.ts'
import type { Shown } from './decide.ts'
import { isAbout, type ScopeIds } from './within.ts'
import { type Key, forEachKey, isMember, keyText, parseKey, wholeOf } from './keys.ts'

/** Without approvals that no run used in time: their questions are open again. */
export function* withoutExpired(ledger: Ledger, now: Date, expireAfterMs: number): Steps<Ledger> {
  if (ledger.approvals.size === 0) return ledger
  const approvals = new Map<string, Approval>()
  yield* forEachInSteps(ledger.approvals, ([text, approval]) => {
    if (approval.isUsed || now.getTime() - approval.at.getTime() <= expireAfterMs)
      approvals.set(text, approval)
  })
  return { ...ledger, approvals }
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
  const asked = new Map<string, ReadonlySet<string>>()
  const sharedSet = (some: ReadonlySet<string>): ReadonlySet<string> => {
    if (some.size === 0) return NO_CODES
    const name = [...some].join(' ')
    const known = asked.get(name) ?? some
    asked.set(name, known)
    return known
  }
  const note = (text: string, reasons: ReadonlySet<string>): void => {
    const before = blocked.get(text)
    const asks = reasons.intersection(asking).union(before?.asks ?? NO_CODES)
    if (before !== undefined && asks.size === before.asks.size) return
    blocked.set(text, { since: before?.since ?? run, asks: sharedSet(asks) })
  }
  yield* forEachInSteps(codes, ([text, reasons]) => {
    const key = parseKey(text)
    if (key === undefined || isInScope(key)) note(text, reasons)
  })
  yield* forEachKey(waiting, (key) => isInScope(key) && note(keyText(key), NO_CODES))
  return { ...ledger, blocked }
}

/** The changes that a run made are not blocked any more. Their approvals end, and those of entries that a recheck found. */
export function* afterApplying(ledger: Ledger, facts: Facts, isMade: (key: Key) => boolean): Steps<Ledger> {
  const blocked = yield* kept(ledger.blocked, (text) => {
    const key = parseKey(text)
    return key === undefined || !isMade(key)
  })
  const approvals = new Map<string, Approval>()
  const raised = factsIn(facts)
  const again = facts.blocks.filter(({ code }) => code === 'seen-again')
  yield* forEachInSteps(ledger.approvals, ([text, approval]) => {
    const key = parseKey(text)
    if (key !== undefined && (isMade(key) || again.some(({ keys }) => keys.has(wholeOf(key))))) return
    const isUsed = approval.isUsed || (key === undefined ? raised.has(text) : facts.left.has(key))
    approvals.set(text, isUsed === approval.isUsed ? approval : { ...approval, isUsed })
  })
  return { ...ledger, blocked, approvals }
}

/**
 * A complete run ends blocks and decisions about keys that it could judge and does not want.
 *
 * @param scope the entries that the run was limited to
 */
export function* afterCompleteRun(ledger: Ledger, { wanted, found }: Facts, scope?: ScopeIds): Steps<Ledger> {
  const facts = factsIn({ found })
  const isWanted = (text: string): boolean => {
    const key = parseKey(text)
    if (key === undefined) return scope !== undefined || facts.has(text)
    if (scope !== undefined && !isAbout(key, scope)) return true
    const [kind, id, field, value] = key
    if (wanted.has(key) || wanted.isUnjudged(kind, id)) return true
    return isMember(field) && wanted.isUnjudged('user', value!)
  }
  // An undo may create the entry again: the rejection of its delete ends when the source has it.
  const isDeleted = (text: string): boolean => {
    const [kind, id, field] = parseKey(text) ?? []
    if (kind === undefined || (field !== 'leave' && field !== 'delete')) return false
    return !wanted.isThere(kind, id!) && !wanted.snapshots.source.seen[kind].has(id!)
  }
  return {
    blocked: yield* kept(ledger.blocked, isWanted),
    approvals: yield* kept(ledger.approvals, isWanted),
    rejections: yield* kept(ledger.rejections, (text) => isWanted(text) || isDeleted(text)),
  }
}

/** What is true of a run, whether approved or not. */
function factsIn({ found }: Pick<Facts, 'found'>): ReadonlySet<string> {
  return new Set(found.flatMap(({ asks }) => (asks === undefined ? [] : [keyText(asks)])))
}

function* kept<T>(
  all: ReadonlyMap<string, T>,
  test: (text: string) => boolean,
): Steps<ReadonlyMap<string, T>> {
  const left = new Map<string, T>()
  yield* forEachInSteps(all, ([text, value]) => {
    if (test(text)) left.set(text, value)
  })
  return left
}
