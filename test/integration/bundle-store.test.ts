import { Kysely, PostgresDialect, sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import type { Notice } from '../../src/core/notice.ts'
import { diagnose } from '../../src/operations/bundle/diagnostics.ts'
import { addDecision, lockLedger, packLedger, saveLedger } from '../../src/store/ledgers.ts'
import { storeAllNotices, storeBlocked, storePlan } from '../../src/store/plans.ts'
import { addRun, finishRun } from '../../src/store/runs.ts'
import type { Tables } from '../../src/store/tables.ts'
import { beginFenced } from '../support/fenced.ts'
import { plantedBlocks, plantedKeyFacts, plantedNotices } from '../support/planted-facts.ts'
import { TARGET, useTestStore } from '../support/test-store.ts'

const bed = useTestStore()

/** A user with a name of their own, and one whose name is made of words of the program. */
const PEOPLE = [
  { id: 'zvonka-77', name: 'Zvonka Perić', email: 'zvonka@peric.example' },
  { id: 'q9131x', name: 'Mark Page', email: 'mark.page@corp.example' },
] as const
const SAID = `${PEOPLE.map(({ id, name, email }) => `${name} (${id}, ${email}, cn=${name},ou=people,dc=corp)`).join(' or ')} exists`
const SECRETS = /zvonka|peri[cć]|q9131x|mark[ .]page|corp|s3cret|0123abcd|73158209/i
const BY = { salt: 'x'.repeat(32), withTexts: false }

const HASH = expect.stringMatching(/^\[hidden [0-9a-f]{12}\]$/)

/** The service's own. */
const OWN_ID = 73_158_209
const NOTICES = Object.entries(plantedNotices(SAID, OWN_ID))
const FACTS = plantedKeyFacts(SAID)
const BLOCKS = [
  ...Object.entries(plantedBlocks(SAID)).map(([code, params]) => ({
    code,
    params,
    until: 'decision',
    changes: 2,
  })),
  ...Object.keys(FACTS).map((code) => ({
    code,
    params: {},
    until: 'time',
    asks: ['fact', 'server', SAID],
    changes: 2,
  })),
]
/** The facts of each blocked change, by the place of its block. */
const REASONS = Object.values(FACTS).map((facts, place) => ({
  block: BLOCKS.length - Object.keys(FACTS).length + place,
  facts,
}))

/** A run that ended, with people in every text that the store keeps. */
async function plantedRun(): Promise<number> {
  const { db, sync, store } = bed
  const run = await addRun(db, { sync, target: TARGET, mode: 'sync', trigger: 'demand' })
  const fenced = await beginFenced(store, run)
  const planned = PEOPLE.map(({ id, name, email }) => ({
    change: { op: 'create-user', id, want: { name, email } } as const,
    phase: 'users' as const,
    fingerprint: `0123abcd${id}`,
    removes: 0,
  }))
  const notices = NOTICES.map(
    ([code, params]) => ({ kind: 'user', id: PEOPLE[0].id, code, params }) as Notice,
  )
  await storePlan(
    fenced,
    planned.map((each) => ({ planned: each })),
    planned.length,
  )
  await storeBlocked(
    fenced,
    planned.map((each) => ({ planned: each, reasons: REASONS })),
    planned.length,
  )
  await storeAllNotices(fenced, notices)
  await sql`UPDATE dirsyncd.changes SET state = 'quarantined', status = 422, attempts = 2, detail = ${SAID}
    WHERE run = ${run} AND state = 'pending'`.execute(db)
  const people = PEOPLE.map(({ id }) => id)
  const counts = { rejected: { 'create-user': 2 }, lastRejection: FACTS.rejected }
  await sql`UPDATE dirsyncd.runs SET stop_code = 'scope-missing', stop_reason = ${SAID}, digest = '0123abcd',
      blocked_in = run, blocked_digest = '0123abcd', blocks = ${JSON.stringify(BLOCKS)}::jsonb,
      scope = ${JSON.stringify({ users: people, groups: [] })}::jsonb,
      undo = ${JSON.stringify({ run: 1, part: { ids: people, names: ['creates'] } })}::jsonb,
      counts = ${JSON.stringify(counts)}::jsonb,
      configuration_change = ${JSON.stringify({ since: 1, keys: [SAID] })}::jsonb,
      evidence = ${JSON.stringify({ server: { code: 'first-read', params: { server: SAID } }, unreadable: 1 })}::jsonb
    WHERE run = ${run}`.execute(db)
  await fenced.write((trx) =>
    finishRun(trx, run, {
      state: 'failed',
      error: { code: 'source-refused', text: `Bind as ${SAID} failed (49).` },
    }),
  )
  for (const { id, name } of PEOPLE) {
    await sql`INSERT INTO dirsyncd.quarantine (sync, target, fingerprint, op, entry_id, params) VALUES (${sync}, ${TARGET},
      ${`0123abcd${id}`}, 'create-user', ${id}, ${JSON.stringify({ answer: `422: ${name} ${SAID}` })}::jsonb)`.execute(
      db,
    )
    await sql`INSERT INTO dirsyncd.journal (run, number, sync, target, op, entry_id, fingerprint, attempt, worker, before,
        removes, status, detail, outcome)
      VALUES (${run}, 1, ${sync}, ${TARGET}, 'create-user', ${id}, ${`0123abcd${id}`}, 1, 'w', ${JSON.stringify({ name })}::jsonb,
        0, 422, ${SAID}, 'quarantined')`.execute(db)
  }
  const origin = { sync, target: TARGET, origin: 'sync' }
  const key = JSON.stringify(['user', PEOPLE[0].id, 'leave'])
  const blocked = new Map([[key, { since: run, asks: new Set(['container-emptied']) }]])
  const ledger = { blocked, approvals: new Map(), rejections: new Map() }
  await lockLedger(db, origin)
  await saveLedger(db, origin, { set: await packLedger(ledger), folded: 0, open: 1, asker: run })
  await addDecision(
    db,
    origin,
    { run, does: 'reject', selection: { ids: people }, by: 'zvonka', reason: SAID },
    { keys: 2, open: 1 },
  )
  await sql`INSERT INTO dirsyncd.refused_logins (reader, message, salt, hash, times, secrets, at)
    VALUES (${`cn=zvonka ${sync}`}, ${SAID}, 's3cret', 's3cret', 1, 1, now())`.execute(db)
  await sql`INSERT INTO dirsyncd.token_lives (origin, place, longest_seconds, expires_at)
    VALUES ('s3cret', ${`s3cret ${sync}`}, 60, now())`.execute(db)
  await sql`INSERT INTO dirsyncd.paused_syncs (sync, paused_by, reason) VALUES (${sync}, 'zvonka', ${SAID})`.execute(
    db,
  )
  await sql`INSERT INTO dirsyncd.check_states (sync, target, name, value, bytes)
    VALUES (${sync}, ${TARGET}, 'size', ${JSON.stringify({ users: 2, groups: 1, of: SAID })}::jsonb, ${Buffer.from(SAID)})`.execute(
    db,
  )
  return run
}

test('the facts of the store have nobody, and all that is countable', async () => {
  const run = await plantedRun()
  const { facts, missing } = await diagnose(bed.db, BY)
  expect(missing).toEqual([])
  const text = JSON.stringify(facts)
  expect(text).not.toMatch(SECRETS)
  const written = JSON.parse(text)
  const ofSync = (part: string) => written[part].filter(({ sync }: { sync: string }) => sync === bed.sync)
  expect(written).toMatchObject({
    tokens: [{ longest_seconds: 60 }],
    store: [{ version: expect.stringContaining('PostgreSQL') }],
    refusedLogins: [{ message: HASH, times: 1, secrets: 1 }],
    tables: expect.arrayContaining([expect.objectContaining({ table: 'dirsyncd.runs' })]),
  })
  expect(ofSync('questions')).toMatchObject([{ origin: 'sync', open: 1, asked_in: run }])
  expect(ofSync('decisions')).toMatchObject([{ run, origin: 'sync', does: 'reject', keys: 2 }])
  expect(ofSync('states')).toMatchObject([
    { state: 'size', users: 2, groups: 1, bytes: Buffer.byteLength(SAID) },
  ])
  expect(ofSync('paused')).toEqual([{ sync: bed.sync, since: expect.any(String) }])
  const quarantined = { op: 'create-user', code: 'quarantine', status: 422, count: 2 }
  expect(ofSync('quarantine')).toMatchObject([quarantined, quarantined])
  expect(ofSync('runs')).toMatchObject([
    {
      run,
      state: 'failed',
      scope: { users: [HASH, HASH], groups: [] },
      undo: { run: 1, part: { ids: [HASH, HASH], names: ['creates'] } },
      error_code: 'source-refused',
      error: HASH,
      stop_code: 'scope-missing',
      blocks: expect.arrayContaining([
        expect.objectContaining({ code: 'container-emptied', until: 'decision', changes: 2 }),
        { code: 'rejected', params: {}, until: 'time', asks: [HASH, HASH, HASH], changes: 2 },
      ]),
      counts: {
        rejected: { 'create-user': 2 },
        lastRejection: { run: 1, by: HASH, at: '2026-11-29T07:00:00.000Z', reason: HASH },
      },
      evidence: { server: { code: 'first-read', params: { server: HASH } }, unreadable: 1 },
    },
  ])
  const ofRun = (part: string) => written[part].filter((row: { run: number }) => row.run === run)
  expect(ofRun('troubles')).toMatchObject([
    { op: 'create-user', state: 'blocked', count: 2, detail: null },
    { op: 'create-user', state: 'quarantined', status: 422, count: 2, attempts: 2, detail: HASH },
  ])
  expect(ofRun('notices')).toHaveLength(NOTICES.length)
  // One entry can be followed.
  const [one, other] = ofSync('quarantine').map(({ entry_id: entry }: { entry_id: string }) => entry)
  expect(ofSync('runs')[0].scope.users.toSorted()).toEqual([one, other].toSorted())
})

test('with texts, the sentences are as they are, and ids stay hidden', async () => {
  const run = await plantedRun()
  const { facts } = await diagnose(bed.db, { ...BY, withTexts: true })
  const { runs, troubles } = JSON.parse(JSON.stringify(facts))
  const found = runs.find((each: { run: number }) => each.run === run)
  expect(found).toMatchObject({ error: `Bind as ${SAID} failed (49).`, stop_reason: SAID, digest: HASH })
  const ofRun = troubles.filter((each: { run: number }) => each.run === run)
  expect(ofRun).toMatchObject([{ state: 'blocked' }, { detail: SAID, entry_id: HASH }])
})

test('a part that cannot be read is named with its code, and the others are there', async () => {
  const run = await plantedRun()
  await sql`ALTER TABLE dirsyncd.changes RENAME COLUMN detail TO away`.execute(bed.db)
  try {
    const { facts, missing } = await diagnose(bed.db, BY)
    expect(missing).toEqual([
      { part: 'troubles', code: 'internal', system: '42703', text: expect.stringContaining('detail') },
    ])
    expect(facts).toMatchObject({ runs: expect.arrayContaining([expect.objectContaining({ run })]) })
  } finally {
    await sql`ALTER TABLE dirsyncd.changes RENAME COLUMN away TO detail`.execute(bed.db)
  }
})

test('a store that is away is asked once', async () => {
  const connect = vi.fn<() => Promise<never>>(() =>
    Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })),
  )
  const away = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: { connect, options: {}, end: async () => {} } }),
  })
  await expect(diagnose(away, BY)).rejects.toThrow('refused')
  expect(connect).toHaveBeenCalledOnce()
})
