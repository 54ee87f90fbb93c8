import { atOnce } from '../../../../src/base/steps.ts'
import type { Check, Facts } from '../../../../src/core/checks/check.ts'
import type { Block } from '../../../../src/core/block.ts'
import { asked } from '../../../../src/core/checks/asked.ts'
import { rejected } from '../../../../src/core/checks/rejected.ts'
import {
  chosenKeys,
  decided,
  type Decision,
  type PartName,
  type Selection,
  type Shown,
  shownBy,
} from '../../../../src/core/decide.ts'
import { afterApplying, afterRead, blocking, withoutExpired } from '../../../../src/core/ledger.ts'
import { Decisions, EMPTY_LEDGER, type Ledger } from '../../../../src/core/decisions.ts'
import { diff } from '../../../../src/core/diff/diff.ts'
import type { Snapshots } from '../../../../src/core/diff/differences.ts'
import type { DiffRules } from '../../../../src/core/diff/rules.ts'
import { firstFacts, judge } from '../../../../src/core/judge.ts'
import { type FactKey, type Key, keyText, wholeOf } from '../../../../src/core/keys.ts'
import { isRemoval, order } from '../../../../src/core/order.ts'
import type { Kind } from '../../../../src/core/entries/entry.ts'
import type { Change } from '../../../../src/core/plan/change.ts'
import type { Left } from '../../../../src/core/without.ts'
import { type ScopeIds, isAbout, within } from '../../../../src/core/within.ts'

/** A run as `sync/run.ts` makes it, on a store in RAM: toy checks judge toy worlds, the rest is the core. */
export interface World extends Snapshots {
  readonly hidden: ReadonlySet<string>
  readonly found: ReadonlySet<string>
  readonly deletedLastDay: ReadonlySet<string>
  readonly isUnreadable: boolean
  readonly isPartial: boolean
  readonly configuration: string
  readonly server: number
}

export interface Job {
  /** In days. */
  readonly now: number
  readonly isDry: boolean
  readonly scope: ScopeIds | undefined
  readonly crash: boolean
  readonly fails: (text: string) => boolean
}

export interface ToyFacts extends Facts {
  readonly world: World
  readonly job: Job
  readonly states: ReadonlyMap<string, unknown>
}

export type Moment = 'begun' | 'applied' | 'held'

export interface ToyCheck extends Check<ToyFacts> {
  readonly tier: 'rules' | 'anomalies' | 'guards'
  keeps?(facts: ToyFacts, moment: Moment): unknown
}

export interface Ended {
  readonly id: number
  readonly end: 'planned' | 'held' | 'applied' | 'failed'
  readonly blocks: readonly Block[]
  readonly left: Left
  readonly facts: Facts
  /** The open questions that this run raised. */
  readonly asked: readonly string[]
  readonly sent: readonly string[]
  readonly plan: readonly Change[]
}

const DAY_MS = 24 * 60 * 60 * 1000
const RULES: DiffRules = { policy: 'mirror', membership: 'write', allowedDomains: [] }

export class RamStore {
  readonly states = new Map<string, unknown>()
  readonly ledgers = new Map<string, Ledger>()
  readonly runs: (Shown & { readonly origin: string; readonly job: Job })[] = []

  ledger(origin: string): Ledger {
    return this.ledgers.get(origin) ?? EMPTY_LEDGER
  }

  decisions(origin: string, now: number): Decisions {
    return new Decisions(atOnce(withoutExpired(this.ledger(origin), dateOf(now), 7 * DAY_MS)))
  }

  begin(facts: Facts, origin: string, job: Job): number {
    return this.runs.push({ ...atOnce(shownBy(this.runs.length + 1, facts)), origin, job })
  }

  #shownIn(number: number): Shown & { readonly origin: string } {
    const shown = this.runs[number - 1]!
    const { origin, job, codes } = shown
    if (!job.isDry) return shown
    const later = this.runs.slice(number).filter((each) => each.origin === origin && !each.job.isDry)
    const whole = later.findIndex((each) => each.job.scope === undefined)
    const parts = later.slice(0, whole < 0 ? undefined : whole).flatMap((each) => each.job.scope ?? [])
    const ids = (kind: Kind) => new Set(parts.flatMap((scope) => [...scope[kind]]))
    const asks = new Set([...codes.values()].flatMap((each) => [...each]).filter((code) => code !== 'grace'))
    return {
      ...shown,
      dry: { asks, followedBy: later[whole]?.run, later: { user: ids('user'), group: ids('group') } },
    }
  }

  decide(does: Decision['does'], number: number, part: Part = {}, now = 0): number {
    const shown = this.#shownIn(number)
    const before = this.ledger(shown.origin)
    const selection: Selection = { ids: part.id, only: part.only, code: part.code }
    const decision: Decision = { does, run: number, by: 'ana', at: dateOf(now), reason: '', selection }
    const chosen = atOnce(chosenKeys(before, decision, shown))
    const isPlain = part.id === undefined && part.only === undefined && part.code === undefined
    if (isPlain && part.all !== true && new Set([...chosen.values()].flat()).size > 1)
      throw new Error('more than one reason: --code CODE or --all')
    this.ledgers.set(shown.origin, atOnce(decided(before, decision, chosen, shown)))
    return chosen.size
  }
}

