import { type Approval, isRepeating, type Ledger } from './decisions.ts'
import { type Steps, copyInSteps, forEachInSteps } from '../base/steps.ts'
import type { Block } from './block.ts'
import type { Facts } from './checks/check.ts'
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

/** The questions after a run asked: the keys of blocks that only an operator ends, or the facts that they name. */
export function* asking(
  ledger: Ledger,
  blocks: readonly Block[],
  isInScope: (key: Key) => boolean,
): Steps<Ledger> {
  const questions = yield* copyInSteps(ledger.questions)
  const ask = (text: string, code: string): void => {
    const codes = questions.get(text)
    if (codes?.has(code) !== true) questions.set(text, new Set([...(codes ?? []), code]))
  }
  for (const block of blocks) {
    if (block.asks !== undefined) ask(keyText(block.asks), block.code)
    else if (block.until === 'decision' && !isRepeating(block))
      yield* forEachKey(block.keys, (key) => isInScope(key) && ask(keyText(key), block.code))
  }
  return { ...ledger, questions }
}

/**
 * After a run applied, the questions and approvals of its changes end, and the approvals of entries that a recheck found.
 *
 * @param done the keys of the changes that were made
 */
export function* afterApplying(ledger: Ledger, facts: Facts, done: Iterable<Key>): Steps<Ledger> {
  const questions = yield* copyInSteps(ledger.questions)
  const approvals = new Map<string, Approval>()
  const again = facts.blocks.filter(({ code }) => code === 'seen-again')
  yield* forEachInSteps(ledger.approvals, ([text, approval]) => {
    const key = parseKey(text)
    if (key !== undefined && again.some(({ keys }) => keys.has(wholeOf(key)))) return
    const isUsed = approval.isUsed || (key !== undefined && facts.left.has(key))
    approvals.set(text, isUsed === approval.isUsed ? approval : { ...approval, isUsed })
  })
  yield* forEachInSteps(done, (key) => {
    for (const text of [keyText(key), keyText(wholeOf(key))]) {
      questions.delete(text)
      approvals.delete(text)
    }
  })
  return { ...ledger, questions, approvals }
}

/**
 * A complete run ends questions and decisions about keys that it could judge and does not want.
 *
 * @param scope the entries that the run was limited to
 */
export function* afterCompleteRun(ledger: Ledger, { wanted, found }: Facts, scope?: ScopeIds): Steps<Ledger> {
  const facts = new Set(found.flatMap(({ asks }) => (asks === undefined ? [] : [keyText(asks)])))
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
    questions: yield* kept(ledger.questions, isWanted),
    approvals: yield* kept(ledger.approvals, isWanted),
    rejections: yield* kept(ledger.rejections, (text) => isWanted(text) || isDeleted(text)),
  }
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
