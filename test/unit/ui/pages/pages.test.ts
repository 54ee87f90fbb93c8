import { CONTAINER_EMPTIED, GROUP_EMPTIED, MAX_DELETES, SERVER_NOT_NEWER } from '../../../support/blocks.ts'
import { blockText } from '../../../../src/ui/messages/blocks.ts'
import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import type { ShownReason } from '../../../../src/operations/shown-reasons.ts'
import type { Change } from '../../../../src/core/plan/change.ts'
import { blocked, blockOf, changeOf, countsOf, createUser, deleteUser, runOf } from '../cli/runs-for-tests.ts'
import {
  BEARER,
  buildPagesForTests,
  decisionOf,
  overviewOf,
  quarantinedOf,
  type Shown,
  SIGNED_IN,
} from '../http/pages-for-tests.ts'

const HOSTILE = '<script>alert(1)</script>"\'&=\u202eexe.\u180e\u{e0041}\u0000\u001b[31m'
/** As much of it as anybody can ask for. */
const ASKED = HOSTILE.replaceAll('\u0000', '')
const FORMULA = '=cmd|calc!A1'

/** The pages as an operator gets them who has signed in. */
function pagesOf(shown: Shown) {
  const { app, asked } = buildPagesForTests(shown)
  const get = (url: string, headers: Record<string, string> = {}) =>
    app.inject({ url, headers: { ...SIGNED_IN, ...headers } })
  return { app, asked, get }
}

/** What a page says, without its marks. */
function words(page: string): string {
  return page
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&quot;', '"')
}

async function textOf(shown: Shown, url: string): Promise<string> {
  const answer = await pagesOf(shown).get(url, { accept: 'text/html' })
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  return answer.body
}

describe('the overview', () => {
  test('says that nothing needs the operator while all is well', async () => {
    const page = await textOf({ syncs: [overviewOf()] }, '/')
    expect(page).toContain('<p class="good">Nothing needs you.</p>')
    expect(page).toContain('all is well')
    expect(page).toContain('1,000 users, 40 groups')
  })

  test('names everything that an operator has to do or know', async () => {
    const counts = countsOf({ asking: { 'delete-user': 4000 } })
    const asking = { run: 7, state: 'held', counts, blocks: [blockOf(MAX_DELETES)], undo: null } as const
    const syncs = [
      overviewOf({ sync: 'a', state: 'asking', asking: { ...asking, questions: 4000 } }),
      overviewOf({ sync: 'b', state: 'failing', failures: 3, error: 'ldap://x cannot be reached' }),
      overviewOf({ sync: 'c', state: 'late', quarantined: 2 }),
      overviewOf({ sync: 'd', token: { secondsLeft: 3 * 86_400, isSoon: true } }),
    ]
    const page = await textOf({ syncs }, '/')
    expect(page).toContain('href="/runs/7#questions"')
    expect(page).not.toContain('Nothing needs you')
    for (const text of [
      '4,000 deletions of users need approval (run 7); the plan is stopped',
      'the last 3 runs failed: ldap://x cannot be reached',
      'has not succeeded since its schedule called for it three times',
      '2 changes in quarantine',
      'the access token ends in 3 d',
    ])
      expect(words(page)).toContain(text)
  })

  test.each([
    [{ 'delete-user': 93 }, '93 deletions of users are rejected (the last by ana on 2026-11-28) (run 7)'],
    [{}, 'changes are rejected by ana at 2026-11-28 07:29:03Z in run 7: on leave (run 7)'],
  ])('is never green while %j is rejected, and names the operator and the day', async (rejected, text) => {
    const lastRejection = { run: 7, by: 'ana', at: '2026-11-28T07:29:03.000Z', reason: 'on leave' }
    const sync = overviewOf({ state: 'rejected', rejected: { rejected, lastRejection } })
    for (const url of ['/', '/syncs/corp']) {
      const page = await textOf({ syncs: [sync] }, url)
      expect(words(page)).toContain(text)
      expect(page).not.toMatch(/class="(badge )?good"/)
    }
  })

  test('is never green while changes wait for a better read, and counts them', async () => {
    const blocks = [
      blockOf({ code: 'removals-not-confirmed', params: {} }, { until: 'time', changes: 3 }),
      blockOf({ code: 'seen-again', params: {} }, { until: 'read', changes: 1 }),
    ]
    const sync = overviewOf({ state: 'doubted', doubted: { run: 7, blocks } })
    for (const url of ['/', '/syncs/corp']) {
      const page = await textOf({ syncs: [sync] }, url)
      expect(words(page)).toContain('3 changes (removals-not-confirmed), 1 change (seen-again)')
      expect(page).toContain('href="/runs/7?state=blocked#changes"')
      expect(page).not.toMatch(/all is well|class="(badge )?good"/)
    }
  })

  test.each(['/', '/syncs/corp'])('announces no run of a paused sync on %s, nor offers one', async (url) => {
    const since = '2026-11-21T07:29:03.000Z'
    const paused = { sync: 'corp', by: 'bob', reason: null, since }
    const next = '2026-11-21T08:00:00.000Z'
    const page = await textOf({ syncs: [overviewOf({ state: 'paused', paused, next })] }, url)
    expect(page).not.toContain(next)
    expect(page).toContain('none while paused')
    expect(page).toContain('dirsyncd resume corp ends it')
    expect(page).not.toContain('Run now')
    const goesOn = await textOf({ syncs: [overviewOf({ next })] }, url)
    expect(goesOn).toContain(next)
    expect(goesOn.includes('Run now')).toBe(url !== '/')
  })

  test('does not call well what the service refuses in part', async () => {
    const page = await textOf({ syncs: [overviewOf({ quarantined: 2 })] }, '/')
    expect(page).toContain('some refused')
    expect(page).not.toContain('all is well')
  })
})

