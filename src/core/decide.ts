import { copyInSteps, forEachInSteps, type Steps } from '../base/steps.ts'
import { Rest } from './blocked.ts'
import { type Approval, Decisions, type Ledger, type Rejection, isRepeating, NO_CODES } from './decisions.ts'
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
  wholeText,
} from './keys.ts'
import { isRemoval } from './order.ts'
import { isAbout, type ScopeIds } from './within.ts'

export const PARTS = ['creates', 'updates', 'deletes', 'members'] as const
export type PartName = (typeof PARTS)[number]

/** The keys of one change: those of an absent user are two. */
function sameChange(key: Key): readonly Key[] {
  const [kind, id, field] = key
  if (kind !== 'user' || (field !== 'leave' && field !== 'delete')) return [key]
  return (['leave', 'delete'] as const).map((each) => [kind, id, each])
}

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

/** It asks nothing, so the ledger does not know what it showed until a decision or another run does. */
interface DryRun {
  /** The reasons that need a decision. */
  readonly asks: ReadonlySet<string>
  /** The first whole run after it: what both showed is the same. */
  readonly followedBy: number | undefined
  /** The entries of the runs of a part before that one: the ledger knows what became of them. */
  readonly later: ScopeIds
}

/** What a run put before the operator. */
export interface Shown {
  readonly run: number
  /** Set for a dry run. */
  readonly dry?: DryRun | undefined
  /** By key, the reasons that an approval lifts. */
  readonly codes: ReadonlyMap<string, ReadonlySet<string>>
  /** What only the stop of the plan blocks, or a need that is blocked. */
  readonly waiting: Sparse<Key>
}

/** Of a run that repeated a question, the reasons are those of the question. */
export function* shownBy(run: number, facts: Facts): Steps<Shown> {
  const { blocks, decisions } = facts
  const codes = new Map<string, ReadonlySet<string>>()
  for (const block of blocks) {
    const show = (key: Key | FactKey): void => {
      const text = keyText(key)
      const reasons = isRepeating(block) ? decisions.asksOf(text) : [block.code]
      codes.set(text, new Set([...(codes.get(text) ?? []), ...reasons]))
    }
    if (block.asks !== undefined) show(block.asks)
    else if (block.until === 'decision' || block.until === 'time') yield* forEachKey(block.keys, show)
  }
  return { run, codes, waiting: { [Symbol.iterator]: () => waitingIn(facts) } }
}

function* waitingIn(facts: Facts): Generator<Key | undefined, void> {
  const { blocks, isStopped } = facts
  if (!isStopped) return
  const isNamed = (key: Key): boolean => blocks.some(({ keys }) => keys.has(key) || keys.has(wholeOf(key)))
  const rest = new Rest(facts)
  // A new entry is decided with its values, a membership that ends with its user or group with these.
  const isImplied = (key: Key): boolean => {
    const [kind, id, field] = key
    if (field === '-member') return !isRemoval(rest, key)
    return field !== 'create' && rest.has([kind, id, 'create'])
  }
  for (const key of all(rest)) yield key === undefined || isNamed(key) || isImplied(key) ? undefined : key
}

/** The reasons of a shown change that need a decision, with those that are decided. */
function askedReasons(decisions: Decisions, shown: Shown, text: string): readonly string[] {
  const known = decisions.asksOf(text)
  // The ledger may not know yet what a dry run would ask.
  const asks = numberInLedger(shown, text) === undefined ? known.union(shown.dry!.asks) : known
  return [...(shown.codes.get(text) ?? [])].filter((code) => asks.has(code))
}

/** The reasons of a shown change that need a decision and are not decided. */
export function openReasons(decisions: Decisions, shown: Shown, text: string): readonly string[] {
  const { ledger } = decisions
  if (isOver(ledger, shown, text) || decisions.rejectionOf(text) !== undefined) return []
  const approval = ledger.approvals.get(text)
  return askedReasons(decisions, shown, text).filter((code) => approval?.codes.has(code) !== true)
}

/** Whether a shown change was made since, or ended: then the number of the run decides nothing about it. */
export function isOver({ blocked }: Ledger, shown: Shown, text: string): boolean {
  const run = numberInLedger(shown, text)
  const since = blocked.get(text)?.since
  return run !== undefined && (since === undefined || since > run)
}

/** The number that the ledger has for a shown change: of a dry run that of the first whole run after it. */
function numberInLedger({ run, dry }: Shown, text: string): number | undefined {
  if (dry === undefined) return run
  const key = parseKey(text)
  return key !== undefined && isAbout(key, dry.later) ? run : dry.followedBy
}

type Chosen = ReadonlyMap<string, readonly string[]>

