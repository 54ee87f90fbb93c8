import type { Kysely } from 'kysely'
import { forEachInSteps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import type { BlockCode } from '../core/block.ts'
import { isOver, openReasons } from '../core/decide.ts'
import { Decisions } from '../core/decisions.ts'
import { parseKey } from '../core/keys.ts'
import { AskedChanges, originOf, shownIn } from '../store/ledgers.ts'
import { readLedger } from './open-questions.ts'
import type { RunCounts } from '../store/run-types.ts'
import type { RunRecord } from '../store/runs.ts'
import type { Tables } from '../store/tables.ts'

/** The changes that a run showed for one reason, without those that are made or not wanted any more. */
export interface ShownReason {
  readonly code: BlockCode
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
  const isShown = run.finished_at !== null && (run.blocks ?? []).length > 0
  if (!isShown) return { reasons: [], open: {} }
  const shown = await shownIn(db, run.run)
  const { codes } = shown
  if (codes.size === 0) return { reasons: [], open: {} }
  const ledger = await readLedger(db, { ...run, origin: originOf(run) })
  const decisions = new Decisions(ledger)
  const found = new Map<string, Tally>()
  const openOf = (text: string) => openReasons(decisions, shown, text)
  const newShown = () => new AskedChanges((text) => codes.has(text))
  const newOpen = () => new AskedChanges((text) => openOf(text).length > 0)
  const allOpen = newOpen()
  await inTurns(
    forEachInSteps(codes, ([text, reasons]) => {
      const key = parseKey(text)
      if (isOver(ledger, shown, text)) return
      const open = openOf(text)
      const isRejected = key !== undefined && decisions.rejectionOf(text) !== undefined
      for (const code of isRejected ? REJECTED : reasons) {
        const tally = found.get(code) ?? { shown: newShown(), open: newOpen(), isOpen: false }
        found.set(code, tally)
        tally.shown.add(text)
        if (!open.includes(code)) continue
        tally.isOpen = true
        tally.open.add(text)
        allOpen.add(text)
      }
    }),
  )
  const reasons = [...found].map(([code, tally]) => ({
    // Runs show the codes of their blocks.
    code: code as BlockCode,
    changes: tally.shown.counts(),
    open: tally.open.counts(),
    isOpen: tally.isOpen,
  }))
  return { reasons, open: allOpen.counts() }
}

/** Its approval overrules the rejections. */
const REJECTED: ReadonlySet<string> = new Set(['rejected'])

interface Tally {
  readonly shown: AskedChanges
  readonly open: AskedChanges
  isOpen: boolean
}
