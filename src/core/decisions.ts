import type { Block } from './block.ts'
import { type FactKey, type Key, keyText } from './keys.ts'

/** Checks that repeat what was asked or decided, and ask nothing themselves. */
const REPEATING: ReadonlySet<string> = new Set(['asked', 'rejected'])

/** Reasons that an approval lifts, but about which nobody is asked. */
const WITHOUT_QUESTION: ReadonlySet<string> = new Set([
  'grace',
  'absence-unconfirmed',
  'recently-deleted',
  'removals-not-confirmed',
])

export function isRepeating({ code }: Block): boolean {
  return REPEATING.has(code)
}

export interface Approval {
  readonly run: number
  readonly by: string
  /** The reasons that it covers: those that its run had shown for the key. */
  readonly codes: ReadonlySet<string>
  readonly at: Date
  /** Whether a run was to make the change: an approval that no run used ends after a time. */
  readonly isUsed: boolean
}

export interface Rejection {
  readonly run: number
  readonly by: string
  readonly at: Date
  readonly reason: string
}

/** By the text of a key: why it was asked about, and what operators decided. */
export interface Ledger {
  readonly questions: ReadonlyMap<string, ReadonlySet<string>>
  readonly approvals: ReadonlyMap<string, Approval>
  readonly rejections: ReadonlyMap<string, Rejection>
}

export const EMPTY_LEDGER: Ledger = { questions: new Map(), approvals: new Map(), rejections: new Map() }

export class Decisions {
  readonly ledger: Ledger

  constructor(ledger: Ledger) {
    this.ledger = ledger
  }

  approvalOf(key: Key | FactKey): Approval | undefined {
    return this.ledger.approvals.get(keyText(key))
  }

  /** Whether an operator has to decide: a key that was asked for two reasons needs an approval of both. */
  isOpen(key: Key | FactKey | string): boolean {
    const text = typeof key === 'string' ? key : keyText(key)
    return [...(this.ledger.questions.get(text) ?? [])].some((code) => this.isOpenFor(text, code))
  }

  isOpenFor(text: string, code: string): boolean {
    const { questions, approvals, rejections } = this.ledger
    return (
      questions.get(text)?.has(code) === true &&
      !rejections.has(text) &&
      approvals.get(text)?.codes.has(code) !== true
    )
  }

  readonly isApproved = (key: Key | FactKey): boolean => {
    if (this.ledger.approvals.size === 0) return false
    const text = keyText(key)
    return this.ledger.approvals.get(text) !== undefined && !this.isOpen(text)
  }

  /** Whether a change that was asked about for these reasons is made, or not wanted any more: that ends a question. */
  isOver(text: string, reasons: ReadonlySet<string>): boolean {
    const { questions, approvals, rejections } = this.ledger
    const isKnown = questions.has(text) || approvals.has(text) || rejections.has(text)
    return !isKnown && (reasons.size === 0 || [...reasons].some((code) => !WITHOUT_QUESTION.has(code)))
  }

  /** Whether an approval may lift a block at all: never a policy, an unreadable source or the answer of the service. */
  mayLift(block: Block): boolean {
    if (this.ledger.approvals.size === 0 || isRepeating(block)) return false
    return block.until === 'decision' || block.until === 'time'
  }

  lifts(key: Key, block: Block): boolean {
    if (!this.mayLift(block)) return false
    const text = keyText(key)
    if (this.ledger.approvals.get(text)?.codes.has(block.code) === true) return true
    return block.stops === 'plan' && this.isApproved(key)
  }

  *open(): Generator<string | undefined, void> {
    for (const text of this.ledger.questions.keys()) yield this.isOpen(text) ? text : undefined
  }
}
