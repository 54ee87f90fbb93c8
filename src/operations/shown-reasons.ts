import type { Kysely } from 'kysely'
import { forEachInSteps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import type { BlockCode } from '../core/block.ts'
import { Decisions } from '../core/decisions.ts'
import type { Kind } from '../core/entries/entry.ts'
import { type Field, isMember, parseKey } from '../core/keys.ts'
import type { Op } from '../core/plan/change.ts'
import { loadLedger, originOf, shownIn } from '../store/ledgers.ts'
import type { RunCounts } from '../store/run-types.ts'
import type { RunRecord } from '../store/runs.ts'
import type { Tables } from '../store/tables.ts'

/** What a run showed for one reason, without what is made or not wanted any more: an operator can decide about it. */
export interface ShownReason {
  readonly code: BlockCode
  /** Changes by operation; none where the question is a fact. */
  readonly changes: RunCounts['asking']
  /** Those of them that no operator has decided. */
  readonly open: RunCounts['asking']
  readonly isOpen: boolean
}

export interface ShownReasons {
  readonly reasons: readonly ShownReason[]
  /** Changes that are open for any reason, each once. */
  readonly open: RunCounts['asking']
}

/** None of a run under way, because its progress is read each second. */
export async function shownReasonsOf(db: Kysely<Tables>, run: RunRecord): Promise<ShownReasons> {
  const { codes, isDry } = run.finished_at === null ? NOTHING : await shownIn(db, run.run)
  if (codes.size === 0) return { reasons: [], open: {} }
  const { ledger } = await loadLedger(db, { ...run, origin: originOf(run) })
  const decisions = new Decisions(ledger)
  const found = new Map<string, Tally>()
  const allOpen = new Ids()
  await inTurns(
    forEachInSteps(codes, ([text, reasons]) => {
      const isOpen = decisions.isOpen(text)
      const key = parseKey(text)
      if (isDry !== true && decisions.isOver(text, reasons)) return
      const isRejected = key !== undefined && ledger.rejections.has(text)
      for (const code of isRejected ? REJECTED : reasons) {
        const tally = found.get(code) ?? { shown: new Ids(), open: new Ids(), isOpen: false }
        found.set(code, tally)
        const asks = isOpen && ledger.questions.get(text)?.has(code) === true
        const isOpenFor = asks && !(key && decisions.approvalOf(key)?.codes.has(code))
        if (isOpenFor) tally.isOpen = true
        if (key === undefined) continue
        const op = opOf(key[0], key[2])
        tally.shown.add(op, key[1])
        if (!isOpenFor) continue
        tally.open.add(op, key[1])
        allOpen.add(op, key[1])
      }
    }),
  )
  const reasons = [...found].map(([code, { shown, open, isOpen }]) => ({
    // Runs show the codes of their blocks.
    code: code as BlockCode,
    changes: shown.counts(),
    open: open.counts(),
    isOpen,
  }))
  return { reasons, open: allOpen.counts() }
}

const NOTHING = { codes: new Map<string, ReadonlySet<string>>(), isDry: false }

/** Its approval overrules the rejections. */
const REJECTED: ReadonlySet<string> = new Set(['rejected'])

interface Tally {
  readonly shown: Ids
  readonly open: Ids
  isOpen: boolean
}

/** A change has several keys. */
class Ids {
  readonly #ids = new Map<Op, Set<string>>()

  add(op: Op, id: string): void {
    const ids = this.#ids.get(op)
    if (ids === undefined) this.#ids.set(op, new Set([id]))
    else ids.add(id)
  }

  counts(): RunCounts['asking'] {
    return Object.fromEntries([...this.#ids].map(([op, ids]) => [op, ids.size]))
  }
}

function opOf(kind: Kind, field: Field): Op {
  if (isMember(field)) return 'set-members'
  if (field === 'create') return `create-${kind}`
  return field === 'leave' || field === 'delete' ? `delete-${kind}` : `update-${kind}`
}
