import type { Block } from './block.ts'
import { type FactKey, type Key, keyText, wholeText } from './keys.ts'

/** Checks that repeat what was asked or decided, and ask nothing themselves. */
const REPEATING: ReadonlySet<string> = new Set(['asked', 'rejected'])

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

/** A change that runs blocked and that is still wanted. */
export interface Blocked {
  /** The first run that a decision may name: what an older one showed was made, or ended and came again. */
  readonly since: number
  /** The reasons for which an operator has to decide; none where nobody is asked. */
  readonly asks: ReadonlySet<string>
}

/** By the text of a key: since when it is blocked and why it was asked about, and what operators decided. */
export interface Ledger {
  readonly blocked: ReadonlyMap<string, Blocked>
  readonly approvals: ReadonlyMap<string, Approval>
  /** By the text of the whole: the rejection of a delete is one of all that happens to the user. */
  readonly rejections: ReadonlyMap<string, Rejection>
}

export const EMPTY_LEDGER: Ledger = { blocked: new Map(), approvals: new Map(), rejections: new Map() }

export const NO_CODES: ReadonlySet<string> = new Set()

export class Decisions {
  readonly ledger: Ledger

  constructor(ledger: Ledger) {
    this.ledger = ledger
  }

  approvalOf(key: Key | FactKey): Approval | undefined {
    return this.ledger.approvals.get(keyText(key))
  }

  rejectionOf(text: string): Rejection | undefined {
    return this.ledger.rejections.get(wholeText(text))
  }

  /** The reasons for which runs asked about a key. */
  asksOf(text: string): ReadonlySet<string> {
    return this.ledger.blocked.get(text)?.asks ?? NO_CODES
  }

  /** Whether an operator has to decide: a key that was asked for two reasons needs an approval of both. */
  isOpen(key: Key | FactKey | string): boolean {
    const text = typeof key === 'string' ? key : keyText(key)
    return [...this.asksOf(text)].some((code) => this.isOpenFor(text, code))
  }

  isOpenFor(text: string, code: string): boolean {
    const isApproved = this.ledger.approvals.get(text)?.codes.has(code) === true
    return this.asksOf(text).has(code) && !isApproved && this.rejectionOf(text) === undefined
  }

  readonly isApproved = (key: Key | FactKey): boolean => {
    if (this.ledger.approvals.size === 0) return false
    const text = keyText(key)
    return this.ledger.approvals.get(text) !== undefined && !this.isOpen(text)
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
    for (const text of this.ledger.blocked.keys()) yield this.isOpen(text) ? text : undefined
  }
}
