import { GROUP_EMPTIED, MAX_DELETES, REBORN, SERVER_NOT_NEWER } from '../../../support/blocks.ts'
import { blockText } from '../../../../src/ui/messages/blocks.ts'
import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import type { Change } from '../../../../src/core/plan/change.ts'
import { changeOf, countsOf, createUser, runOf } from '../cli/runs-for-tests.ts'
import {
  BEARER,
  buildPagesForTests,
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

async function textOf(shown: Shown, url: string): Promise<string> {
  const answer = await pagesOf(shown).get(url, { accept: 'text/html' })
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  return answer.body
}

describe('the overview', () => {
  test('says that nothing waits while all is well', async () => {
    const page = await textOf({ syncs: [overviewOf()] }, '/')
    expect(page).toContain('Nothing waits for a person.')
    expect(page).toContain('all is well')
    expect(page).toContain('1,000 users, 40 groups')
  })

  test('names everything that a person has to do or know', async () => {
    const syncs = [
      overviewOf({
        sync: 'a',
        state: 'held',
        hold: { run: 7, state: 'held', changes: 4000, expiresAt: null },
      }),
      overviewOf({ sync: 'b', state: 'failing', failures: 3, error: 'ldap://x cannot be reached' }),
      overviewOf({ sync: 'c', state: 'late', quarantined: 2 }),
      overviewOf({ sync: 'd', token: { secondsLeft: 3 * 86_400, isSoon: true } }),
    ]
    const page = await textOf({ syncs }, '/')
    for (const text of [
      'run 7 is held',
      '4,000 changes wait for a decision',
      'the last 3 runs failed: ldap://x cannot be reached',
      'has not succeeded since its schedule called for it three times',
      '2 changes in quarantine',
      'the access token ends in 3 d',
    ])
      expect(page.replaceAll(/\s+/g, ' ').replaceAll(/<[^>]*>/g, '')).toContain(text)
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
        hold: 'open',
        holdRun: 7,
        state: 'held',
        undecidedChanges: 1,
        breaches: [{ code: 'left-out', params: { by: HOSTILE, run: 6 }, changes: 1 }],
        decisions: [{ decision: 'rejected', by: HOSTILE, at: '2026-11-21T07:29:03.000Z', reason: HOSTILE }],
        notices: [{ kind: 'user', id: HOSTILE, code: 'no-name', params: { from: HOSTILE } }],
      }),
    ],
    changes: [changeOf(change, { state: 'failed', detail: HOSTILE })],
    notices: [{ number: 1, kind: 'user', id: HOSTILE, code: 'no-name', params: { from: HOSTILE } }],
    quarantine: [
      {
        ...quarantinedOf(HOSTILE),
        sync: HOSTILE,
        name: HOSTILE,
        refusal: { code: 'quarantined', params: { answer: HOSTILE } },
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
        { number: 1, kind: 'user', id: FORMULA, code: 'quarantined', params: { answer: `@${HOSTILE}` } },
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
    expect(notices).toMatchObject([{ id: `'${FORMULA}`, detail: `'@${HOSTILE}` }])
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

const DELETES = `max-deletes-users ${blockText(MAX_DELETES)}`
const EMPTIED = `group-emptied ${blockText(GROUP_EMPTIED)}`

const BEYOND = {
  counts: countsOf({ planned: { 'delete-user': 34, 'update-user': 400 } }),
  breaches: [MAX_DELETES, GROUP_EMPTIED],
}

/** What the page says of guards and of findings, without its marks. */
async function sectionsOf(parts: Parameters<typeof runOf>[0]) {
  const page = await textOf({ runs: [runOf(parts)] }, '/runs/7')
  const section = (id: string) =>
    page
      .split('<section')
      .find((each) => each.includes(`aria-labelledby="${id}"`))
      ?.replace(/^[^>]*>/, '')
      .replace(/<\/section>.*/s, '')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .replaceAll('&quot;', '"')
      .trim()
  return { guards: section('guards'), findings: section('findings') }
}

async function offersUndo(parts: Parameters<typeof runOf>[0]): Promise<boolean> {
  return (await textOf({ runs: [runOf({ run: 7, ...parts })] }, '/runs/7')).includes('Undo this run')
}

describe('a run', () => {
  test('shows what it did, and what of it waits', async () => {
    const run = runOf({
      run: 7,
      state: 'held',
      counts: countsOf({ planned: { 'delete-user': 4000 }, sourceUsers: 10 }),
      hold: 'open',
      holdRun: 7,
      undecidedChanges: 4000,
      breaches: [{ ...MAX_DELETES, changes: 4000 }],
    })
    const page = await textOf({ runs: [run] }, '/runs/7')
    for (const text of [blockText(MAX_DELETES), 'Held by', 'Approve', 'Reject']) expect(page).toContain(text)
    expect(page).toContain('Nothing of it has been sent.')
  })

  test('says what a person approved, and what of it is not proved and waits', async () => {
    const parts = { ...BEYOND, state: 'done', run: 7, holdRun: 7 } as const
    const open = await sectionsOf({ ...parts, hold: 'open', undecidedChanges: 1 })
    expect(open.guards).toBe(`Approved by a person, in spite of ${DELETES} 9 changes`)
    expect(open.findings).toContain(`Not proved, so it waits; the rest was applied ${EMPTIED} 1 change `)
    expect(open.findings).toContain('all that waits (1 change)')
    const breaches = [MAX_DELETES, { ...GROUP_EMPTIED, decided: 'rejected' as const }]
    const rejected = await sectionsOf({ ...parts, breaches, hold: 'rejected' })
    expect(rejected.guards).toBe(open.guards)
    expect(rejected.findings).toMatch(
      /^Not proved, so it waits; the rest was applied \(rejected since\) group-emptied .*Approve all the same/,
    )
  })

  test('that guards hold says what is no part of its plan, and how much is sent', async () => {
    const parts = { ...BEYOND, run: 7, state: 'held', hold: 'open', holdRun: 7 } as const
    const { guards, findings } = await sectionsOf({ ...parts, undecidedChanges: 9 })
    expect(guards).toContain(`Held by ${DELETES} 9 changes`)
    expect(guards).toContain('the whole plan (434 changes)')
    expect(guards).toContain('the other 425 wait with them. Approved, all of it is sent')
    expect(findings).toBe(`Not proved, so it is no part of this plan ${EMPTIED} 1 change`)
  })

  test.each([
    [{ hold: 'open', undecidedChanges: 9 }, 'Approved, all of it is sent; rejected, nothing of it is.'],
    [
      { hold: 'open', holdExpiresAt: '2026-11-28T07:29:03.000Z' },
      '; then only a new undo of run 3 asks again.',
    ],
    [{ hold: 'rejected' }, 'It was rejected, so nothing is put back.'],
    [{ hold: 'expired' }, 'Nobody decided in time, so nothing was put back.'],
    [{ hold: 'replaced' }, 'A later run ended this undo'],
  ] as const)('that is an undo is decided on as a whole: %j', async (hold, sentence) => {
    const parts = { ...BEYOND, breaches: [MAX_DELETES], run: 7, state: 'held', holdRun: 7, ...hold } as const
    const { guards } = await sectionsOf({ ...parts, undo: { run: 3, part: {} } })
    expect(guards).toContain(sentence)
    expect(guards).not.toMatch(/next run|until it changes|newer run/)
  })

  test('of another hold is decided on there', async () => {
    const run = runOf({
      run: 8,
      state: 'held',
      holdRun: 7,
      breaches: [MAX_DELETES],
    })
    const page = await textOf({ runs: [run] }, '/runs/8')
    expect(page).toContain('decide there')
    expect(page).not.toContain('/runs/8/approve')
  })

  test.each([
    [{ hold: 'replaced', holdRun: 7 }, 9, 'held, then replaced', 'A newer run held something else', 9],
    [{ hold: 'replaced', holdRun: 3 }, 3, 'held, then replaced', 'is of the whole sync and comes first', 3],
    [{ hold: 'expired', holdRun: 7 }, 9, 'held, then expired', 'Nobody decided in time', 9],
    [{ hold: 'closed', holdRun: 7 }, undefined, 'held, then closed', 'had nothing to hold', undefined],
  ] as const)('whose hold is over says what became of it: %j', async (of, openHold, word, sentence, link) => {
    const run = runOf({ ...of, run: 7, state: 'held', breaches: [MAX_DELETES] })
    const page = await textOf({ runs: [run], openHold }, '/runs/7')
    expect(page).toContain(sentence)
    expect(page).toContain(word)
    expect(page).not.toContain('/runs/7/approve')
    if (link !== undefined) expect(page).toContain(`href="/runs/${link}"`)
    expect(await textOf({ runs: [run] }, '/runs')).toContain(word)
  })

  test('that was rejected is approved by a form that overrules it', async () => {
    const breaches = [
      { ...MAX_DELETES, decided: 'rejected' },
      { ...REBORN, decided: 'rejected' },
    ] as const
    const run = runOf({ run: 7, state: 'held', hold: 'rejected', holdRun: 7, breaches })
    const page = await textOf({ runs: [run] }, '/runs/7')
    for (const part of [
      'Approve all the same',
      'name="seen" value="rejected"',
      'value="only:reborn"',
      'value="part"',
    ])
      expect(page).toContain(part)
    expect(page).not.toContain('/runs/7/reject')
  })

  test('that was approved and is not applied yet is taken back by a form', async () => {
    const run = { state: 'held', hold: 'approved', holdRun: 7, breaches: [MAX_DELETES] } as const
    const page = await textOf({ runs: [runOf({ run: 7, ...run, approvedWaiting: 3 })] }, '/runs/7')
    expect(page).toContain('3 changes of it are not applied yet')
    for (const part of ['action="/runs/7/reject"', 'name="seen" value="approved"'])
      expect(page).toContain(part)
    expect(page).not.toContain('/runs/7/approve')
    expect(await textOf({ runs: [runOf({ run: 7, ...run })] }, '/runs/7')).not.toContain('/runs/7/reject')
  })

  test.each([
    [
      { state: 'held', hold: 'approved', holdRun: 7, breaches: [MAX_DELETES], approvedWaiting: 1 },
      'Reject what is not applied yet',
    ],
    [{ state: 'held', hold: 'open', holdRun: 7, breaches: [MAX_DELETES] }, 'Approve'],
    [
      { state: 'held', hold: 'rejected', holdRun: 7, breaches: [{ ...MAX_DELETES, decided: 'rejected' }] },
      'Approve all the same',
    ],
    [
      {
        mode: 'plan',
        state: 'planned',
        undo: { run: 3, part: {} },
        counts: countsOf({ planned: { 'create-user': 1 } }),
      },
      'Put this back',
    ],
  ] as const)('is not decided by Enter in a field: %j', async (parts, button) => {
    const page = await textOf({ runs: [runOf({ run: 7, ...parts })] }, '/runs/7')
    const form = page.split('<form').find((each) => each.includes(`>${button}`))
    expect(form).toContain('Recorded as done by <bdi>ada</bdi>.')
    // Browsers press the first button on Enter.
    expect(form?.match(/<button[^>]*>/)?.[0]).toBe('<button hidden formmethod="dialog" formnovalidate>')
  })

  test.each([
    [{ state: 'held', hold: 'open', holdRun: 7, breaches: [MAX_DELETES] }, 'held open 7 0'],
    [{ state: 'done', hold: 'rejected', holdRun: 7, breaches: [GROUP_EMPTIED] }, 'done rejected 7 0'],
    [{ state: 'held', hold: null, holdRun: 3, breaches: [MAX_DELETES] }, 'held  7 0'],
  ] as const)('that waits for a person renews itself, by a script only: %j', async (parts, state) => {
    const page = await textOf({ runs: [runOf({ run: 7, ...parts })], openHold: 7 }, '/runs/7')
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

  test('whose server is behind offers to take the server as it is, and counts no changes', async () => {
    const breaches = [SERVER_NOT_NEWER]
    const run = runOf({ run: 7, hold: 'open', holdRun: 7, undecidedChanges: 0, breaches })
    const page = await textOf({ runs: [run] }, '/runs/7')
    expect(page).toContain('the state of this server')
    expect(page).not.toContain('0 changes')
  })

  test.each([
    ['none', 'The sync corp is not configured any more, so nothing can be decided'],
    ['other', 'The sync corp writes to another directory than this run did, so nothing can be decided'],
  ] as const)('of a sync that writes to %s is not decided on or undone', async (directoryNow, sentence) => {
    const run = runOf({ run: 7, state: 'held', hold: 'open', holdRun: 7, breaches: [MAX_DELETES] })
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
  ['/syncs/corp/people', 'who is missing; it must be a text.'],
  [`/runs/7?search=${'x'.repeat(201)}`, 'search must not be longer than 200.'],
])('what is wrong with %s is said in words', async (url, sentence) => {
  const { get } = pagesOf({ runs: [runOf({ run: 7 })], syncs: [overviewOf()] })
  expect((await get(url)).json().message).toContain(sentence)
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

describe('what a person does', () => {
  const shown: Shown = {
    syncs: [overviewOf()],
    paused: { sync: 'corp', by: 'ada', reason: 'why', since: '2026-11-21T07:29:03.000Z' },
    quarantine: [quarantinedOf('a b')],
    runs: [
      runOf({ run: 7, state: 'held', hold: 'open', holdRun: 7 }),
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
      ['approve', { run: 7, by: 'ada', reason: undefined, seen: 'open' }],
      '/runs/7',
    ],
    [
      '/runs/7/approve',
      'what=only%3Areborn&by=ada',
      ['approve', { run: 7, by: 'ada', seen: 'open', only: ['reborn'] }],
      '/runs/7',
    ],
    [
      '/runs/7/approve',
      'what=part&by=ada&names=deletes&kinds=user&kinds=group&ids=a%0D%0A+b%0D%0A',
      [
        'approve',
        {
          run: 7,
          by: 'ada',
          seen: 'open',
          part: { names: ['deletes'], kinds: ['user', 'group'], ids: ['a', ' b'] },
        },
      ],
      '/runs/7',
    ],
    [
      '/runs/7/reject',
      'what=all&by=ada&reason=no',
      ['reject', { run: 7, by: 'ada', reason: 'no' }],
      '/runs/7',
    ],
    [
      '/runs/7/approve',
      'what=all&by=ada&seen=rejected',
      ['approve', { run: 7, by: 'ada', reason: undefined, seen: 'rejected' }],
      '/runs/7',
    ],
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
      ['release', { sync: 'corp', only: { users: ['a b'], groups: [] }, by: 'ada' }],
      '/quarantine?sync=corp',
    ],
  ])('%s with %s', async (url, form, wanted, location) => {
    const answer = await post(url, form)
    expect(answer).toMatchObject({ status: 303, location, asked: [wanted] })
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
    ['a part is rejected', '/runs/7/reject', 'what=part&by=ada', 'is approved, not rejected'],
    ['a part is named and not chosen', '/runs/7/approve', 'what=all&by=ada&names=updates', 'and not chosen'],
    ['a part is named and all rejected', '/runs/7/reject', 'what=all&by=ada&kinds=user', 'and not chosen'],
    ['no part is chosen', '/runs/7/approve', 'what=part&by=ada&ids=%0A', 'Say which part'],
    ['the choice is empty', '/runs/7/approve', 'what=&by=ada', 'what must be all, part, or only:'],
    ['nothing is chosen to approve', '/runs/7/approve', 'by=ada', 'what must be all, part, or only:'],
    ['nothing is chosen to reject', '/runs/7/reject', 'by=ada', 'what must be all, part, or only:'],
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