describe('texts of strangers', () => {
  const REJECTED = { run: 6, by: HOSTILE, at: '2026-11-21T07:29:03.000Z', reason: HOSTILE }
  const EMPTIED = {
    code: 'container-emptied',
    changes: { 'delete-user': 1 },
    open: { 'delete-user': 1 },
  } as const
  const change: Change = {
    op: 'update-user',
    id: HOSTILE,
    have: { name: HOSTILE, email: null },
    want: { name: `${HOSTILE}2` },
  }
  const hostile: Shown = {
    syncs: [overviewOf({ sync: ASKED, error: HOSTILE, failures: 1 })],
    runs: [
      runOf({
        run: 7,
        sync: HOSTILE,
        error: HOSTILE,
        state: 'held',
        questions: 1,
        reasons: [{ ...EMPTIED, isOpen: true }],
        blocks: [
          blockOf({ ...CONTAINER_EMPTIED, params: { ...CONTAINER_EMPTIED.params, container: HOSTILE } }),
        ],
        counts: countsOf({ rejected: { 'delete-user': 1 }, lastRejection: REJECTED }),
        decisions: [
          decisionOf({ does: 'reject', by: HOSTILE, reason: HOSTILE, selection: { ids: [HOSTILE] } }),
        ],
        notices: [{ kind: 'user', id: HOSTILE, code: 'no-name', params: { from: HOSTILE } }],
      }),
    ],
    changes: [
      changeOf(change, { state: 'failed', detail: HOSTILE }),
      { ...blocked(change, { code: 'rejected', params: {}, facts: REJECTED }), number: 1_000_000_000 },
    ],
    notices: [{ number: 1, kind: 'user', id: HOSTILE, code: 'no-name', params: { from: HOSTILE } }],
    quarantine: [
      {
        ...quarantinedOf(HOSTILE),
        sync: HOSTILE,
        name: HOSTILE,
        refusal: { code: 'quarantine', params: { answer: HOSTILE } },
      },
    ],
    explanation: {
      result: 'several',
      sync: HOSTILE,
      who: HOSTILE,
      matches: [{ kind: 'user', id: HOSTILE, name: HOSTILE, email: HOSTILE, from: HOSTILE }],
    },
  }

  test.each([
    '/',
    '/runs',
    '/runs/7',
    '/runs/7/changes/1',
    '/runs/7/notices',
    '/runs/7/undo',
    `/syncs/${encodeURIComponent(ASKED)}`,
    `/syncs/corp/people?who=${encodeURIComponent(ASKED)}`,
    '/quarantine',
    `/runs/7?search=${encodeURIComponent(ASKED)}`,
  ])('are texts on %s', async (url) => {
    const page = await textOf(hostile, url)
    expect(page).not.toContain('<script>')
    for (const character of '\u202e\u180e\u{e0041}\0\u001b') expect(page).not.toContain(character)
    expect(page).toContain('&lt;script&gt;')
  })

  test('are cut where they are long, and whole in a download', async () => {
    const long = HOSTILE + 'x'.repeat(65_536)
    const longOnes = Array.from({ length: 50 }, (_, nth) =>
      changeOf(
        { ...change, id: long, have: { name: long, email: long }, want: { name: long } },
        { number: nth + 1 },
      ),
    )
    const shown = { ...hostile, changes: longOnes }
    const page = await textOf(shown, '/runs/7')
    expect(page).toContain(`(${long.length.toLocaleString('en-US')} characters)`)
    expect(page.length).toBeLessThan(100_000)
    const { get } = pagesOf(shown)
    expect((await get('/runs/7/changes.json')).json()[0].change.have.name).toBe(long)
  })

  test('are no formulas in a download, and lose nothing', async () => {
    const { get } = pagesOf({
      ...hostile,
      changes: [changeOf(createUser(FORMULA)), changeOf(change)],
      notices: [
        { number: 1, kind: 'user', id: FORMULA, code: 'batches-off', params: { reason: `@${HOSTILE}` } },
      ],
    })
    const csv = await get('/runs/7/changes.csv')
    expect(csv.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="run-7-changes.csv"',
    })
    const rows: Record<string, string>[] = parse(csv.body, { columns: true, bom: true })
    expect(rows).toMatchObject([
      { op: 'create-user', id: `'${FORMULA}` },
      { op: 'update-user', id: HOSTILE, 'name before': HOSTILE, 'name after': `${HOSTILE}2` },
    ])
    const notices: Record<string, string>[] = parse((await get('/runs/7/notices.csv')).body, {
      columns: true,
      bom: true,
    })
    expect(notices).toMatchObject([{ id: `'${FORMULA}`, detail: expect.stringContaining(HOSTILE) }])
    expect((await get('/runs/7/changes.json')).json()).toMatchObject([
      { change: { id: FORMULA } },
      { change },
    ])
    expect((await get('/runs/7/notices.json')).json()).toHaveLength(1)
  })
})

