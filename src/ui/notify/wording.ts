import type { Quote } from '../messages/words.ts'
import { amountsText } from '../messages/amounts.ts'
import { blockText } from '../messages/blocks.ts'
import { isAsked } from '../messages/ends.ts'
import { isDoubted } from '../../operations/doubted.ts'
import { total } from '../../operations/total.ts'
import { amount, digits, pointInTime } from '../../base/wording.ts'
import type { SyncFigures } from '../../store/figures.ts'
import type { DecisionOfRun } from '../../operations/notifications.ts'
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

type Blocks = NonNullable<SyncFigures['planned']>['blocks']

export function doubted(blocks: Blocks): Blocks {
  return blocks.filter((block) => block.asks === null && isDoubted(block) && block.code !== 'seen-again')
}

function blockLines(blocks: Blocks, quote: Quote): string[] {
  return blocks.map((block) => `- ${blockText(block, quote)} (${block.code})`)
}

export function aboutAsking(
  { sync, asking }: SyncFigures,
  condition: Condition,
  why: Why,
  quote: Quote,
): Notification {
  const { run, state, counts, blocks, questions } = asking!
  const about = total(counts.asking) === 0 ? '' : ` about ${amountsText(counts.asking)}`
  const open = `${amount(questions, 'question')} ${questions === 1 ? 'is' : 'are'} open`
  const rest = state === 'held' ? 'Only approved changes are sent.' : 'The rest of the plan was applied.'
  return {
    event: 'asking',
    sync,
    run,
    subject: `${sync}: ${open}${still(condition, why)}`,
    text: lines(
      `Run ${run} of the sync ${sync} asks${about}; ${open}. ${rest}`,
      ...blockLines(blocks.filter(isAsked), quote),
      '',
      `dirsyncd runs ${run} shows the changes; dirsyncd approve ${run} approves them, dirsyncd reject ${run} rejects them.`,
    ),
  }
}

export function aboutBlocked(
  { sync, planned }: SyncFigures,
  condition: Condition,
  why: Why,
  quote: Quote,
): Notification {
  const { run, blocks } = planned!
  return {
    event: 'blocked',
    sync,
    run,
    subject: `${sync}: the source does not confirm ${amount(condition.amount, 'change')}${still(condition, why)}`,
    text: lines(
      `Run ${run} of the sync ${sync} blocks ${amount(condition.amount, 'change')} and applies the rest:`,
      ...blockLines(doubted(blocks), quote),
      '',
      `dirsyncd runs ${run} shows them. A later run applies them when the source confirms them.`,
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

export function aboutEnd({ sync }: SyncFigures, condition: Condition): Notification {
  const [subject, sentence, command] = endOf(sync, condition)
  return {
    event: 'recovered',
    sync,
    run: null,
    subject: `${sync}: ${subject}`,
    text: lines(`${sentence} It began ${timeOf(condition.since)}.`, '', command),
  }
}

function endOf(sync: string, { event }: Condition): readonly [string, string, string] {
  const shows = `dirsyncd runs --sync ${sync} shows its runs.`
  switch (event) {
    case 'asking':
      return ['no question is open any more', `The sync ${sync} asks nothing any more.`, shows]
    case 'blocked':
      return [
        'no change is in doubt any more',
        `The sync ${sync} blocks no change any more because of what it read; some may be decided.`,
        shows,
      ]
    case 'token':
      return ['it has another access token', `The sync ${sync} has an access token that lives on.`, shows]
    case 'failing':
    case 'quarantine':
      return ['it runs again', `The runs of the sync ${sync} do not fail any more.`, shows]
  }
}

export function aboutDecision({ sync, run, does, by, reason, selection }: DecisionOfRun): Notification {
  const { ids = [], only = [], code } = selection
  const what = [
    ...(code === undefined ? [] : [code]),
    ...only,
    ...(ids.length > 0 ? [amount(ids.length, 'id')] : []),
  ]
  const about = what.length === 0 ? '' : ` (${what.join(', ')})`
  const why = reason === '' ? '' : ` The reason: ${reason}`
  return {
    event: 'decided',
    sync,
    run,
    subject: `${sync}: ${by} ${DID[does]} run ${run}${about}`,
    text: lines(
      `${by} ${DID[does]} run ${run} of the sync ${sync}${about}.${why}`,
      '',
      does === 'reject'
        ? `dirsyncd runs ${run} shows it; dirsyncd approve ${run} --code rejected approves it all the same.`
        : `dirsyncd runs ${run} shows it.`,
    ),
  }
}

const DID = { approve: 'approved', reject: 'rejected', withdraw: 'withdrew the approval of' } as const

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
