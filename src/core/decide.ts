import { copyInSteps, forEachInSteps, type Steps } from '../base/steps.ts'
import { Rest } from './blocked.ts'
import type { Block } from './block.ts'
import { type Approval, Decisions, type Ledger, type Rejection, isRepeating } from './decisions.ts'
import type { Facts } from './checks/check.ts'
import {
  all,
  type FactKey,
  type Field,
  forEachKey,
  type Key,
  keyText,
  parseKey,
  type Sparse,
  wholeOf,
} from './keys.ts'
import { isRemoval } from './order.ts'
import { isAbout } from './within.ts'

export const PARTS = ['creates', 'updates', 'deletes', 'members'] as const
export type PartName = (typeof PARTS)[number]

const PART_OF: Readonly<Record<Field, PartName>> = {
  create: 'creates',
  name: 'updates',
  email: 'updates',
  leave: 'deletes',
  delete: 'deletes',
  '+member': 'members',
  '-member': 'members',
}

/** Which of the keys that a run showed a decision is about; without any of these, its open questions. */
export interface Selection {
  readonly ids?: readonly string[] | undefined
  readonly only?: readonly PartName[] | undefined
  /** A reason that the run showed. */
  readonly code?: string | undefined
  /** Where the run asked for more than one reason: all of them. */
  readonly isAll?: boolean | undefined
}

export interface Decision {
  /** `withdraw` ends the approvals of the run: an operator is asked again. */
  readonly does: 'approve' | 'reject' | 'withdraw'
  readonly run: number
  readonly by: string
  readonly at: Date
  readonly reason: string
  readonly selection: Selection
}

/** What a run put before the operator. */
export interface Shown {
  /** Of a dry run, the reasons that need a decision: it asks nothing, so the ledger does not know its questions. */
  readonly asking?: ReadonlySet<string> | undefined
  /** By key, the reasons that an approval lifts. */
  readonly codes: ReadonlyMap<string, ReadonlySet<string>>
  /** What only the stop of the plan blocks, or a need that is blocked. */
  readonly waiting: Sparse<Key>
}

/** Of a run that repeated a question, the reasons are those of the question. */
export function* shownBy(facts: Facts, { questions }: Ledger): Steps<Shown> {
  const { blocks } = facts
  const codes = new Map<string, ReadonlySet<string>>()
  for (const block of blocks) {
    const show = (key: Key | FactKey): void => {
      const text = keyText(key)
      const reasons = isRepeating(block) ? (questions.get(text) ?? []) : [block.code]
      codes.set(text, new Set([...(codes.get(text) ?? []), ...reasons]))
    }
    if (block.asks !== undefined) show(block.asks)
    else if (isLiftable(block)) yield* forEachKey(block.keys, show)
  }
  return { codes, waiting: waitingIn(facts) }
}

function* waitingIn({ left, outside, blocks, isStopped }: Facts): Generator<Key | undefined, void> {
  if (!isStopped) return
  const isNamed = (key: Key): boolean => blocks.some(({ keys }) => keys.has(key) || keys.has(wholeOf(key)))
  const rest = new Rest(left, outside)
  // A membership that ends with its user or group is decided with these, and later removals are other questions.
  const isImplied = (key: Key): boolean => key[2] === '-member' && !isRemoval(rest, key)
  for (const key of all(rest)) yield key === undefined || isNamed(key) || isImplied(key) ? undefined : key
}

function isLiftable({ until }: Block): boolean {
  return until === 'decision' || until === 'time'
}

/** The keys that a decision is about, with the reasons that it covers. */
export function* chosenKeys(
  ledger: Ledger,
  { does, run, selection }: Pick<Decision, 'does' | 'run' | 'selection'>,
  { codes: shown, waiting, asking }: Shown,
): Steps<ReadonlyMap<string, readonly string[]>> {
  const { ids, only, code } = selection
  const decisions = new Decisions(ledger)
  const isPart = ids !== undefined || only !== undefined
  const some = new Set(ids)
  const wanted = ids && { user: some, group: some }
  const isSelected = (key: Key): boolean =>
    (wanted === undefined || isAbout(key, wanted)) && (only?.includes(PART_OF[key[2]]) ?? true)
  const chosen = new Map<string, readonly string[]>()
  if (does === 'withdraw') {
    yield* forEachInSteps(
      ledger.approvals,
      ([text, approval]) => approval.run === run && chosen.set(text, []),
    )
    return chosen
  }
  // What was rejected by its id must not come back with a part or a reason, or with a command that is repeated.
  const overrules = does === 'reject' || ids !== undefined || code === 'rejected'
  const isOut = (text: string): boolean => !overrules && ledger.rejections.has(text)
  yield* forEachInSteps(shown, ([text, reasons]) => {
    const key = parseKey(text)
    if (key === undefined ? isPart : !isSelected(key)) return
    // A fact has no id to be named by.
    if ((key !== undefined && isOut(text)) || (asking === undefined && decisions.isOver(text, reasons)))
      return
    const isAsked = (each: string) => asking?.has(each) || ledger.questions.get(text)?.has(each)
    const isOfRejected = code === 'rejected' && ledger.rejections.has(text)
    const covered = [...reasons].filter((each) =>
      code === undefined ? isPart || isAsked(each) : each === code || isOfRejected,
    )
    const isMeant =
      code === undefined ? isPart || asking !== undefined || decisions.isOpen(text) : covered.length > 0
    if (isMeant && (isPart || covered.length > 0)) chosen.set(text, covered)
  })
  if (isPart && code === undefined)
    yield* forEachKey(waiting, (key) => {
      const text = keyText(key)
      if (isSelected(key) && !isOut(text)) chosen.set(text, [])
    })
  return chosen
}

const NO_CODES: ReadonlySet<string> = new Set()

/** The ledger with one more decision. An approval takes a rejection of the same key back, and the other way round. */
export function* decided(
  ledger: Ledger,
  { does, run, by, at, reason }: Decision,
  chosen: ReadonlyMap<string, readonly string[]>,
): Steps<Ledger> {
  const approvals = yield* copyInSteps<string, Approval>(ledger.approvals)
  const rejections = yield* copyInSteps<string, Rejection>(ledger.rejections)
  yield* forEachInSteps(chosen, ([text, codes]) => {
    if (does !== 'approve') approvals.delete(text)
    if (does === 'reject') rejections.set(text, { run, by, at, reason })
    if (does !== 'approve') return
    rejections.delete(text)
    approvals.set(text, {
      codes: new Set(codes).union(approvals.get(text)?.codes ?? NO_CODES),
      run,
      by,
      at,
      isUsed: false,
    })
    // A delete needs that the user leaves: where the run did not ask about that, it is approved, too.
    const key = parseKey(text)
    if (key === undefined || wholeOf(key) === key) return
    const whole = keyText(wholeOf(key))
    if (!chosen.has(whole) && !ledger.questions.has(whole) && !approvals.has(whole))
      approvals.set(whole, { codes: new Set(), run, by, at, isUsed: false })
  })
  return { ...ledger, approvals, rejections }
}