test.each(['changes.csv', 'changes.json', 'notices.csv', 'notices.json'])(
  'an outage of the store is no download of %s, and one in the middle cuts the connection',
  async (file) => {
    const runs = [runOf({ run: 7 })]
    const away = await pagesOf({ runs, isCut: true }).get(`/runs/7/${file}`)
    expect([away.statusCode, away.json().message]).toEqual([503, 'The store does not answer.'])
    expect(away.headers['content-disposition']).toBeUndefined()

    const changes = [changeOf(createUser('a'))]
    const notices = [{ number: 1, kind: 'user', id: 'a', code: 'no-name', params: { from: '' } }] as const
    const { app } = pagesOf({ runs, changes, notices, isCut: true })
    await using _ = { [Symbol.asyncDispose]: () => app.close() }
    const cut = await fetch(`${await app.listen({ host: '127.0.0.1', port: 0 })}/runs/7/${file}`, {
      headers: SIGNED_IN,
    })
    expect(cut.status).toBe(200)
    await expect(cut.text()).rejects.toThrow('terminated')
  },
)

test('the quarantine renews itself', async () => {
  expect(await textOf({}, '/quarantine')).toContain('data-refresh="10"')
})

test('a quarantine that is long is shown in parts', async () => {
  const quarantine = Array.from({ length: 250 }, (_, nth) => quarantinedOf(`e-${nth}`))
  const [first, last] = [
    await textOf({ quarantine }, '/quarantine'),
    await textOf({ quarantine }, '/quarantine?skip=200'),
  ]
  expect(first.length).toBeLessThan(100_000)
  expect(first).toContain('1 to 50 of 250 changes')
  expect(first).toContain('href="/quarantine?skip=50" rel="next"')
  expect(last).toContain('201 to 250 of 250 changes')
  expect(last).not.toContain('rel="next"')
})

const LEAVERS = { 'delete-user': 93, 'update-group': 2 }

/** A plan that a guard stops: it asks about deletes for two reasons. */
const ASKING = {
  run: 7,
  state: 'held',
  questions: 95,
  counts: countsOf({ blocked: { 'delete-user': 135, 'create-user': 15 }, asking: { 'delete-user': 135 } }),
  blocks: [
    blockOf(CONTAINER_EMPTIED, { changes: 93 }),
    blockOf(MAX_DELETES, { stops: true, changes: 42 }),
    blockOf({ code: 'grace', params: {} }, { until: 'time', changes: 4 }),
  ],
  reasons: [
    reasonOf('container-emptied', { 'delete-user': 93 }),
    reasonOf('max-deletes-users', { 'delete-user': 42 }),
    reasonOf('grace', { 'delete-user': 4 }, {}),
  ],
  open: { 'delete-user': 135 },
} as const

function reasonOf(code: ShownReason['code'], changes: ShownReason['changes'], open = changes): ShownReason {
  return { code, changes, open, isOpen: Object.keys(open).length > 0 }
}

/** The buttons of the form to decide, without those of a part, as `approve code:container-emptied danger: text`. */
function buttonsOf(page: string): readonly string[] {
  const found = [...page.matchAll(/<button ([^>]*)name="what"(?! value="part")([^>]*)>([^<]*)/g)]
  return found.map(([, before, after, text]) => {
    const what = /value="([^"]*)"/.exec(after!)?.[1]
    const looks = /class="([^"]*)"/.exec(before!)?.[1]
    const does = after!.includes('formaction="/runs/7/reject"') ? 'reject' : 'approve'
    return `${[does, what, looks].filter(Boolean).join(' ')}: ${text!.replaceAll(/\s+/g, ' ').trim()}`
  })
}

async function offersUndo(parts: Parameters<typeof runOf>[0]): Promise<boolean> {
  return (await textOf({ runs: [runOf({ run: 7, ...parts })] }, '/runs/7')).includes('Undo this run')
}

