import type { Kysely } from 'kysely'
import { forEachInSteps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import { openReasons } from '../core/decide.ts'
import { Decisions, type Ledger } from '../core/decisions.ts'
import { keyText, parseKey, wholeOf } from '../core/keys.ts'
import type { ChangeRecord } from '../store/change-list.ts'
import { dryRunOf, originOf } from '../store/ledgers.ts'
import type { RunRecord } from '../store/runs.ts'
import type { Tables } from '../store/tables.ts'
import type { ChangeView } from './control.ts'
import { keysOf } from './explain/history.ts'
import { openQuestionsOf, readLedger } from './open-questions.ts'
import { total } from './total.ts'

export async function withDecisions(
  db: Kysely<Tables>,
  run: RunRecord,
  changes: readonly ChangeRecord[],
): Promise<readonly ChangeView[]> {
  if (!changes.some(isBlocked)) return changes
  const { asking = {}, rejected = {} } = run.counts ?? {}
  const facts = (run.blocks ?? []).filter(({ asks }) => asks !== null).length
  const open = ((await openQuestionsOf(db, [run.run])).get(run.run) ?? 0) - facts
  // Nothing is decided, and a large ledger takes long to load.
  if (open > 0 && open >= total(asking) && total(rejected) === 0) return changes
  const ledger = await readLedger(db, { ...run, origin: originOf(run) })
  const decisions = new Decisions(ledger)
  const dry = run.mode === 'plan' ? await dryRunOf(db, run.run) : undefined
  const isOpen = (text: string, reasons: ReadonlySet<string>): boolean => {
    const codes = new Map([[text, reasons.union(decisions.asksOf(text))]])
    return openReasons(decisions, { run: run.run, dry, codes, waiting: [] }, text).length > 0
  }
  const isTaking = changes.some((record) => isBlocked(record) && 'takes' in record.change)
  const keepers = isTaking ? await emailKeepers(ledger) : new Map<string, ChangeView['keptBy']>()
  return changes.map((record) => {
    const { change } = record
    if (!isBlocked(record)) return record
    const keptBy = 'takes' in change ? keepers.get(change.takes?.from ?? '') : undefined
    const keys = keysOf(change).map((key) => keyText(wholeOf(key)))
    const reasons = new Set(record.reasons.map(({ code }) => code))
    return {
      ...record,
      isOpen: keys.some((text) => isOpen(text, reasons)),
      ...(keptBy !== undefined && { keptBy }),
    }
  })
}

function isBlocked({ state }: ChangeRecord): boolean {
  return state === 'blocked'
}

/** Users that keep their e-mail, because an operator rejected their delete or another e-mail. */
async function emailKeepers({ rejections }: Ledger): Promise<ReadonlyMap<string, ChangeView['keptBy']>> {
  const keepers = new Map<string, ChangeView['keptBy']>()
  await inTurns(
    forEachInSteps(rejections, ([text, { at, ...rejection }]) => {
      const [kind, owner = '', field] = parseKey(text) ?? []
      if (kind !== 'user' || (field !== 'leave' && field !== 'delete' && field !== 'email')) return
      const change = field === 'email' ? 'update' : 'delete'
      keepers.set(owner, { owner, change, ...rejection, at: at.toISOString() })
    }),
  )
  return keepers
}
