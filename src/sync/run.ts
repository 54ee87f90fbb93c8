import type { Steps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import { type Moment, NO_RECHECKS, type RunFacts, type States } from '../core/checks/check.ts'
import { removalsNotConfirmed } from '../core/checks/removals-not-confirmed.ts'
import { seenAgain } from '../core/checks/seen-again.ts'
import { BlockedChanges } from '../core/blocked.ts'
import { afterApplying, afterRead, blocking, afterRecheck } from '../core/ledger.ts'
import { Decisions, type Ledger } from '../core/decisions.ts'
import { diff } from '../core/diff/diff.ts'
import { firstFacts, judge, judgeAgain } from '../core/judge.ts'
import type { Key } from '../core/keys.ts'
import { order } from '../core/order.ts'
import { isAbout, type ScopeIds, within } from '../core/within.ts'
import type { Origin } from './origin.ts'
import type { RunError } from '../store/runs.ts'
import { shownIn } from './report.ts'
import type { Job, Judged, Outcomes, RunStore } from './run-store.ts'

/** One run: read source and directory, compare, judge, store the plan, apply it. An error before `begin` has written nothing. */
export async function run(
  job: Job,
  origin: Origin,
  store: RunStore,
  signal: AbortSignal,
): Promise<Judged['end']> {
  const { checks } = origin
  await store.quiesce(signal)
  const states = await store.states()
  const snapshots = await origin.read(states, signal)
  const history = await store.history()
  const wanted = await inTurns(diff(snapshots, origin.rules), signal)
  const decisions = new Decisions(history.ledger)
  const seen = origin.seen(job, { snapshots, states, history, decisions })
  const first = { ...(await inTurns(firstFacts(wanted, decisions), signal)), ...seen, rechecks: NO_RECHECKS }
  const ruled = await inTurns(judge(checks.rules, first), signal)
  const rechecks = await origin.recheck(ruled, signal)
  const proved = await inTurns(judge(checks.anomalies, { ...ruled, rechecks }), signal)
  const scoped = job.scope === undefined ? proved : await inTurns(within(proved, job.scope), signal)
  const sendable = await inTurns(judge(checks.refusals, scoped), signal)
  const facts = await inTurns(judge(checks.guards, sendable), signal)
  const judged = await planOf(job, origin, facts, signal)

  await store.begin(judged, ...(await inTurns(begun(job, origin, judged), signal)))
  if (judged.end === 'planned') return judged.end
  const again = (last: Judged, waiting: ScopeIds) => judgeWaiting(job, origin, last, waiting, signal)
  const applied = await store.apply(judged, again, signal)
  await finish(job, origin, store, applied.judged, applied.outcomes)
  return judged.end
}

/** Rechecks what waits. Returns the same, or with a plan without what was found or could not be proved absent. */
async function judgeWaiting(
  job: Job,
  origin: Origin,
  judged: Judged,
  waiting: ScopeIds,
  signal: AbortSignal,
): Promise<Judged> {
  const checks = origin.checks.anomalies.filter(
    (check) => check === seenAgain || check === removalsNotConfirmed,
  )
  if (checks.length === 0) return judged
  const rechecks = await origin.recheck(judged.facts, signal, waiting)
  const facts = await inTurns(judgeAgain(checks, { ...judged.facts, rechecks }), signal)
  if (facts.blocks === judged.facts.blocks) return judged
  const { plan, blocked } = await planOf(job, origin, facts, signal)
  return { ...judged, facts, plan, blocked }
}

async function planOf(job: Job, origin: Origin, facts: RunFacts, signal: AbortSignal): Promise<Judged> {
  const why = origin.whyDeleted(facts.rechecks)
  const plan = await inTurns(order(facts.left, why), signal)
  const blocked = await inTurns(BlockedChanges.of(facts, why), signal)
  const notices = await origin.notices(job, facts, signal)
  const end = job.isDry ? 'planned' : facts.isStopped ? 'held' : 'done'
  const shown = await inTurns(shownIn(job.run, facts), signal)
  return { facts, plan, blocked, shown, notices, end, isOfAll: isOfAll(origin, job, facts) }
}

/** The ledger and the states of checks, to be stored with the plan before the first request. */
function* begun(job: Job, origin: Origin, { facts, shown }: Judged): Steps<[Ledger, Partial<States>]> {
  const { ledger } = facts.decisions
  if (job.isDry) return [ledger, {}]
  const isInScope = (key: Key): boolean => job.scope === undefined || isAbout(key, job.scope)
  // A run that is killed has seen what is there again, too.
  const seen = yield* afterOwnRead(ledger, origin, job, facts, false)
  return [
    yield* blocking(yield* afterRecheck(seen, facts), facts, shown, isInScope),
    yield* nextStates(origin, job, facts, { at: 'begun' }),
  ]
}

/**
 * Saves what a run leaves for the next one.
 *
 * @param error of a run whose applying failed: both reads were good
 */
export async function finish(
  job: Job,
  origin: Origin,
  store: RunStore,
  judged: Judged,
  { isMade, deleted, isWhole }: Outcomes,
  error?: RunError,
): Promise<void> {
  const { facts, end } = judged
  const isGood = facts.wanted.snapshots.source.unreadable === 0 && isWhole && error === undefined
  const kind = error !== undefined ? 'failed' : end === 'held' || !isWhole ? 'held' : 'applied'
  const states = await inTurns(nextStates(origin, job, facts, { at: 'end', end: kind, deleted }))
  await store.finish(judged, {
    ledger: async (latest) => {
      const applied = await inTurns(afterApplying(latest, facts, isMade))
      return inTurns(afterOwnRead(applied, origin, job, facts, isGood))
    },
    states,
    isComplete: isGood && judged.isOfAll,
    error,
  })
}

function* afterOwnRead(ledger: Ledger, origin: Origin, job: Job, facts: RunFacts, isComplete: boolean) {
  if (!isKnown(origin, facts)) return ledger
  return yield* afterRead(ledger, facts, { run: job.run, isComplete, scope: job.scope })
}

/**
 * What the next run has to know. A run of a part, of an undo or on a doubted server saves only what it knows with its
 * plan, and a dry run nothing.
 */
function* nextStates(origin: Origin, job: Job, facts: RunFacts, moment: Moment): Steps<Partial<States>> {
  if (job.isDry || (moment.at === 'end' && !isOfAll(origin, job, facts))) return {}
  let next: Partial<States> = {}
  for (const check of Object.values(origin.checks).flat())
    if (check.next !== undefined) next = { ...next, ...(yield* check.next(facts, moment)) }
  return next
}

/** A run of an undo or on a doubted server does not know the wanted state of the source. */
function isKnown(origin: Origin, { isPartial, server }: Pick<RunFacts, 'isPartial' | 'server'>): boolean {
  return !isPartial && origin.name === 'sync' && server?.trouble === undefined
}

/** Whether it may change all of it, too. */
function isOfAll(origin: Origin, { scope }: Job, { isPartial, server }: RunFacts): boolean {
  return scope === undefined && isKnown(origin, { isPartial, server })
}