describe('a run', () => {
  test('that asks says what, why, and what each button does', async () => {
    const page = await textOf({ runs: [runOf(ASKING)] }, '/runs/7')
    for (const text of [
      'needs approval',
      '135 deletions of users need your approval, for 2 reasons',
      'A guard stops the whole plan: nothing was sent.',
      `container-emptied ${blockText(CONTAINER_EMPTIED)} 93 changes, blocked until an operator decides`,
      `max-deletes-users ${blockText(MAX_DELETES)} 42 changes, stops the plan until an operator decides`,
    ])
      expect(words(page)).toContain(text)
    expect(page).toContain('href="/runs/7?code=container-emptied#changes"')
    expect(buttonsOf(page)).toEqual([
      'approve code:container-emptied danger: Approve: delete 93 users',
      'reject code:container-emptied: Reject: keep 93 users',
      'approve code:max-deletes-users danger: Approve: delete 42 users',
      'reject code:max-deletes-users: Reject: keep 42 users',
      'approve all danger: Approve all: delete 135 users',
      'reject all: Reject all: keep 135 users',
    ])
    for (const part of ['creates', 'updates', 'deletes', 'members'])
      expect(page).toContain(`name="only" value="${part}"`)
    expect(page).not.toMatch(/class="(badge )?good"/)
  })

  test('that asks for one reason and applied the rest is decided by two buttons', async () => {
    const open = { ...LEAVERS, 'set-members': 1 }
    const blocks = [blockOf(GROUP_EMPTIED)]
    const run = runOf({ ...ASKING, state: 'done', blocks, reasons: [reasonOf('group-emptied', open)], open })
    const page = await textOf({ runs: [run] }, '/runs/7')
    expect(words(page)).toContain('The rest of the plan was applied.')
    expect(words(page)).not.toContain('A guard stops')
    expect(buttonsOf(page)).toEqual([
      'approve all danger: Approve: delete 93 users, update 2 groups, change the members of 1 group',
      'reject all: Reject: leave out 96 changes',
    ])
  })

  test('that asks about the same changes for several reasons is decided by two buttons', async () => {
    const open = { 'delete-user': 42 }
    const reasons = [reasonOf('max-deletes-users', open), reasonOf('source-shrunk-users', open)]
    const page = await textOf({ runs: [runOf({ ...ASKING, reasons, open })] }, '/runs/7')
    expect(words(page)).toContain('42 deletions of users need your approval, for 2 reasons')
    expect(buttonsOf(page)).toEqual([
      'approve all danger: Approve: delete 42 users',
      'reject all: Reject: keep 42 users',
    ])
  })

  test('that asks about some changes for several reasons does not promise to delete them for one', async () => {
    const page = await textOf({ runs: [runOf({ ...ASKING, open: { 'delete-user': 100 } })] }, '/runs/7')
    expect(buttonsOf(page).slice(0, 2)).toEqual([
      'approve code:container-emptied danger: Approve this reason to delete 93 users',
      'reject code:container-emptied: Reject: keep 93 users',
    ])
  })

  test('that asks only about creates has no dangerous button', async () => {
    const open = { 'create-user': 1 }
    const blocks = [blockOf({ code: 'max-moved-ids', params: { users: 1, limit: 0 } })]
    const counts = countsOf({ blocked: open })
    const run = runOf({ ...ASKING, counts, blocks, reasons: [reasonOf('max-moved-ids', open)], open })
    const page = await textOf({ runs: [run] }, '/runs/7')
    expect(buttonsOf(page)).toEqual([
      'approve all main: Approve: create 1 user',
      'reject all: Reject: leave out 1 change',
    ])
    expect(page).not.toContain('class="danger"')
  })

  test('whose server is older offers to accept the server, and counts no changes', async () => {
    const blocks = [blockOf(SERVER_NOT_NEWER, { until: 'read', asks: ['fact', 'server', 'x'], changes: 0 })]
    const reasons = [{ ...reasonOf('server-not-newer', {}), isOpen: true }]
    const page = await textOf({ runs: [runOf({ ...ASKING, blocks, reasons, open: {} })] }, '/runs/7')
    expect(words(page)).toContain('the state of the server needs your approval')
    expect(buttonsOf(page)).toEqual([
      'approve all main: Approve: accept the state of the server',
      'reject all: Reject',
    ])
    expect(page).not.toContain('0 changes')
  })

  test.each([
    [{ state: 'applying', finishedAt: null, reasons: [], open: {} }, false],
    [{ state: 'failed' }, true],
    [{ state: 'planned', mode: 'plan' }, true],
  ] as const)('that applied nothing of the rest does not say so: %j', async (parts, isAsking) => {
    const page = words(await textOf({ runs: [runOf({ ...ASKING, ...parts })] }, '/runs/7'))
    expect(page.includes('need your approval')).toBe(isAsking)
    expect(page).not.toMatch(/The rest of the plan was applied|A guard stops/)
    // The reasons are shown all the same.
    expect(page).toContain(blockText(CONTAINER_EMPTIED))
  })

  test('that repeats a question names the reason of the question', async () => {
    const blocks = [blockOf({ code: 'asked', params: {} }, { changes: 42 })]
    const run = runOf({ ...ASKING, blocks, reasons: [ASKING.reasons[1]], open: { 'delete-user': 42 } })
    const page = await textOf({ runs: [run] }, '/runs/7')
    expect(words(page)).toContain('max-deletes-users more deletes than the limit')
    expect(page).toContain('href="/runs/7?code=asked#changes"')
  })

  test('that was decided in part says so, and has the rest decided', async () => {
    const reasons = [
      ASKING.reasons[0],
      reasonOf('max-deletes-users', { 'delete-user': 42 }, { 'delete-user': 31 }),
    ]
    const run = runOf({ ...ASKING, reasons, open: { 'delete-user': 124 } })
    const page = await textOf({ runs: [run] }, '/runs/7')
    expect(words(page)).toContain('11 changes of it are decided already')
    expect(buttonsOf(page).slice(-2)).toEqual([
      'approve all danger: Approve all: delete 124 users',
      'reject all: Reject all: keep 124 users',
    ])
  })

  test('that was decided shows by whom, when and why, and can be decided again', async () => {
    const reasons = ASKING.reasons.map((reason) => ({ ...reason, open: {}, isOpen: false }))
    const decisions = [
      decisionOf({
        does: 'reject',
        by: 'ana',
        reason: 'on leave',
        selection: { code: 'container-emptied' },
        keys: 93,
      }),
      decisionOf({ keys: 42, started: 9, selection: { only: ['deletes'], ids: ['u1'] } }),
    ]
    const run = runOf({ ...ASKING, questions: 0, reasons, open: {}, decisions })
    const page = await textOf({ runs: [run] }, '/runs/7')
    expect(words(page)).toMatch(/rejected by ana at 2026-11-21 07:29:03Z \(container-emptied\): "on leave"/)
    expect(words(page)).toMatch(/approved by ada at .* \(deletes, u1\) \(applied by run 9\)/)
    expect(words(page)).toContain('Decide again')
    expect(words(page)).not.toContain('need your approval')
    expect(buttonsOf(page)).toContain('approve code:container-emptied danger: Approve: delete 93 users')
    expect(buttonsOf(page).join()).not.toContain('approve all')
  })

  test('is not green where changes are rejected, and names the operator and the day', async () => {
    const lastRejection = { run: 6, by: 'ana', at: '2026-11-20T07:29:03.000Z', reason: 'on leave' }
    const counts = countsOf({ blocked: LEAVERS, rejected: { 'delete-user': 93 }, lastRejection })
    const blocks = [blockOf({ code: 'rejected', params: {} }, { changes: 93 })]
    for (const url of ['/runs/7', '/runs']) {
      const page = await textOf({ runs: [runOf({ run: 7, counts, blocks })] }, url)
      expect(words(page)).toMatch(/93 deletions of users are rejected \(.*the last by ana on 2026-11-20\)/)
      expect(page).not.toMatch(/class="(badge )?good"/)
    }
    expect(await textOf({ runs: [runOf({ run: 7 })] }, '/runs/7')).toContain('class="badge good"')
  })

  test.each([
    [{ state: 'failed', questions: 3 }, 'failed'],
    [{ state: 'held', decisions: [decisionOf()] }, 'decided'],
    [{ state: 'held' }, 'held, no open question'],
  ] as const)('has the state of now in the list of runs: %j', async (parts, text) => {
    const page = words(await textOf({ runs: [runOf(parts)] }, '/runs'))
    expect(page).toMatch(new RegExp(`corp${text}(–|3 open)`))
    expect(page).not.toContain('needs approval')
  })

  test('has its number of open questions in the list of runs', async () => {
    const page = await textOf({ runs: [runOf(ASKING), runOf({ run: 6 })] }, '/runs')
    expect(page).toContain('<a href="/runs/7#questions">95 open</a>')
    expect(page.match(/ open</g)).toHaveLength(1)
  })

  test('is not decided by Enter in a field', async () => {
    const putBack = { mode: 'plan', state: 'planned', undo: { run: 3, part: {} } } as const
    const counts = countsOf({ planned: { 'create-user': 1 } })
    for (const [parts, button] of [
      [ASKING, 'id="decide"'],
      [{ run: 7, ...putBack, counts }, '/put-back'],
    ] as const) {
      const page = await textOf({ runs: [runOf(parts)] }, '/runs/7')
      const form = page.split('<form').find((each) => each.includes(button))
      expect(form).toContain('Recorded as done by <bdi>ada</bdi>.')
      // Browsers press the first button on Enter.
      expect(form?.match(/<button[^>]*>/)?.[0]).toBe('<button hidden formmethod="dialog" formnovalidate>')
    }
  })

  test.each([
    [ASKING, 'held 95 0'],
    [{ run: 7, decisions: [decisionOf()] }, 'done 0 1'],
  ] as const)('that asks or was decided renews itself, by a script only: %#', async (parts, state) => {
    const page = await textOf({ runs: [runOf(parts)] }, '/runs/7')
    expect(page).toMatch(new RegExp(`<main\\s[^>]*data-refresh="10"\\s+data-state="${state}"`))
    // Without a script, what is typed would be lost.
    expect(page).not.toContain('http-equiv="refresh"')
  })

  test('is undone only where it may have changed something', async () => {
    const counts = countsOf({ outcomes: { applied: 1 } })
    expect(await offersUndo({ counts })).toBe(true)
    expect(await offersUndo({ counts: countsOf({ outcomes: { quarantined: 1 } }) })).toBe(false)
    expect(await offersUndo({ counts, finishedAt: null })).toBe(false)
    expect(await offersUndo({ counts, mode: 'plan' })).toBe(false)
  })

  test.each([
    ['none', 'The sync corp is not configured any more, so nothing can be decided'],
    ['other', 'The sync corp writes to another directory than this run did, so nothing can be decided'],
  ] as const)('of a sync that writes to %s is not decided on or undone', async (directoryNow, sentence) => {
    const run = runOf(ASKING)
    const undo = runOf({ run: 8, mode: 'plan', state: 'planned', undo: { run: 7, part: {} } })
    for (const url of ['/runs/7', '/runs/7/undo', '/runs/8']) {
      const page = await textOf({ runs: [run, undo], directoryNow }, url)
      expect(page).toContain(sentence)
      expect(page).not.toMatch(/<main[^]*method="post"/)
      expect(page).not.toContain('Undo this run')
    }
    const sync = await textOf({ runs: [run] }, '/syncs/corp')
    expect(sync).toContain('This sync is not configured any more')
    expect(sync).toContain('href="/runs/7"')
    expect(sync).not.toMatch(/<main[^]*method="post"/)
  })

  test.each([
    '/runs/9',
    '/runs/9/changes.csv',
    '/runs/9/notices.json',
    '/runs/7/changes/2',
    '/syncs/none',
    '/nothing',
  ])('%s is not there', async (url) => {
    const { get } = pagesOf({ runs: [runOf({ run: 7 })] })
    const answer = await get(url, { accept: 'text/html' })
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(answer.body).toContain('That did not work')
    expect(answer.headers['content-security-policy']).toContain("style-src 'self'")
  })
})

