import { Kysely, PostgresDialect, sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { diagnose } from '../../src/operations/bundle/diagnostics.ts'
import { storePlan } from '../../src/store/plans.ts'
import { addRun, finishRun } from '../../src/store/runs.ts'
import type { Tables } from '../../src/store/tables.ts'
import { beginFenced } from '../support/fenced.ts'
import { TARGET, useTestStore } from '../support/test-store.ts'

const bed = useTestStore()

/** A person whose name and id the program's own words could hide, and one whose they could not. */
const PEOPLE = [
  { id: 'zvonka-77', name: 'Zvonka Perić', email: 'zvonka@peric.example' },
  { id: 'q9131x', name: 'Mark Page', email: 'mark.page@corp.example' },
] as const
const SAID = `${PEOPLE.map(({ id, name, email }) => `${name} (${id}, ${email}, cn=${name},ou=people,dc=corp)`).join(' or ')} exists`
const SECRETS = /zvonka|peri[cć]|q9131x|mark[ .]page|corp\.example|s3cret|0123abcd/i

/** A run that ended, with people in every text that the store keeps. */
async function plantedRun(): Promise<number> {
  const { db, sync, store } = bed
  const run = await addRun(db, { sync, target: TARGET, mode: 'sync', trigger: 'demand' })
  const fenced = await beginFenced(store, run)
  const changes = PEOPLE.map(({ id, name, email }) => ({
    change: { op: 'create-user', id, want: { name, email } } as const,
    phase: 'users' as const,
    fingerprint: `0123abcd${id}`,
    removes: 0,
  }))
  const notices = [
    { kind: 'user', id: PEOPLE[0].id, code: 'no-name', params: { from: `users.csv, row 7: ${SAID}` } },
    { kind: 'group', id: undefined, code: 'unreadable', params: { from: 'users.csv, row 8', fault: SAID } },
  ] as const
  await storePlan(fenced, { changes, notices }, new Set())
  await sql`UPDATE dirsyncd.changes SET state = 'quarantined', status = 422, attempts = 2, detail = ${SAID}
    WHERE run = ${run}`.execute(db)
  await sql`UPDATE dirsyncd.runs SET stop_code = 'scope-missing', stop_reason = ${SAID}, digest = '0123abcd', hold = 'open',
      hold_run = run, breaches = ${JSON.stringify([{ code: 'left-out', params: { by: SAID, run: 1 }, changes: 2 }])}::jsonb,
      only_entries = ${JSON.stringify({ users: PEOPLE.map(({ id }) => id), groups: [] })}::jsonb
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
    await sql`INSERT INTO dirsyncd.absences (sync, target, kind, entry_id) VALUES (${sync}, ${TARGET}, 'user', ${id})`.execute(
      db,
    )
    await sql`INSERT INTO dirsyncd.journal (run, number, sync, target, op, entry_id, fingerprint, attempt, worker, before,
        removes, status, detail, outcome)
      VALUES (${run}, 1, ${sync}, ${TARGET}, 'create-user', ${id}, ${`0123abcd${id}`}, 1, 'w', ${JSON.stringify({ name })}::jsonb,
        0, 422, ${SAID}, 'quarantined')`.execute(db)
  }
  await sql`INSERT INTO dirsyncd.decisions (sync, target, fingerprint, decision, run, decided_by)
    VALUES (${sync}, ${TARGET}, '0123abcd', 'rejected', ${run}, 'zvonka')`.execute(db)
  await sql`INSERT INTO dirsyncd.refused_logins (reader, message, salt, hash, times, secrets, at)
    VALUES (${`cn=zvonka ${sync}`}, ${SAID}, 's3cret', 's3cret', 1, 1, now())`.execute(db)
  await sql`INSERT INTO dirsyncd.token_lives (origin, place, longest_seconds, expires_at)
    VALUES ('s3cret', ${`s3cret ${sync}`}, 60, now())`.execute(db)
  return run
}

test('the facts of the store have nobody of those in its sentences, and all that is countable', async () => {
  const run = await plantedRun()
  const { facts, errors } = await diagnose(bed.db, { salt: 'x'.repeat(32), shown: ['people'] })
  expect(errors).toEqual([])
  const text = JSON.stringify(facts)
  expect(text).not.toMatch(SECRETS)
  const { syncs, tokens } = JSON.parse(text)
  expect(tokens).toMatchObject([{ longestSeconds: 60 }])
  const [sync] = syncs
  expect(sync).toMatchObject({
    absences: [{ kind: 'user', count: 2 }],
    decisions: [{ run, decision: 'rejected', count: 1 }],
    quarantine: { counts: [{ op: 'create-user', code: 'quarantined', status: 422, count: 2 }] },
    runs: [
      {
        run,
        state: 'failed',
        only: { users: 2, groups: 0 },
        stop: { code: 'scope-missing' },
        hold: { state: 'open', run },
        breaches: [{ code: 'left-out', changes: 2 }],
        troubles: [{ op: 'create-user', state: 'quarantined', status: 422, count: 2, attempts: 2 }],
        notices: [
          { kind: 'group', code: 'unreadable', count: 1 },
          {
            kind: 'user',
            code: 'no-name',
            count: 1,
            example: { from: expect.stringContaining('users.csv, row 7: [user ') },
          },
        ],
      },
    ],
  })
  const hashes = sync.quarantine.newest.map(({ entry }: { entry: string }) => entry)
  for (const hash of hashes) expect(sync.runs[0].error).toContain(hash)
})

test('why parts could not be read is said once, in the words of the program', async () => {
  const failing = new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool: {
        connect: () => Promise.reject(new Error('the store does not take the name "Zvonka"')),
        options: {},
        end: async () => {},
      },
    }),
  })
  const { errors } = await diagnose(failing, { salt: 'x'.repeat(32), shown: [] })
  expect(errors).toEqual([expect.stringMatching(/^the store does not take the name \[hidden \w+\]$/)])
})

test('a store that is away is asked once', async () => {
  const connect = vi.fn<() => Promise<never>>(() =>
    Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })),
  )
  const away = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: { connect, options: {}, end: async () => {} } }),
  })
  await expect(diagnose(away, { salt: 'x'.repeat(32), shown: [] })).rejects.toThrow('refused')
  expect(connect).toHaveBeenCalledOnce()
})

test('without the names of the store, no word of a sentence stays', async () => {
  await plantedRun()
  await sql`ALTER TABLE dirsyncd.changes RENAME COLUMN change TO change_away`.execute(bed.db)
  try {
    const { facts, errors } = await diagnose(bed.db, { salt: 'x'.repeat(32), shown: [] })
    expect(errors).toEqual([expect.stringContaining('[hidden ')])
    const { syncs } = JSON.parse(JSON.stringify(facts))
    const { runs } = syncs.find((each: { sync: string }) => each.sync === bed.sync)
    expect(runs[0]).toMatchObject({ state: 'failed', error: expect.stringMatching(/^\[hidden \w+\]/) })
    expect(runs[0].error).not.toContain('failed')
    expect(JSON.stringify(facts)).not.toMatch(SECRETS)
  } finally {
    await sql`ALTER TABLE dirsyncd.changes RENAME COLUMN change_away TO change`.execute(bed.db)
  }
})
