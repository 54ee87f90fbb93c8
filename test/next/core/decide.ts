import { forEachInSteps, type Steps } from '../../../src/base/steps.ts'
import type { Block } from './checks/check.ts'
import { type Approval, Decisions, isRepeating, type Ledger, type Rejection } from './decisions.ts'
import type { Facts } from './judge.ts'
import { all, type FactKey, type Field, type Key, keyText, parseKey, wholeOf } from './keys.ts'
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
  readonly does: 'approve' | 'reject'
  readonly run: number
  readonly by: string
  readonly at: Date
  readonly reason: string
  readonly selection: Selection
}

/** What a run put before the operator. */
export interface Shown {
  /** By key, the reasons that an approval lifts. */
  readonly codes: ReadonlyMap<string, ReadonlySet<string>>
  /** What only the stop of the plan keeps. */
  readonly waiting: Iterable<Key>
}

/** Of a run that repeated a question, the reasons are those of the question. */
export function* shownBy({ blocks, isStopped, waiting }: Facts, { questions }: Ledger): Steps<Shown> {
  const codes = new Map<string, ReadonlySet<string>>()
  for (const block of blocks) {
    const show = (key: Key | FactKey): void => {
      const text = keyText(key)
      const reasons = isRepeating(block) ? (questions.get(text) ?? []) : [block.code]
      codes.set(text, new Set([...(codes.get(text) ?? []), ...reasons]))
    }
    if (block.asks !== undefined) show(block.asks)
    else if (isLiftable(block)) yield* forEachInSteps(block.keys, show)
  }
  return { codes, waiting: isStopped ? all(waiting) : [] }
}

function isLiftable({ until }: Block): boolean {
  return until === 'decision' || until === 'time'
}

/** The keys that a decision is about, with the reasons that it covers. */
export function* chosenKeys(
  ledger: Ledger,
  { selection, at }: Pick<Decision, 'selection' | 'at'>,
  { codes: shown, waiting }: Shown,
): Steps<ReadonlyMap<string, readonly string[]>> {
  const { ids, only, code } = selection
  const { isOpen } = new Decisions(ledger, at)
  const isPart = ids !== undefined || only !== undefined
  const wanted = ids && new Set(ids)
  const isSelected = (key: Key): boolean =>
    (wanted === undefined || isAbout(key, wanted)) && (only?.includes(PART_OF[key[2]]) ?? true)
  const chosen = new Map<string, readonly string[]>()
  yield* forEachInSteps(shown, ([text, reasons]) => {
    const key = parseKey(text)
    if (key === undefined ? isPart : !isSelected(key)) return
    const asked = ledger.questions.get(text)
    const covered = [...reasons].filter((each) =>
      code === undefined ? isPart || asked?.has(each) : each === code,
    )
    const isMeant =
      code === undefined ? isPart || isOpen(JSON.parse(text) as Key | FactKey) : covered.length > 0
    if (isMeant && (isPart || covered.length > 0)) chosen.set(text, covered)
  })
  if (isPart && code === undefined)
    yield* forEachInSteps(waiting, (key) => isSelected(key) && chosen.set(keyText(key), []))
  return chosen
}

/** The ledger with one more decision. An approval takes a rejection of the same key back, and the other way round. */
export function* decided(
  ledger: Ledger,
  { does, run, by, at, reason }: Decision,
  chosen: ReadonlyMap<string, readonly string[]>,
): Steps<Ledger> {
  const approvals = new Map<string, Approval>(ledger.approvals)
  const rejections = new Map<string, Rejection>(ledger.rejections)
  yield* forEachInSteps(chosen, ([text, codes]) => {
    if (does === 'reject') {
      rejections.set(text, { run, by, at, reason })
      approvals.delete(text)
      return
    }
    rejections.delete(text)
    approvals.set(text, {
      codes: new Set([...(approvals.get(text)?.codes ?? []), ...codes]),
      at,
      isUsed: false,
    })
    // A delete needs that the user leaves: where the run did not ask about that, it is approved, too.
    const key = parseKey(text)
    const whole = key && keyText(wholeOf(key))
    if (whole !== undefined && !chosen.has(whole) && !ledger.questions.has(whole) && !approvals.has(whole))
      approvals.set(whole, { codes: new Set(), at, isUsed: false })
  })
  return { ...ledger, approvals, rejections }
}