test.each([
  ['/syncs/%ff', 400, 'The address is not encoded as it should be.'],
  [`/runs/${'7'.repeat(200)}`, 414, 'The address is too long.'],
])('%s is no address, which a page says', async (url, status, sentence) => {
  const { get } = pagesOf({})
  const answer = await get(url, { accept: 'text/html' })
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8'])
  expect(answer.body).toContain(sentence)
  expect(answer.headers).toMatchObject({ 'x-frame-options': 'DENY', 'cache-control': 'no-store' })
  expect((await get(url)).json()).toEqual({ code: 'usage', message: sentence })
})

test.each([
  ['/runs/x', 'run must be a number.'],
  ['/runs/1.5', 'run must be a whole number.'],
  ['/runs/0', 'run must not be less than 1.'],
  ['/runs/7?op=none', 'op must be create-user, '],
  ['/runs/7?code=none', 'code must be '],
  ['/syncs/corp/people', 'who is missing; it must be a text.'],
  [`/runs/7?search=${'x'.repeat(201)}`, 'search must not be longer than 200.'],
])('what is wrong with %s is said in words', async (url, sentence) => {
  const { get } = pagesOf({ runs: [runOf({ run: 7 })], syncs: [overviewOf()] })
  expect((await get(url)).json().message).toContain(sentence)
})

