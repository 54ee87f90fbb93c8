import { CONTAINER_EMPTIED, GROUP_EMPTIED, MAX_DELETES, RECENTLY_DELETED } from '../../../support/blocks.ts'
import { blockText } from '../../../../src/ui/messages/blocks.ts'
import { describe, expect, test } from 'vitest'
import type { Condition } from '../../../../src/ui/notify/condition.ts'
import { evaluate, type Rules } from '../../../../src/ui/notify/evaluate.ts'
import type { Notification } from '../../../../src/ui/notify/notification.ts'
import type { RunState } from '../../../../src/operations/control.ts'
import type { SyncFigures } from '../../../../src/store/figures.ts'
import { blockOf, countsOf } from '../cli/runs-for-tests.ts'
import type { DecisionOfRun } from '../../../../src/operations/notifications.ts'

const START = Date.parse('2026-11-26T13:00:00Z')
const HOUR = 3_600_000

const WELL: SyncFigures = {
  sync: 'corp',
  lastAttempt: new Date(START),
  lastFullRead: new Date(START),
  lastSuccess: new Date(START),
  lastDecision: null,
  failures: 0,
  error: null,
  planned: null,
  newRejection: null,
  asking: null,
  isPaused: false,
  isUnderWay: false,
  quarantined: 0,
  pending: 0,
  pendingSeconds: 0,
  pause: null,
  outages: 0,
  token: { secondsLeft: 1e7, isSoon: false },
}

function asking(questions: number, run = 12): Partial<SyncFigures> {
  const params = { ...MAX_DELETES.params, deletes: questions }
  const blocks = [
    blockOf({ ...MAX_DELETES, params }, { stops: true, changes: questions }),
    blockOf(RECENTLY_DELETED, { until: 'time' }),
  ]
  const counts = countsOf({ asking: { 'delete-user': questions } })
  return { asking: { run, state: 'held', counts, blocks, undo: null, questions } }
}

const EMPTIED = {
  ...CONTAINER_EMPTIED,
  params: { ...CONTAINER_EMPTIED.params, container: 'ou=a,dc=x' },
}

/** Blocks that end without a decision, some of them as the source shows that it may be wrong. */
function doubting(changes: number, state: RunState = 'done'): Partial<SyncFigures> {
  const blocks = [
    blockOf(RECENTLY_DELETED, { until: 'time', changes }),
    blockOf({ code: 'grace', params: {} }, { until: 'time', changes: 7 }),
    blockOf({ code: 'seen-again', params: {} }, { until: 'read', changes: 5 }),
    blockOf(EMPTIED, { changes: 3 }),
  ]
  return { planned: { run: 13, state, counts: countsOf({}), blocks } }
}

function failing(failures: number): Partial<SyncFigures> {
  return { failures, error: 'ldap://a cannot be reached as ana@example.org' }
}

function ends(secondsLeft: number): Partial<SyncFigures> {
  return { token: { secondsLeft, isSoon: true } }
}

const RULES = { failures: 3, settledMs: 0, isConfigured: (text: string) => text === 'ou=a,dc=x' }

/** Told of a sync, of which something is so at each of these hours. */
class Story {
  #conditions: readonly Condition[] = []
  readonly #rules: Rules

  constructor(rules: Rules = RULES) {
    this.#rules = rules
  }

