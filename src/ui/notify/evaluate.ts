import type { Quote } from '../messages/words.ts'
import { type IsConfigured, withoutPeople as maskPeople } from '../../base/log/people.ts'
import type { SyncFigures } from '../../store/figures.ts'
import type { DecisionOfRun } from '../../operations/notifications.ts'
import type { Condition, Lasting, Why } from './condition.ts'
import {
  aboutAsking,
  aboutBlocked,
  aboutDecision,
  aboutEnd,
  aboutFailures,
  aboutQuarantine,
  aboutToken,
  doubted,
  type WithoutPeople,
} from './wording.ts'
import type { Notification } from './notification.ts'

export interface Facts {
  readonly figures: readonly SyncFigures[]
  readonly decisions: readonly DecisionOfRun[]
  readonly now: Date
}

export interface Evaluated {
  readonly conditions: readonly Condition[]
  readonly notifications: readonly Notification[]
}

export interface Rules {
  readonly failures: number
  /** How long runs must not fail before a recovery is notified, in milliseconds. */
  readonly settledMs: number
  /** A text of the configuration may be quoted: it names no entry. */
  readonly isConfigured: IsConfigured
}

const DAY_MS = 86_400_000

/** Lasting conditions, and the notifications about what is new, has doubled, is a day old, or has ended. */
export function evaluate(before: readonly Condition[], facts: Facts, rules: Rules): Evaluated {
  const { figures, decisions, now } = facts
  const withoutPeople = (sentence: string) => maskPeople(sentence, rules.isConfigured)
  const quote: Quote = (text) => (rules.isConfigured(text) ? `"${text}"` : '"…"')
  const { settledMs } = rules
  const conditions: Condition[] = []
  const notifications: Notification[] = decisions.map(aboutDecision)
  for (const each of figures) {
    const decided = decisions.some(({ sync }) => sync === each.sync)
    for (const seen of signsOf(each, rules)) {
      const known = before.find(({ sync, event }) => sync === each.sync && event === seen.event)
      const { condition, notification } = follow(known, seen, {
        figures: each,
        decided,
        now,
        withoutPeople,
        quote,
        settledMs,
      })
      if (condition !== undefined) conditions.push(condition)
      if (notification !== undefined) notifications.push(notification)
    }
  }
  return { conditions, notifications }
}

type Sign =
  | { readonly event: Lasting; readonly state: 'on'; readonly amount: number }
  | { readonly event: Lasting; readonly state: 'off' }
  | { readonly event: Lasting; readonly state: 'unknown' }

function signsOf(figures: SyncFigures, { failures }: Rules): readonly Sign[] {
  const { asking, quarantined, isUnderWay, token } = figures
  return [
    sign('asking', asking?.questions ?? 0),
    blocked(figures),
    runsFail(figures, failures),
    // While a run applies changes, their number grows with each: notified once at its end.
    isUnderWay ? { event: 'quarantine', state: 'unknown' } : sign('quarantine', quarantined),
    // The life of a token that expired long ago is unknown.
    token === null ? { event: 'token', state: 'unknown' } : sign('token', token.isSoon ? 1 : 0),
  ]
}

function sign(event: Lasting, amount: number): Sign {
  return amount > 0 ? { event, state: 'on', amount } : { event, state: 'off' }
}

/** One or two failures are neither news nor a recovery. */
function runsFail({ failures }: SyncFigures, threshold: number): Sign {
  if (failures > 0 && failures < threshold) return { event: 'failing', state: 'unknown' }
  return sign('failing', failures >= threshold ? 1 : 0)
}

/** A held, failed or unfinished run may still apply the rest of its plan. */
function blocked({ planned }: SyncFigures): Sign {
  if (planned !== null && planned.state !== 'done') return { event: 'blocked', state: 'unknown' }
  const changes = doubted(planned?.blocks ?? []).reduce((sum, block) => sum + Math.max(1, block.changes), 0)
  return sign('blocked', changes)
}

interface Context {
  readonly figures: SyncFigures
  readonly decided: boolean
  readonly now: Date
  readonly withoutPeople: WithoutPeople
  readonly quote: Quote
  readonly settledMs: number
}

interface Followed {
  readonly condition?: Condition | undefined
  readonly notification?: Notification | undefined
}

function follow(known: Condition | undefined, seen: Sign, context: Context): Followed {
  if (known === undefined) return seen.state === 'on' ? goOn(known, seen, context) : {}
  if (seen.state === 'unknown')
    return { condition: known.event === 'failing' ? { ...known, endsAt: null } : known }
  if (seen.state === 'on') return goOn(known, seen, context)
  if (mayComeAgain(known, context)) return { condition: { ...known, endsAt: known.endsAt ?? context.now } }
  return { notification: ended(known, context) }
}

/** Repeated failures are one condition, not one each. */
function mayComeAgain({ event, endsAt }: Condition, { now, settledMs }: Context): boolean {
  return event === 'failing' && now.getTime() - (endsAt ?? now).getTime() < settledMs
}

function goOn(
  known: Condition | undefined,
  { event, amount }: Extract<Sign, { readonly state: 'on' }>,
  context: Context,
): Followed {
  const { figures, now } = context
  const { sync } = figures
  if (known === undefined) {
    const condition = { sync, event, since: now, amount, toldAt: now, endsAt: null }
    return { condition, notification: about(condition, context, 'new') }
  }
  const isMore = amount >= 2 * known.amount
  const isDue = now.getTime() - known.toldAt.getTime() >= DAY_MS
  // Changes may stay in quarantine for months; only growth is news.
  const isTold = isMore || (isDue && (event !== 'quarantine' || amount > known.amount))
  if (!isTold) return { condition: { ...known, amount: Math.min(known.amount, amount), endsAt: null } }
  const condition = { ...known, amount, toldAt: now, endsAt: null }
  return { condition, notification: about(condition, context, isMore ? 'more' : 'reminder') }
}

function about(condition: Condition, { figures, withoutPeople, quote }: Context, why: Why): Notification {
  switch (condition.event) {
    case 'asking':
      return aboutAsking(figures, condition, why, quote)
    case 'blocked':
      return aboutBlocked(figures, condition, why, quote)
    case 'failing':
      return aboutFailures(figures, condition, why, withoutPeople)
    case 'quarantine':
      return aboutQuarantine(figures, why)
    case 'token':
      return aboutToken(figures)
  }
}

/** A decision has its own notification, and an empty quarantine needs none. */
function ended(condition: Condition, { figures, decided }: Context): Notification | undefined {
  if (condition.event === 'quarantine') return undefined
  if (decided && condition.event === 'asking') return undefined
  return aboutEnd(figures, condition)
}
