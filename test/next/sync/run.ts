import type { Steps } from '../../../src/base/steps.ts'
import { inTurns } from '../../../src/base/turns.ts'
import type { Moment } from '../core/checks/check.ts'
import type { GuardLimits } from '../core/checks/limits.ts'
import { NO_RECHECKS, type RunFacts } from '../core/checks/run-facts.ts'
import type { States } from '../core/checks/states.ts'
import { Decisions, type Ledger } from '../core/decisions.ts'
import { diff } from '../core/diff/diff.ts'
import type { DiffRules } from '../core/diff/differences.ts'
import { firstFacts, judge } from '../core/judge.ts'
import type { Key } from '../core/keys.ts'
import { afterApplying, afterCompleteRun, asking } from '../core/ledger.ts'
import { order } from '../core/order.ts'
import type { PlannedChanges } from '../../../src/core/plan/changes.ts'
import type { Options } from '../../../src/core/plan/configuration.ts'
import type { Grace } from '../../../src/core/plan/grace.ts'
import { isAbout, within } from '../core/within.ts'
import { isOfAll, nextStates } from './next-states.ts'
import type { Origin } from './origin.ts'
import type { Outcomes, RunStore } from './run-store.ts'

export interface Job {
  readonly run: number
  readonly isDry: boolean
  /** Set where only these entries are to be changed. */
  readonly scope: ReadonlySet<string> | undefined
  readonly rules: DiffRules
  readonly limits: GuardLimits
  readonly grace: Grace
  /** Hashes of the options that change scope or mapping. */
  readonly options: Options
}

export type RunEnd = 'planned' | 'held' | 'applied'

/** A run as it is stored before the first request. */
export interface Judged {
  readonly facts: RunFacts
  readonly plan: PlannedChanges
  readonly end: RunEnd
}

/** One run: read both sides, compare, judge, store the plan, apply it. An error before `begin` has written nothing. */
export async function run(job: Job, origin: Origin, store: RunStore, signal: AbortSignal): Promise<RunEnd> {
  await store.quiesce(signal)
  const states = await store.states()
  const snapshots = await origin.read(states, signal)
  const history = await store.history()
  const wanted = await inTurns(diff(snapshots, job.rules), signal)
  const decisions = new Decisions(history.ledger, history.now)
  const seen = origin.seen(job, { snapshots, states, history, decisions })
  const first = { ...(await inTurns(firstFacts(wanted, decisions), signal)), ...seen, rechecks: NO_RECHECKS }
  const ruled = await inTurns(judge(origin.rules, first), signal)
  const rechecks = await origin.recheck(ruled, signal)
  const proved = await inTurns(judge(origin.anomalies, { ...ruled, rechecks }), signal)
  const scoped = job.scope === undefined ? proved : await inTurns(within(proved, job.scope), signal)
  const facts = await inTurns(judge(origin.guards, scoped), signal)
  const plan = await inTurns(order(facts.left, origin.whyDeleted(rechecks)), signal)
  const end = job.isDry ? 'planned' : facts.isStopped ? 'held' : 'applied'
  const judged: Judged = { facts, plan, end }

  await inTurns(begin(job, origin, judged), signal).then((begun) => store.begin(judged, ...begun))
  if (end === 'planned') return end
  const outcomes = await store.apply(judged, signal)
  await finish(job, origin, store, judged, outcomes)
  return end
}

/** The questions and states to store with the plan, before the first request. */
function* begin(job: Job, origin: Origin, { facts }: Judged): Steps<[Ledger, Partial<States>]> {
  const { ledger } = facts.decisions
  if (job.isDry) return [ledger, {}]
  const isInScope = (key: Key): boolean => job.scope === undefined || isAbout(key, job.scope)
  return [
    yield* asking(ledger, facts.blocks, isInScope),
    yield* nextStates(origin, job, facts, { at: 'begun' }),
  ]
}

/** Also of a run whose applying failed: both reads were good. */
export async function finish(
  job: Job,
  origin: Origin,
  store: RunStore,
  judged: Judged,
  { done, deleted, isWhole }: Outcomes,
  isFailed = false,
): Promise<void> {
  const { facts, end } = judged
  const isComplete = isOfAll(origin, job, facts) && facts.wanted.snapshots.source.unreadable === 0 && isWhole
  const kind = isFailed ? 'failed' : end === 'held' || !isWhole ? 'held' : 'applied'
  const moment: Moment = { at: 'end', end: kind, deleted }
  const next = await inTurns(nextStates(origin, job, facts, moment))
  await store.finish(
    judged,
    async (latest) => {
      const applied = await inTurns(afterApplying(latest, facts, done))
      return isComplete && !isFailed ? inTurns(afterCompleteRun(applied, facts)) : applied
    },
    next,
  )
}