describe('the changes of a run', () => {
  const CONTAINER = { ...CONTAINER_EMPTIED, until: 'decision' } as const
  const facts = { since: '2026-11-26T07:00:00.000Z', until: '2026-11-30T07:00:00.000Z' }
  const GRACE = { code: 'grace', params: {}, until: 'time', facts } as const
  const changes = [
    changeOf(createUser('new')),
    { ...blocked(deleteUser('a b'), CONTAINER, GRACE), number: 1_000_000_000 },
    {
      ...blocked(deleteUser('kept'), { code: 'unreadable', params: { entries: 2 }, until: 'read' }),
      number: 1_000_000_001,
    },
    { ...blocked(createUser('waits')), number: 1_000_000_002 },
  ]
  const shown = { runs: [runOf(ASKING)], changes }

  test('show those that are blocked, with each reason, in one list with the others', async () => {
    const page = await textOf(shown, '/runs/7')
    const rows = page.split('<tr>').slice(2).map(words)
    expect(rows).toHaveLength(4)
    expect(rows[0]).toContain('applied')
    expect(rows[1]).toContain(
      'blockedcontainer-emptiedgrace absent since 2026-11-26 07:00:00Z; deleted after',
    )
    expect(rows[2]).toContain('unreadable')
    expect(rows[3]).toContain('a guard stops the whole plan')
    expect(words(page)).toContain('blocked (150)')
    expect(page).toContain('<option value="container-emptied"')
    const alone = words(await textOf(shown, '/runs/7/changes/1000000000'))
    for (const text of ['Change B1 of run 7', blockText(CONTAINER_EMPTIED), 'absent since'])
      expect(alone).toContain(text)
  })

  test('are selected to be decided where an approval lifts every reason', async () => {
    const page = await textOf(shown, '/runs/7')
    const boxes = [
      ...page.matchAll(/<input\s+type="checkbox"\s+form="decide"\s+name="id"\s+value="([^"]*)"/g),
    ]
    expect(boxes.map(([, id]) => id)).toEqual(['a%20b', 'waits'])
    expect(words(page)).toContain('Approve the selected')
    for (const other of [{ directoryNow: 'other' }, { runs: [runOf({ run: 7 })] }] as const)
      expect(await textOf({ ...shown, ...other }, '/runs/7')).not.toContain('form="decide"')
  })

  test('are filtered by reason, and the pages of the list keep the filter', async () => {
    const many = Array.from({ length: 60 }, (_, nth) => ({
      ...blocked(deleteUser(`u${nth}`), CONTAINER),
      number: 1_000_000_000 + nth,
    }))
    const page = await textOf({ ...shown, changes: many }, '/runs/7?code=container-emptied&state=blocked')
    expect(page).toContain(
      'href="/runs/7?state=blocked&amp;code=container-emptied&amp;after=1000000049#changes"',
    )
    expect(page).toMatch(/<option value="container-emptied"\s+selected/)
  })

  test('have state and reasons in a download', async () => {
    const { get } = pagesOf(shown)
    const rows = parse((await get('/runs/7/changes.csv')).body, { columns: true, bom: true })
    expect(rows).toMatchObject([
      { state: 'applied', reasons: '', 'blocked because': '' },
      {
        id: 'a b',
        state: 'blocked',
        reasons: 'container-emptied\ngrace',
        'blocked because': expect.stringMatching(/^20 users of .*\nabsent since 2026-11-26 /),
      },
      { state: 'blocked', reasons: 'unreadable' },
      { state: 'blocked', reasons: '', 'blocked because': 'a guard stops the whole plan' },
    ])
    const json = (await get('/runs/7/changes.json')).json()
    expect(json[1]).toMatchObject({
      state: 'blocked',
      reasons: [{ code: 'container-emptied' }, { code: 'grace' }],
    })
  })
})

test('an answer to a program does not rewrite its terminal', async () => {
  const { get } = pagesOf({ syncs: [overviewOf()] })
  const answer = await get(`/syncs/${encodeURIComponent(ASKED)}`)
  for (const character of '\u202e\u001b') expect(answer.body).not.toContain(character)
  expect(answer.json().message).toContain('\\u202e')
})

