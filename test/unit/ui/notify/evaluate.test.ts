import { CONTAINER_EMPTIED, GROUP_EMPTIED, MAX_DELETES, REBORN } from '../../../support/blocks.ts'
import { blockText } from '../../../../src/ui/messages/blocks.ts'
import { describe, expect, test } from 'vitest'
import type { Condition } from '../../../../src/ui/notify/condition.ts'
import { evaluate, type Rules } from '../../../../src/ui/notify/evaluate.ts'
import type { Notification } from '../../../../src/ui/notify/notification.ts'
import type { SyncFigures } from '../../../../src/store/figures.ts'
import { countsOf } from '../cli/runs-for-tests.ts'
import type { DecisionOfRun } from '../../../../src/store/notifications.ts'

const START = Date.parse('2026-11-26T13:00:00Z')
const HOUR = 3_600_000
const DAY = 24 * HOUR

const WELL: SyncFigures = {
  sync: 'corp',
  lastAttempt: new Date(START),
  lastFullRead: new Date(START),
  lastSuccess: new Date(START),
  lastDecision: null,
  failures: 0,
  error: null,
  planned: null,
  hold: null,
  isPaused: false,
  isUnderWay: false,
  quarantined: 0,
  pending: 0,
  pendingSeconds: 0,
  pause: null,
  outages: 0,
  token: { secondsLeft: 1e7, isSoon: false },
}

function held(undecided: number, run = 12): Partial<SyncFigures> {
  const params = { ...MAX_DELETES.params, deletes: undecided }
  const breaches = [{ ...MAX_DELETES, params, changes: undecided }]
  return { hold: { run, state: 'held', breaches, undecided, expiresAt: new Date(START + 7 * DAY) } }
}

const EMPTIED = {
  ...CONTAINER_EMPTIED,
  params: { ...CONTAINER_EMPTIED.params, container: 'ou=a,dc=x' },
}

function withheld(changes: number, waitsFor: 'person' | 'better-read' = 'person'): Partial<SyncFigures> {
  const breaches = [
    { ...EMPTIED, changes, waitsFor },
    { ...REBORN, changes: 3, waitsFor, decided: 'approved' as const },
  ]
  return { planned: { run: 13, state: 'done', counts: countsOf({}), breaches } }
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

describe('a plan that is held', () => {
  test('is told of once, again when it has doubled, and once a day', () => {
    const story = new Story()
    expect(story.at(0, held(40))).toEqual([
      {
        event: 'held',
        sync: 'corp',
        run: 12,
        subject: 'corp: a plan waits for a person',
        text: [
          'Run 12 of the sync corp is held, and nothing of it is applied: 40 changes would go beyond these limits.',
          '- 40 of 100 users would be removed, limit 5 (max-deletes-users)',
          '',
          'dirsyncd runs 12 shows the plan; dirsyncd approve 12 applies it, dirsyncd reject 12 leaves it. ' +
            'Until 2026-12-03 13:00:00Z, then the next run asks again.',
        ].join('\n'),
      },
    ])
    expect(story.says(1, held(41, 13))).toEqual([])
    expect(story.says(2, held(79, 14))).toEqual([])
    expect(story.says(3, held(80, 15))).toEqual([
      'held: corp: a plan waits for a person, since 2026-11-26 13:00:00Z',
    ])
    expect(story.says(26, held(80, 15))).toEqual([])
    expect(story.says(27, held(80, 15))).toEqual([
      'held: corp: a plan waits for a person, since 2026-11-26 13:00:00Z',
    ])
    expect(story.says(28, held(10, 16))).toEqual([])
    expect(story.says(29, held(20, 17))).toHaveLength(1)
  })

  test('is told of when it is held no more, but not where somebody decided', () => {
    const decision: DecisionOfRun = {
      sync: 'corp',
      run: 12,
      decision: 'approved',
      by: 'ana',
      at: '',
      reason: 'they left',
    }
    const story = new Story()
    story.at(0, held(40))
    expect(story.at(1, {}, [decision])).toEqual([
      {
        event: 'decided',
        sync: 'corp',
        run: 12,
        subject: 'corp: ana approved run 12',
        text: 'ana approved run 12 of the sync corp. The reason: they left\n\ndirsyncd runs 12 shows it.',
      },
    ])
    expect(story.says(2, {})).toEqual([])

    story.at(3, held(40))
    expect(story.says(4, {})).toEqual(['recovered: corp: nothing is held any more'])
    story.at(5, held(40))
    expect(story.says(5 + 8 * 24, {})).toEqual(['recovered: corp: nobody decided in time'])
  })

  test('says what was decided about, when it was not all of it', () => {
    const story = new Story()
    const decision = { sync: 'corp', run: 12, by: 'ana', at: '' } as const
    expect(
      story.says(0, {}, [
        { ...decision, decision: 'rejected', only: ['reborn', 'max-deletes-users'] },
        { ...decision, decision: 'approved', part: { ids: ['u1'] } },
      ]),
    ).toEqual([
      'decided: corp: ana rejected run 12 (reborn, max-deletes-users)',
      'decided: corp: ana approved run 12 in part',
    ])
  })

  test('names nobody', () => {
    const planned = { run: 13, state: 'done', counts: countsOf({}), breaches: [GROUP_EMPTIED] } as const
    const [told] = new Story().at(0, { planned })
    expect(told!.text).toContain(
      '- group "…" had 9 members and has none; perhaps the bind account cannot read them any more (group-emptied)',
    )
    const [failed] = new Story().at(0, failing(3))
    expect(failed!.text).toContain('- ldap://a cannot be reached as [e-mail]')
  })
})

test('what the evidence withholds is told of, with what has to happen', () => {
  const story = new Story()
  const [told] = story.at(0, withheld(40))
  expect(told).toMatchObject({
    event: 'withheld',
    run: 13,
    subject: 'corp: the source does not prove all that it shows',
  })
  expect(told!.text.split('\n')).toEqual([
    'Run 13 of the sync corp withholds 40 changes and applies the rest:',
    `- ${blockText(EMPTIED)} (container-emptied)`,
    '',
    'dirsyncd runs 13 shows them; dirsyncd approve 13 applies them, dirsyncd reject 13 leaves them.',
  ])
  expect(story.says(1, withheld(41))).toEqual([])
  expect(story.says(2, {})).toEqual(['recovered: corp: nothing is withheld any more'])
  expect(story.at(3, withheld(2, 'better-read'))[0]!.text).toContain('A later run applies them')
})

test('of a run that is held, failed or under way nothing is said to be withheld while the rest is applied', () => {
  for (const state of ['held', 'failed', 'applying'] as const) {
    const story = new Story()
    const { planned } = withheld(40)
    expect(story.says(0, { planned: { ...planned!, state } })).toEqual([])
    expect(story.says(1, withheld(40))).toHaveLength(1)
    expect(story.says(2, { planned: { ...planned!, state } })).toEqual([])
    expect(story.says(3, {})).toEqual(['recovered: corp: nothing is withheld any more'])
  }
})

test('what an earlier run withheld already is decided about by its number', () => {
  const hold = { run: 9, state: 'done', breaches: [], undecided: 40, expiresAt: null } as const
  const [told] = new Story().at(0, { ...withheld(40), hold })
  expect(told).toMatchObject({
    event: 'withheld',
    run: 9,
    text: expect.stringContaining('dirsyncd approve 9 '),
  })
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
