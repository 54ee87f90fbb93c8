import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { Pool } from 'pg'
import { expect, test, vi } from 'vitest'
import { createLog } from '../../src/base/log/log.ts'
import { TokenWatch } from '../../src/store/token-watch.ts'
import { createDatabase, STORE_TEMPLATE } from '../support/databases.ts'
import { openSite } from '../support/site.ts'
import { databaseConfig } from '../support/sync-config.ts'
import { useTestStore } from '../support/test-store.ts'

const bed = useTestStore()

const HOUR = 3600
const DAY = 24 * HOUR

/** What a process logs that sees these remaining lives of the token in this place. */
async function seenBy(place: string, ...lives: readonly number[]): Promise<string[]> {
  const lines: string[] = []
  const log = createLog('debug', { destination: { write: (line: string) => void lines.push(line) } })
  const watch = new TokenWatch({ db: bed.db, log, origin: 'https://access.example.com', place })
  for (const life of lives) {
    watch.see(life)
    await watch.settle()
  }
  return lines.map((line) => `${JSON.parse(line).msg} (${JSON.parse(line).secondsLeft})`)
}

/** As if so many seconds had gone by for the token in this place. */
async function later(place: string, seconds: number): Promise<void> {
  await sql`UPDATE dirsyncd.token_lives SET expires_at = expires_at - make_interval(secs => ${seconds}),
    warned_at = warned_at - make_interval(secs => ${seconds}) WHERE place = ${place}`.execute(bed.db)
}

test('a token of a year is warned of in its last week, once a day, whichever process sees it', async () => {
  const place = 'of-a-year'
  expect(await seenBy(place, 365 * DAY)).toEqual([])
  await later(place, 357 * DAY)
  expect(await seenBy(place, 8 * DAY)).toEqual([])
  await later(place, 2 * DAY)
  expect(await seenBy(place, 6 * DAY)).toEqual([`access token expires soon (${6 * DAY})`])
  expect(await seenBy(place, 6 * DAY - 50)).toEqual([])
  await later(place, DAY)
  expect(await seenBy(place, 5 * DAY)).toEqual([`access token expires soon (${5 * DAY})`])
})

test('one process warns of a token whose life runs out while it looks at it', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const lines: string[] = []
    const log = createLog('debug', { destination: { write: (line: string) => void lines.push(line) } })
    const place = { origin: 'https://access.example.com', place: 'of-a-month' }
    const watch = new TokenWatch({ db: bed.db, log, ...place })
    for (const left of [30 * DAY, 20 * DAY, 2 * DAY, DAY]) {
      vi.setSystemTime(new Date(Date.UTC(2026, 0, 31) - left * 1000))
      watch.see(left)
      await watch.settle()
    }
    expect(lines.map((line) => JSON.parse(line).secondsLeft)).toEqual([2 * DAY])
  } finally {
    vi.useRealTimers()
  }
})

test('a token of an hour is never warned of while it is renewed, and is when it is not', async () => {
  const place = 'of-an-hour'
  for (const _token of ['first', 'second']) {
    expect(await seenBy(place, HOUR)).toEqual([])
    for (const left of [HOUR / 2, HOUR / 5]) {
      await later(place, HOUR / 2 - (left === HOUR / 2 ? 0 : HOUR / 5))
      expect(await seenBy(place, left)).toEqual([])
    }
  }
  await later(place, HOUR / 5 - 300)
  expect(await seenBy(place, 300)).toEqual(['access token expires soon (300)'])
})

test('a token with a shorter life in the place of a longer one is not warned of as that one', async () => {
  const place = 'of-another'
  expect(await seenBy(place, 365 * DAY)).toEqual([])
  expect(await seenBy(place, HOUR)).toEqual([])
  await later(place, HOUR / 2)
  expect(await seenBy(place, HOUR / 2)).toEqual([])
})

test('two processes that see it at once warn once', async () => {
  await seenBy('of-both', 365 * DAY)
  await later('of-both', 364 * DAY)
  const warned = await Promise.all([seenBy('of-both', DAY), seenBy('of-both', DAY), seenBy('of-both', DAY)])
  expect(warned.flat()).toHaveLength(1)
})

test('the store forgets those that expired', async () => {
  await seenBy('old', -3 * DAY)
  await seenBy('new', DAY)
  const old = await sql`SELECT FROM dirsyncd.token_lives WHERE expires_at < now()`.execute(bed.db)
  expect(old.rows).toEqual([])
})

test('each run is a process of its own: the second one warns no more', async () => {
  let left = 30 * DAY
  const store = await createDatabase(STORE_TEMPLATE)
  const pool = new Pool({ connectionString: store })
  const server = createServer((request, response) => {
    const isList = /\/(users|groups)\b/.test(request.url ?? '')
    const headers = { 'content-type': 'application/json', 'x-token-expires-in': String(left), total: '0' }
    const directory = { id: 7, name: 'Corp', doppler: false, target_type: 'csv' }
    response.writeHead(200, headers).end(JSON.stringify(isList ? [] : directory))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await using site = await openSite()
    await site.write('users.csv', 'id,name\n')
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const directory = { baseUrl, organizationId: 1, directoryId: 7, token: { command: ['echo', 'token'] } }
    const users = { path: './users.csv', map: { external_id: 'id', name: 'name' } }
    const source = { type: 'csv', settle: '1ms', users }
    await site.configure(databaseConfig([{ name: 'corp', source, directory }], { store }))
    const warned = async () => {
      const { code, stderr } = await site.run('plan', 'corp')
      return { code, lines: stderr.split('\n').filter((line) => line.includes('access token')) }
    }
    const quiet = { code: 0, lines: [] }
    expect(await warned()).toEqual(quiet)
    left = 2 * DAY
    // The database as if the 28 days had gone by.
    await pool.query(`UPDATE dirsyncd.token_lives SET expires_at = now() + interval '2 days'`)
    expect(await warned()).toEqual({
      code: 0,
      lines: [
        expect.stringMatching(
          /^warn: access token expires soon \(sync corp, secondsLeft 172800, expiresAt [-\d]+T[:.\d]+Z\)$/,
        ),
      ],
    })
    expect(await warned()).toEqual(quiet)
    const check = await site.run('check', 'corp')
    expect(check.stdout).toContain('it expires in 2 days')
    expect(check.stderr).not.toContain('expires soon')
    left = 0
    const expired = await site.run('check', 'corp')
    expect([expired.code, expired.stdout]).toEqual([
      1,
      expect.stringContaining('the service says that it has expired'),
    ])
  } finally {
    await pool.end()
    server.close()
  }
})