test('an error about a run links to the run, unless there is none', async () => {
  const { get } = pagesOf({ runs: [runOf({ run: 7 })] })
  const page = async (url: string) => (await get(url, { accept: 'text/html' })).body
  expect(await page('/runs/7/changes/3')).toContain('<a href="/runs/7">Run 7</a>')
  expect(await page('/runs/9')).not.toContain('href="/runs/9"')
})

describe('what an operator does', () => {
  const shown: Shown = {
    syncs: [overviewOf()],
    paused: { sync: 'corp', by: 'ada', reason: 'why', since: '2026-11-21T07:29:03.000Z' },
    quarantine: [quarantinedOf('a b')],
    runs: [
      runOf({ run: 7, state: 'held', questions: 3, decisions: [decisionOf({ does: 'reject', by: 'bob' })] }),
      runOf({ run: 9, mode: 'plan', state: 'planned', undo: { run: 7, part: { kinds: ['user'] } } }),
    ],
  }

  const WHOM = '"what was sent must have kind and id, or all=yes in their place."'

  /** By default of a program, which names with the form who acts. */
  async function post(url: string, form: string, headers: Record<string, string> = BEARER) {
    const { app, asked } = pagesOf(shown)
    const answer = await app.inject({
      method: 'POST',
      url,
      payload: form,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    })
    return { status: answer.statusCode, location: answer.headers.location, body: answer.body, asked }
  }

  test.each([
    [
      '/runs/7/approve',
      'what=all&by=ada&reason=',
      ['approve', { run: 7, by: 'ada', reason: undefined, isAll: true }],
      '/runs/7',
    ],
    [
      '/runs/7/approve',
      'what=code%3Acontainer-emptied&by=ada&seen=held+3+1&ids=',
      ['approve', { run: 7, by: 'ada', code: 'container-emptied' }],
      '/runs/7',
    ],
    [
      '/runs/7/reject',
      'what=code%3Amax-deletes-users&by=ada&reason=no',
      ['reject', { run: 7, by: 'ada', reason: 'no', code: 'max-deletes-users' }],
      '/runs/7',
    ],
    [
      '/runs/7/approve',
      'what=part&by=ada&only=deletes&only=members&ids=a%0D%0A+b%0D%0A&id=c%2520d&id=a',
      ['approve', { run: 7, by: 'ada', only: ['deletes', 'members'], ids: ['a', ' b', 'c d'] }],
      '/runs/7',
    ],
    ['/runs/7/reject', 'what=part&by=ada&id=a', ['reject', { run: 7, by: 'ada', ids: ['a'] }], '/runs/7'],
    ['/runs/7/undo', 'by=ada', ['undo', { run: 7, part: {}, mode: 'plan', by: 'ada' }], '/runs/31'],
    [
      '/runs/9/put-back',
      'by=ada',
      ['undo', { run: 7, part: { kinds: ['user'] }, mode: 'sync', by: 'ada' }],
      '/runs/31',
    ],
    ['/syncs/corp/run', 'mode=plan', ['run', { sync: 'corp', mode: 'plan' }], '/runs/32'],
    [
      '/syncs/corp/pause',
      'by=ada&reason=why',
      ['pause', { sync: 'corp', by: 'ada', reason: 'why' }],
      '/syncs/corp',
    ],
    ['/syncs/corp/resume', 'by=ada', ['resume', { sync: 'corp', by: 'ada' }], '/syncs/corp'],
    ['/quarantine/release', 'all=yes&by=ada', ['release', { by: 'ada' }], '/quarantine'],
    [
      '/quarantine/release',
      'all=yes&sync=corp&by=ada',
      ['release', { sync: 'corp', by: 'ada' }],
      '/quarantine?sync=corp',
    ],
    [
      '/quarantine/release',
      'sync=corp&kind=user&id=a%2520b&by=ada',
      ['release', { sync: 'corp', scope: { users: ['a b'], groups: [] }, by: 'ada' }],
      '/quarantine?sync=corp',
    ],
  ])('%s with %s', async (url, form, wanted, location) => {
    const answer = await post(url, form)
    expect(answer).toMatchObject({ status: 303, location, asked: [wanted] })
  })

  test('leads to the run that applies an approval', async () => {
    const { app } = pagesOf({ ...shown, started: 33 })
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...BEARER }
    const answer = await app.inject({
      method: 'POST',
      url: '/runs/7/approve',
      payload: 'what=all&by=ada',
      headers,
    })
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/runs/33'])
  })

  test.each([
    ['held 9 1', 'The open questions of run 7 changed since this page was loaded'],
    ['held 3 0', 'Run 7 was rejected by bob at 2026-11-21 07:29:03Z since this page was loaded'],
  ])('decides nothing on a page that showed "%s" before', async (seen, sentence) => {
    const answer = await post('/runs/7/approve', `what=code%3Acontainer-emptied&by=ada&seen=${seen}`)
    expect([answer.status, answer.asked]).toEqual([400, []])
    expect(answer.body).toContain(sentence)
  })

  test.each([
    [
      'sync=corp&kind=user&id=gone&by=ada',
      'Not in quarantine of corp: user gone; dirsyncd quarantine list shows',
    ],
    ['kind=group&id=a%2520b&by=ada', 'Not in quarantine: group a b; dirsyncd quarantine list shows'],
  ])('releases nobody with %s who is not in quarantine any more, and says so', async (form, sentence) => {
    const answer = await post('/quarantine/release', form)
    expect(answer.status).toBe(400)
    expect(answer.body).toContain(sentence)
  })

  test('is not recorded where the sync was paused before, and whoever asks is told', async () => {
    const since = '2026-11-21T07:29:03.000Z'
    const { app } = pagesOf({ paused: { sync: 'corp', by: 'bob', reason: 'a move', since } })
    const pause = (form: string) =>
      app.inject({
        method: 'POST',
        url: '/syncs/corp/pause',
        payload: form,
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', ...BEARER },
      })
    const second = await pause('by=ada&reason=why')
    expect(second.statusCode).toBe(400)
    expect(second.body).toContain('paused since 2026-11-21 07:29:03Z by bob (a move)')
    expect(second.body).toContain('your name and reason are not recorded')
    expect((await pause('by=bob')).statusCode).toBe(303)
  })

  test('ends no pause where there is none, and says so', async () => {
    const { app, asked } = pagesOf({})
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...BEARER }
    const answer = await app.inject({
      method: 'POST',
      url: '/syncs/corp/resume',
      payload: 'by=ada',
      headers,
    })
    expect([answer.statusCode, answer.json().message]).toEqual([400, 'The sync corp is not paused.'])
    expect(asked).toEqual([['resume', { sync: 'corp', by: 'ada' }]])
  })

  test.each([
    ['nobody says who he is', '/runs/7/approve', 'what=all&by=', 'Give your name'],
    ['nobody says who resumes', '/syncs/corp/resume', '', 'Give your name'],
    ['nobody says who releases', '/quarantine/release', 'all=yes', 'Give your name'],
    ['nobody sees the name', '/syncs/corp/pause', 'by=%E2%80%8B+%E2%80%AE', 'Give your name'],
    [
      'a part is named and not chosen',
      '/runs/7/approve',
      'what=all&by=ada&only=updates',
      'A part is selected',
    ],
    ['an id is selected beside all', '/runs/7/reject', 'what=all&by=ada&id=a', 'A part is selected'],
    [
      'an id is named beside a reason',
      '/runs/7/approve',
      'what=code:grace&by=ada&ids=a',
      'A part is selected',
    ],
    ['no part is chosen', '/runs/7/approve', 'what=part&by=ada&ids=%0A', 'Say which part'],
    ['an unknown part is chosen', '/runs/7/approve', 'what=part&by=ada&only=delete', 'only'],
    ['the choice is empty', '/runs/7/approve', 'what=&by=ada', 'what must be all, part, or code:'],
    ['the reason is unknown', '/runs/7/approve', 'what=code:none&by=ada', 'what must be all, part, or code:'],
    ['nothing is chosen to approve', '/runs/7/approve', 'by=ada', 'what must be all, part, or code:'],
    ['nothing is chosen to reject', '/runs/7/reject', 'by=ada', 'what must be all, part, or code:'],
    ['the reason is too long', '/runs/7/approve', `what=all&by=ada&reason=${'x'.repeat(501)}`, 'reason'],
    ['it is no plan of an undo', '/runs/7/put-back', 'by=ada', 'is no plan of an undo'],
    ['an id is not encoded', '/quarantine/release', 'kind=user&id=%25', 'id'],
    ['an id has no kind', '/quarantine/release', 'sync=corp&id=a', WHOM],
    ['nobody is named to release', '/quarantine/release', 'sync=corp', WHOM],
    ['a field to release is unknown', '/quarantine/release', 'all=yes&syc=corp', 'syc is not known here'],
    ['a part is misspelt', '/runs/7/approve', 'what=all&by=ada&name=updates', 'name is not known here'],
    ['a field of a run is unknown', '/syncs/corp/run', 'mode=sync&user=a', 'user is not known here'],
    ['an id is named beside all', '/quarantine/release', 'all=yes&kind=user&id=a', WHOM],
    [
      'there are two names',
      '/runs/7/approve',
      'what=all&by=ada&by=bob',
      '"by must have one value, not several."',
    ],
    [
      'the run is far too large',
      `/runs/${'9'.repeat(20)}/approve`,
      'what=all&by=ada',
      '"run must not be more than 2147483647."',
    ],
    [
      'a field has a long name',
      '/runs/7/approve',
      `what=all&by=ada&${'x'.repeat(70_000)}=1`,
      'x… (70,000 characters) is not known',
    ],
    ['a reason has a NUL', '/syncs/corp/pause', 'by=ada&reason=a%00', 'reason'],
  ])('changes nothing where %s', async (_case, url, form, sentence) => {
    const answer = await post(url, form)
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
    expect(answer.body).toContain(sentence)
    expect(answer.asked).toEqual([])
  })

  test.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'none' }, 403],
    [{ origin: 'https://evil.example.com' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'http://localhost:8080', host: 'localhost:8080' }, 303],
    [{ 'sec-fetch-site': 'same-origin', origin: 'https://pages.example.org', host: 'localhost:8080' }, 303],
    [{}, 403],
    // It shows no token that is good, only the session of a browser.
    [{ authorization: 'Bearer of-a-program' }, 403],
  ])('from %j is answered with %i', async (headers, status) => {
    for (const [url, form] of [
      ['/runs/7/approve', 'what=all&by=ada'],
      ['/syncs/corp/pause', 'by=ada'],
    ] as const) {
      const answer = await post(url, form, { ...SIGNED_IN, ...headers })
      expect(answer.status).toBe(status)
      expect(answer.asked).toHaveLength(status === 303 ? 1 : 0)
    }
  })
})