/** The keys that a decision is about, with the reasons that it covers. */
export function* chosenKeys(
  ledger: Ledger,
  { does, run, selection: { ids, only, code } }: Pick<Decision, 'does' | 'run' | 'selection'>,
  shown: Shown,
): Steps<Chosen> {
  const chosen = new Map<string, readonly string[]>()
  const decisions = new Decisions(ledger)
  if (does === 'withdraw') {
    yield* forEachInSteps(ledger.approvals, ([text, { run: of }]) => of === run && chosen.set(text, []))
    return chosen
  }
  const isPart = ids !== undefined || only !== undefined
  const wanted = new Set(ids)
  // What was rejected by its id must not come back with a part or a reason, or with a command that is repeated.
  const overrules = does === 'reject' || ids !== undefined || code === 'rejected'
  const isMeant = (key: Key | undefined, text: string): boolean => {
    if (isOver(ledger, shown, text)) return false
    // A fact has no id to be named by.
    if (key === undefined) return !isPart
    if (ids !== undefined && !isAbout(key, { user: wanted, group: wanted })) return false
    if (only?.includes(PART_OF[key[2]]) === false) return false
    return overrules || decisions.rejectionOf(text) === undefined
  }
  const choose = (covered: (text: string) => readonly string[] | undefined): Steps<void> =>
    forEachInSteps(shown.codes.keys(), (text) => {
      const codes = isMeant(parseKey(text), text) ? covered(text) : undefined
      if (codes !== undefined) chosen.set(text, codes)
    })
  const allOf = (text: string): readonly string[] => [...shown.codes.get(text)!]
  const asked = (text: string): readonly string[] => askedReasons(decisions, shown, text)
  if (code !== undefined)
    yield* choose((text) => {
      const isApproved = does === 'reject' && ledger.approvals.get(text)?.run === run
      if (code === 'rejected' && (isApproved || decisions.rejectionOf(text) !== undefined))
        return ids === undefined ? asked(text) : allOf(text)
      return shown.codes.get(text)!.has(code) ? [code] : undefined
    })
  else if (isPart) {
    yield* choose(allOf)
    yield* forEachKey(shown.waiting, (key) => {
      const text = keyText(key)
      if (isMeant(key, text)) chosen.set(text, [])
    })
  } else {
    yield* choose((text) => (openReasons(decisions, shown, text).length > 0 ? asked(text) : undefined))
    // A rejection of all takes approvals back where nothing else is left to reject.
    if (chosen.size === 0 && does === 'reject')
      yield* choose((text) => (ledger.approvals.has(text) ? asked(text) : undefined))
  }
  return chosen
}

/**
 * The ledger with one more decision. An approval takes a rejection of the same key back, and the other way round. A
 * decision about a dry run also asks its questions, so that an approval of one reason leaves the others open.
 */
export function* decided(
  ledger: Ledger,
  { does, run, by, at, reason }: Decision,
  chosen: Chosen,
  shown?: Shown,
): Steps<Ledger> {
  const isDry = shown?.dry !== undefined
  const blocked = new Map(isDry ? yield* copyInSteps(ledger.blocked) : [])
  const decisions = new Decisions(ledger)
  const approvals = yield* copyInSteps<string, Approval>(ledger.approvals)
  const rejections = yield* copyInSteps<string, Rejection>(ledger.rejections)
  yield* forEachInSteps(chosen, ([text, codes]) => {
    const key = parseKey(text)
    if (isDry && numberInLedger(shown, text) === undefined) {
      const { since = run, asks = NO_CODES } = blocked.get(text) ?? {}
      blocked.set(text, { since, asks: asks.union(new Set(askedReasons(decisions, shown, text))) })
    }
    if (does !== 'approve') {
      approvals.delete(text)
      if (does === 'withdraw') return
      for (const each of key === undefined ? [] : sameChange(key)) approvals.delete(keyText(each))
      return void rejections.set(wholeText(text), { run, by, at, reason })
    }
    rejections.delete(wholeText(text))
    const covered = new Set(codes).union(approvals.get(text)?.codes ?? NO_CODES)
    approvals.set(text, { codes: covered, run, by, at, isUsed: false })
    // A delete needs that the user leaves: where the run did not ask about that, it is approved, too.
    if (key === undefined || wholeOf(key) === key) return
    const whole = keyText(wholeOf(key))
    if (!chosen.has(whole) && decisions.asksOf(whole).size === 0 && !approvals.has(whole))
      approvals.set(whole, { codes: new Set(), run, by, at, isUsed: false })
  })
  return { ...ledger, ...(isDry && { blocked }), approvals, rejections }
}
