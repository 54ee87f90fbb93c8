import type { Quote } from '../messages/words.ts'
import { blockText } from '../messages/blocks.ts'
import { amount, digits, pointInTime } from '../../base/wording.ts'
import { undecided } from '../../core/plan/decide.ts'
import type { SyncFigures } from '../../store/figures.ts'
import type { DecisionOfRun } from '../../store/notifications.ts'
import type { Condition, Why } from './condition.ts'
import type { Notification } from './notification.ts'

/** Removes quoted entries from the sentence of a run: only commands show them. */
export type WithoutPeople = (sentence: string) => string

function timeOf(time: Date): string {
  return pointInTime(time.toISOString())
}

function still(condition: Condition, why: Why): string {
  return why === 'new' ? '' : `, since ${timeOf(condition.since)}`
}

type Breaches = NonNullable<SyncFigures['hold']>['breaches']

function breachLines(breaches: Breaches, quote: Quote): string[] {
  return breaches.map((breach) => `- ${blockText(breach, quote)} (${breach.code})`)
}

export function aboutHold(
  { sync, hold }: SyncFigures,
  condition: Condition,
  why: Why,
  quote: Quote,
): Notification {
  const { run, undecided: count, breaches, expiresAt } = hold!
  const what = count === 0 ? 'the plan' : amount(count, 'change')
  const until = expiresAt === null ? '' : ` Until ${timeOf(expiresAt)}, then the next run asks again.`
  return {
    event: 'held',
    sync,
    run,
    subject: `${sync}: a plan waits for a person${still(condition, why)}`,
    text: lines(
      `Run ${run} of the sync ${sync} is held, and nothing of it is applied: ${what} would go beyond these limits.`,
      ...breachLines(undecided('held', breaches), quote),
      '',
      `dirsyncd runs ${run} shows the plan; dirsyncd approve ${run} applies it, dirsyncd reject ${run} leaves it.${until}`,
    ),
  }
}

export function aboutWithheld(
  { sync, planned, hold }: SyncFigures,
  condition: Condition,
  why: Why,
  quote: Quote,
): Notification {
  // Where an earlier run withheld the same, its hold is the one to decide about.
  const run = hold?.run ?? planned!.run
  const waiting = undecided('done', planned!.breaches)
  const isForPerson = waiting.some(({ waitsFor }) => waitsFor === 'person')
  return {
    event: 'withheld',
    sync,
    run,
    subject: `${sync}: the source does not prove all that it shows${still(condition, why)}`,
    text: lines(
      `Run ${run} of the sync ${sync} withholds ${amount(condition.amount, 'change')} and applies the rest:`,
      ...breachLines(waiting, quote),
      '',
      isForPerson
        ? `dirsyncd runs ${run} shows them; dirsyncd approve ${run} applies them, dirsyncd reject ${run} leaves them.`
        : `dirsyncd runs ${run} shows them. A later run applies them, when the source proves them.`,
    ),
  }
}

export function aboutFailures(
  { sync, failures, error, lastSuccess }: SyncFigures,
  condition: Condition,
  why: Why,
  withoutPeople: WithoutPeople,
): Notification {
  const last = lastSuccess === null ? 'It has never succeeded.' : `It last succeeded ${timeOf(lastSuccess)}.`
  return {
    event: 'failing',
    sync,
    run: null,
    subject: `${sync}: its runs fail${still(condition, why)}`,
    text: lines(
      `The last ${digits(failures)} runs of the sync ${sync} have failed. ${last} The last error:`,
      `- ${withoutPeople(error ?? 'unknown')}`,
      '',
      `dirsyncd runs --sync ${sync} shows them; dirsyncd check ${sync} tries each step.`,
    ),
  }
}

export function aboutQuarantine({ sync, quarantined }: SyncFigures, why: Why): Notification {
  const more = why === 'new' ? '' : ' They have become more.'
  return {
    event: 'quarantine',
    sync,
    run: null,
    subject: `${sync}: the service refuses ${amount(quarantined, 'change')}`,
    text: lines(
      `The service refused ${amount(quarantined, 'change')} of the sync ${sync} for their own content; the others go on.${more}`,
      '',
      `dirsyncd quarantine list --sync ${sync} shows which, and why. They are tried again once a day, or when the entry changes.`,
    ),
  }
}

export function aboutToken({ sync, token }: SyncFigures): Notification {
  const { secondsLeft } = token!
  const when = secondsLeft <= 0 ? 'has expired' : `ends in ${timeLeft(secondsLeft)}`
  return {
    event: 'token',
    sync,
    run: null,
    subject: `${sync}: its access token ${when}`,
    text: lines(
      `The access token of the sync ${sync} ${when}, as the service says; then no run succeeds.`,
      '',
      'Put a new one where directory.token says: dirsyncd reads it again by itself.',
    ),
  }
}

function timeLeft(seconds: number): string {
  if (seconds >= 2 * 86_400) return amount(Math.floor(seconds / 86_400), 'day')
  return seconds >= 7200
    ? amount(Math.floor(seconds / 3600), 'hour')
    : amount(Math.ceil(seconds / 60), 'minute')
}

/** For a condition that ended by itself. */
export function aboutEnd({ sync }: SyncFigures, condition: Condition, now: Date): Notification {
  const [subject, sentence, command] = endOf(sync, condition, now)
  return {
    event: 'recovered',
    sync,
    run: null,
    subject: `${sync}: ${subject}`,
    text: lines(`${sentence} It began ${timeOf(condition.since)}.`, '', command),
  }
}

function endOf(sync: string, { event, endsAt }: Condition, now: Date): readonly [string, string, string] {
  const shows = `dirsyncd runs --sync ${sync} shows its runs.`
  switch (event) {
    case 'held':
      if (endsAt !== null && endsAt <= now) {
        const what = `Nobody decided in time about the held plan of the sync ${sync}; its next run asks again.`
        return ['nobody decided in time', what, shows]
      }
      return ['nothing is held any more', `No plan of the sync ${sync} waits for a person any more.`, shows]
    case 'withheld':
      return ['nothing is withheld any more', `The sync ${sync} withholds nothing any more.`, shows]
    case 'token':
      return ['it has another access token', `The sync ${sync} has an access token that lives on.`, shows]
    case 'failing':
    case 'quarantine':
      return ['it runs again', `The runs of the sync ${sync} do not fail any more.`, shows]
  }
}

export function aboutDecision({ sync, run, decision, by, reason, only, part }: DecisionOfRun): Notification {
  const about = part !== undefined ? ' in part' : only !== undefined ? ` (${only.join(', ')})` : ''
  const why = reason === undefined ? '' : ` The reason: ${reason}`
  return {
    event: 'decided',
    sync,
    run,
    subject: `${sync}: ${by} ${decision} run ${run}${about}`,
    text: lines(
      `${by} ${decision} run ${run} of the sync ${sync}${about}.${why}`,
      '',
      decision === 'approved'
        ? `dirsyncd runs ${run} shows it.`
        : `dirsyncd runs ${run} shows it; dirsyncd approve ${run} applies it all the same.`,
    ),
  }
}

export const TEST: Notification = {
  event: 'test',
  sync: null,
  run: null,
  subject: 'a test',
  text: 'This is a test of the notifications of dirsyncd: nothing is wrong, and there is nothing to do.',
}

function lines(...all: readonly string[]): string {
  return all.join('\n')
}