  at(
    hours: number,
    figures: Partial<SyncFigures>,
    decisions: readonly DecisionOfRun[] = [],
  ): readonly Notification[] {
    const facts = { figures: [{ ...WELL, ...figures }], decisions, now: new Date(START + hours * HOUR) }
    const { conditions, notifications } = evaluate(this.#conditions, facts, this.#rules)
    this.#conditions = conditions
    return notifications
  }

  /** The events and subjects alone. */
  says(
    hours: number,
    figures: Partial<SyncFigures>,
    decisions?: readonly DecisionOfRun[],
  ): readonly string[] {
    return this.at(hours, figures, decisions).map(({ event, subject }) => `${event}: ${subject}`)
  }
}

test('nothing is told while all is well', () => {
  const story = new Story()
  for (let hours = 0; hours < 100; hours += 10) expect(story.says(hours, {})).toEqual([])
})

const ANA: DecisionOfRun = {
  sync: 'corp',
  run: 12,
  decision: 1,
  does: 'approve',
  by: 'ana',
  at: '',
  reason: '',
  selection: {},
  keys: 40,
  started: null,
}

describe('a question', () => {
  test('is notified once, again when there are twice as many, and once a day, and does not expire', () => {
    const story = new Story()
    expect(story.at(0, asking(40))).toEqual([
      {
        event: 'asking',
        sync: 'corp',
        run: 12,
        subject: 'corp: 40 questions are open',
        text: [
          'Run 12 of the sync corp asks about 40 deletions of users; 40 questions are open. Only approved changes are sent.',
          '- 40 of 100 users would be removed, limit 5 (max-deletes-users)',
          '',
          'dirsyncd runs 12 shows the changes; dirsyncd approve 12 approves them, dirsyncd reject 12 rejects them.',
        ].join('\n'),
      },
    ])
    expect(story.says(1, asking(41, 13))).toEqual([])
    expect(story.says(2, asking(79, 14))).toEqual([])
    expect(story.says(3, asking(80, 15))).toEqual([
      'asking: corp: 80 questions are open, since 2026-11-26 13:00:00Z',
    ])
    expect(story.says(26, asking(80, 15))).toEqual([])
    expect(story.says(27, asking(80, 15))).toHaveLength(1)
    expect(story.says(28, asking(10, 16))).toEqual([])
    expect(story.says(29, asking(20, 17))).toHaveLength(1)
    for (let days = 3; days < 30; days++) expect(story.says(days * 24, asking(20, 17))).toHaveLength(1)
    expect(story.says(900, {})).toEqual(['recovered: corp: no question is open any more'])
  })

  test('of a run that applied the rest says so', () => {
    const { asking: run } = asking(40)
    const [told] = new Story().at(0, { asking: { ...run!, state: 'done' } })
    expect(told!.text).toContain('40 questions are open. The rest of the plan was applied.')
  })

  test('that was decided is notified by its decision alone', () => {
    const story = new Story()
    story.at(0, asking(40))
    expect(story.at(1, {}, [{ ...ANA, reason: 'they left' }])).toEqual([
      {
        event: 'decided',
        sync: 'corp',
        run: 12,
        subject: 'corp: ana approved run 12',
        text: 'ana approved run 12 of the sync corp. The reason: they left\n\ndirsyncd runs 12 shows it.',
      },
    ])
    expect(story.says(2, {})).toEqual([])
  })

  test('that was decided in part says which', () => {
    const decisions: DecisionOfRun[] = [
      { ...ANA, does: 'reject', selection: { code: 'container-emptied' } },
      { ...ANA, selection: { only: ['deletes'], ids: ['u1', 'u2'] } },
    ]
    expect(new Story().says(0, {}, decisions)).toEqual([
      'decided: corp: ana rejected run 12 (container-emptied)',
      'decided: corp: ana approved run 12 (deletes, 2 ids)',
    ])
  })

  test('names no entry', () => {
    const { asking: run } = asking(1)
    const [told] = new Story().at(0, { asking: { ...run!, blocks: [blockOf(GROUP_EMPTIED)] } })
    expect(told!.text).toContain('- "…" would lose 9 members: "…" listed members')
    const [failed] = new Story().at(0, failing(3))
    expect(failed!.text).toContain('- ldap://a cannot be reached as [e-mail]')
  })
})

test('changes that the source does not confirm are notified, without those of a grace period or a question', () => {
  const story = new Story()
  const [told] = story.at(0, doubting(40))
  expect(told).toMatchObject({
    event: 'blocked',
    run: 13,
    subject: 'corp: the source does not confirm 40 changes',
  })
  expect(told!.text.split('\n')).toEqual([
    'Run 13 of the sync corp blocks 40 changes and applies the rest:',
    `- ${blockText(RECENTLY_DELETED)} (recently-deleted)`,
    '',
    'dirsyncd runs 13 shows them. A later run applies them when the source confirms them.',
  ])
  expect(story.says(1, doubting(41))).toEqual([])
  expect(story.says(2, {})).toEqual(['recovered: corp: no change is in doubt any more'])
})

test('of a run that is held, failed or under way it is unknown what stays blocked', () => {
  for (const state of ['held', 'failed', 'applying'] as const) {
    const story = new Story()
    expect(story.says(0, doubting(40, state))).toEqual([])
    expect(story.says(1, doubting(40))).toHaveLength(1)
    expect(story.says(2, doubting(40, state))).toEqual([])
    expect(story.says(3, {})).toEqual(['recovered: corp: no change is in doubt any more'])
  }
})

test('failures are told of from the third in a row on, once a day, and when they end', () => {
  const story = new Story()
  expect(story.says(0, failing(2))).toEqual([])
  const [told] = story.at(1, failing(3))
  expect(told!.subject).toBe('corp: its runs fail')
  expect(told!.text.split('\n')).toEqual([
    'The last 3 runs of the sync corp have failed. It last succeeded 2026-11-26 13:00:00Z. The last error:',
    '- ldap://a cannot be reached as [e-mail]',
    '',
    'dirsyncd runs --sync corp shows them; dirsyncd check corp tries each step.',
  ])
  for (let hours = 2; hours < 25; hours++) expect(story.says(hours, failing(hours * 4))).toEqual([])
  expect(story.says(25, failing(100))).toHaveLength(1)
  expect(story.says(26, {})).toEqual(['recovered: corp: it runs again'])
  expect(story.says(27, {})).toEqual([])
})

test('a thousand refused changes are one notification, and only growth is another', () => {
  const story = new Story()
  for (const quarantined of [1, 10, 500]) expect(story.says(0, { quarantined, isUnderWay: true })).toEqual([])
  expect(story.says(1, { quarantined: 1000 })).toEqual([
    'quarantine: corp: the service refuses 1,000 changes',
  ])
  expect(story.says(2, { quarantined: 1900 })).toEqual([])
  expect(story.says(26, { quarantined: 1900 })).toHaveLength(1)
  for (let days = 2; days < 90; days++) expect(story.says(26 + days * 24, { quarantined: 1900 })).toEqual([])
  expect(story.says(5000, { quarantined: 5 })).toEqual([])
  expect(story.says(5001, { quarantined: 10 })).toEqual(['quarantine: corp: the service refuses 10 changes'])
  expect(story.says(5002, {})).toEqual([])
})

test('runs that fail again and again are told of once, and told to run when they have for half an hour', () => {
  const story = new Story({ ...RULES, settledMs: HOUR / 2 })
  expect(story.says(0, failing(3))).toHaveLength(1)
  for (let hours = 1; hours < 20; hours += 2) {
    expect(story.says(hours, {})).toEqual([])
    expect(story.says(hours + 0.4, {})).toEqual([])
    expect(story.says(hours + 0.6, failing(1))).toEqual([])
    expect(story.says(hours + 0.9, failing(2))).toEqual([])
    expect(story.says(hours + 1, failing(3))).toEqual([])
  }
  expect(story.says(24, failing(5))).toEqual(['failing: corp: its runs fail, since 2026-11-26 13:00:00Z'])
  expect(story.says(25, {})).toEqual([])
  expect(story.says(25.5, {})).toEqual(['recovered: corp: it runs again'])
  expect(story.says(26, failing(3))).toHaveLength(1)
})

test('a token that ends is told of once a day, until it is another one', () => {
  const story = new Story()
  expect(story.says(0, ends(5 * 86_400))).toEqual(['token: corp: its access token ends in 5 days'])
  expect(story.says(1, ends(5 * 86_400))).toEqual([])
  expect(story.says(24, ends(10_000))).toEqual(['token: corp: its access token ends in 2 hours'])
  expect(story.says(48, ends(-5))).toEqual(['token: corp: its access token has expired'])
  // The service has not said anything of the token for long.
  expect(story.says(72, { token: null })).toEqual([])
  expect(story.says(73, ends(-5))).toHaveLength(1)
  expect(story.says(74, {})).toEqual(['recovered: corp: it has another access token'])
})

test('a condition of a sync says nothing of another one', () => {
  const labs = { ...WELL, sync: 'labs', failures: 5, error: 'gone' }
  const now = new Date(START)
  const first = evaluate([], { figures: [WELL, labs], decisions: [], now }, { ...RULES, failures: 1 })
  expect(first.notifications.map(({ sync }) => sync)).toEqual(['labs'])
  const corp = { ...WELL, failures: 5, error: 'gone' }
  const second = evaluate(
    first.conditions,
    { figures: [corp, labs], decisions: [], now },
    { ...RULES, failures: 1 },
  )
  expect(second.notifications.map(({ sync }) => sync)).toEqual(['corp'])
  expect(second.conditions).toHaveLength(2)
})
