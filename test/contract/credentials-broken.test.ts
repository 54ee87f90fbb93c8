import type { Pool } from 'pg'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { createVault } from '../../src/service/keys/vault.ts'
import { FIXTURE } from '../support/fixture.ts'
import { openServicePool, type RunningService, startService } from '../support/service.ts'
import { type ApiRequest, ask, problem } from './api.ts'

const SCHEMA = 'access_management'

const read = (service: RunningService, request: ApiRequest = {}) => ask(service, 'readCredentials', request)
const reset = (service: RunningService, request: ApiRequest = {}) => ask(service, 'resetPassword', request)

/** What can go wrong with writing the event: at once, or only when the transaction is committed. */
const EVENT_FAULTS = [
  ['is refused', `create trigger fault before insert on ${SCHEMA}.events execute function ${SCHEMA}.fault()`],
  [
    'is refused at the commit',
    `create constraint trigger fault after insert on ${SCHEMA}.events
     deferrable initially deferred for each row execute function ${SCHEMA}.fault()`,
  ],
  ['has no table', `alter table ${SCHEMA}.events rename to events_elsewhere`],
] as const

/** A service of its own, with the text that it logs. */
async function start(stack: AsyncDisposableStack) {
  const pool = stack.adopt(await openServicePool(), (opened) => opened.end())
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
  const service = stack.adopt(await startService({ pool, log }), (started) => started.close())
  return { service, pool, log: () => lines.join('') }
}

describe('credentials when something is broken', () => {
  test.each(EVENT_FAULTS)('an event that %s releases nothing and changes nothing', async (_, fault) => {
    await using stack = new AsyncDisposableStack()
    const { service, pool, log } = await start(stack)
    await pool.query(`create function ${SCHEMA}.fault() returns trigger language plpgsql
      as $$ begin raise exception 'no event today'; end $$`)
    const subscriptions = () => pool.query(`select * from ${SCHEMA}.subscriptions order by id`)
    const before = await subscriptions()
    await pool.query(fault)
    for (const answer of [
      await read(service),
      await read(service, { subscriptionId: FIXTURE.vaultItemId }),
      await reset(service),
    ]) {
      expect(answer).toMatchObject(problem(500))
      expect(JSON.stringify(answer.body)).not.toContain('planted')
    }
    expect((await subscriptions()).rows).toEqual(before.rows)
    expect(log()).toContain('request failed')
    expect(log()).not.toContain('planted')
  })

  test('a value whose key is gone is a failure that the log explains and the answer does not', async () => {
    await using stack = new AsyncDisposableStack()
    const { service, pool, log } = await start(stack)
    await pool.query(`update ${SCHEMA}.subscriptions set key_id = 'lost-key' where id = $1`, [
      FIXTURE.samlSubscriptionId,
    ])
    const before = await countEvents(pool)
    for (const answer of [await read(service), await reset(service)]) {
      expect(answer).toMatchObject(problem(500))
      expect(JSON.stringify(answer.body)).not.toMatch(/lost-key|encrypt|planted/)
    }
    expect(log()).toContain('A value is encrypted with the key lost-key')
    expect(await countEvents(pool)).toBe(before)
    expect(await read(service, { subscriptionId: FIXTURE.vaultItemId })).toMatchObject({ status: 200 })
  })

  test("a row that got another one's sealed value does not show it", async () => {
    await using stack = new AsyncDisposableStack()
    const { service, pool, log } = await start(stack)
    await pool.query(
      `update ${SCHEMA}.subscriptions set credentials =
        (select credentials from ${SCHEMA}.subscriptions where id = $1) where id = $2`,
      [FIXTURE.bensSubscriptionId, FIXTURE.samlSubscriptionId],
    )
    const answer = await read(service)
    expect(answer).toMatchObject(problem(500))
    expect(JSON.stringify(answer.body)).not.toContain('planted')
    expect(log()).toContain(`The value of subscription:${FIXTURE.samlSubscriptionId} cannot be decrypted`)
  })

  test('a reset seals with the current key what an older one had sealed', async () => {
    await using stack = new AsyncDisposableStack()
    const { pool } = await start(stack)
    const vault = createVault(
      new Map([
        ['new', Buffer.alloc(32, 8)],
        ['test', Buffer.alloc(32, 7)],
      ]),
    )
    const service = stack.adopt(await startService({ pool, vault }), (started) => started.close())
    expect((await read(service)).body).toMatchObject({ password: FIXTURE.secrets[0] })
    expect(await reset(service)).toMatchObject({ status: 200 })
    const { rows } = await pool.query(
      `select id, key_id from ${SCHEMA}.subscriptions where id < 103 order by id`,
    )
    expect(rows).toEqual([
      { id: FIXTURE.samlSubscriptionId, key_id: 'new' },
      { id: FIXTURE.lockedSubscriptionId, key_id: 'test' },
    ])
    expect((await read(service)).body).toMatchObject({ login: 'ada@example.org' })
  })
})

async function countEvents(pool: Pool): Promise<unknown> {
  const { rows } = await pool.query<{ count: number }>(`select count(*)::int from ${SCHEMA}.events`)
  return rows[0]?.count
}