export interface Part {
  readonly id?: readonly string[]
  readonly only?: readonly PartName[]
  readonly code?: string
  readonly all?: boolean
}

function dateOf(day: number): Date {
  return new Date(day * DAY_MS)
}

export function run(
  checks: readonly ToyCheck[],
  {
    world,
    job,
    origin,
    store,
    rules = RULES,
  }: { world: World; job: Job; origin: string; store: RamStore; rules?: DiffRules },
): Ended {
  const { states } = store
  const decisions = store.decisions(origin, job.now)
  const wanted = atOnce(diff(world, rules))
  const of = (tier: ToyCheck['tier']) => checks.filter((check) => check.tier === tier)
  const first = { ...atOnce(firstFacts(wanted, decisions, world.isPartial)), world, job, states }
  const ruled = atOnce(judge<ToyFacts>([rejected, ...of('rules')], first))
  const proved = atOnce(judge(of('anomalies'), ruled))
  const scoped = job.scope === undefined ? proved : atOnce(within(proved, job.scope))
  const judged = atOnce(judge<ToyFacts>([asked, ...of('guards')], scoped))
  const { left } = judged
  const end = job.isDry ? 'planned' : judged.isStopped ? 'held' : 'applied'
  const id = store.begin(judged, origin, job)
  const plan = [...atOnce(order(left, () => 'gone'))].map(({ change }) => change)
  const result = { id, blocks: judged.blocks, left, facts: judged, asked: [], sent: [], plan }
  if (end === 'planned') return { ...result, end }
  const save = (ledger: Ledger) => store.ledgers.set(origin, ledger)
  const next = (moment: Moment) => {
    for (const check of checks)
      if (check.keeps !== undefined)
        states.set(check.name, check.keeps(judged, moment) ?? states.get(check.name))
  }
  const isInScope = (key: Key) => job.scope === undefined || isAbout(key, job.scope)
  save(atOnce(blocking(store.ledger(origin), judged, store.runs[id - 1]!, isInScope)))
  next('begun')
  if (job.crash) return { ...result, end: 'failed' }
  const { sent, done } = apply(left, plan, job.fails)
  const made = new Set(done.flatMap((key) => [keyText(key), keyText(wholeOf(key))]))
  save(atOnce(afterApplying(store.ledger(origin), { ...judged, run: id }, (key) => made.has(keyText(key)))))
  const isWhole =
    job.scope === undefined && !world.isPartial && origin === 'sync' && !isDoubted(judged.blocks)
  if (isWhole) next(end)
  const read = { run: id, isComplete: !world.isUnreadable }
  if (isWhole) save(atOnce(afterRead(store.ledger(origin), judged, read)))
  const latest = store.decisions(origin, job.now)
  const raised = judged.blocks.flatMap(({ asks, until, keys }): readonly (Key | FactKey)[] =>
    asks ? [asks] : until === 'decision' ? [...keys].filter((key) => key !== undefined) : [],
  )
  const open = new Set(raised.filter((key) => latest.isOpen(key)).map(keyText))
  return { ...result, end, sent, asked: [...open] }
}

/** Whether the server is older than before. */
export function isDoubted(blocks: readonly Block[]): boolean {
  return blocks.some(({ asks }) => asks?.[1] === 'server')
}

/** Sends a plan; what needs a key that failed is sent without it. */
function apply(left: Left, plan: readonly Change[], fails: (text: string) => boolean) {
  const failed = new Set<string>()
  const done: Key[] = []
  for (const change of inOrder(plan))
    for (const key of keysOf(left, change)) {
      const isOut = left.wanted.needsOf(key).some((need) => failed.has(keyText(need)))
      if (isOut || fails(keyText(key))) failed.add(keyText(key))
      else done.push(key)
    }
  return { sent: done.map(keyText), done }
}

/** Of users that take e-mails of others, each after those that it waits for. */
function inOrder(plan: readonly Change[]): readonly Change[] {
  const waiting = plan.filter(isTaking).toSorted((a, b) => roundOf(a) - roundOf(b))
  return plan.map((change) => (isTaking(change) ? waiting.shift()! : change))
}

function isTaking(change: Change): boolean {
  return 'takes' in change && change.takes !== undefined
}

function roundOf(change: Change): number {
  return ('takes' in change ? change.takes?.after : 0) ?? Infinity
}

function keysOf(left: Left, { op, id }: Change): readonly Key[] {
  const isUser = op.endsWith('user')
  if (op.startsWith('delete')) return [[isUser ? 'user' : 'group', id, 'delete']]
  const keys = [...left.wanted.keysOf(isUser ? 'user' : 'group', id)].filter((key) => left.has(key))
  if (op !== 'set-members') return keys.filter(([, , field]) => !field.endsWith('member'))
  return keys.filter((key) => key[2] === '+member' || isRemoval(left, key))
}
