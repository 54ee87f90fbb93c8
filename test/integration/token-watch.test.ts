import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createLog } from '../../src/log.ts'
import { TokenWatch } from '../../src/store/token-watch.ts'
import { openSite } from '../support/site.ts'
import { databaseConfig } from '../support/sync-config.ts'
import { useTestStore } from '../support/test-store.ts'

const bed = useTestStore()

const HOUR = 3600
const DAY = 24 * HOUR

/** What a process that sees this life of the token logs. */
async function seenBy(token: string, ...lives: readonly number[]): Promise<string[]> {
  const lines: string[] = []
  const log = createLog('debug', { destination: { write: (line: string) => void lines.push(line) } })
  const watch = new TokenWatch({ db: bed.db, log })
  for (const life of lives) {
    watch.see(token, life)
    await watch.settle()
  }
  return lines.map((line) => `${JSON.parse(line).msg} (${JSON.parse(line).secondsLeft})`)
}

test('a token of a year is warned of in its last week, once a day, whichever process sees it', async () => {
  const token = 'of-a-year'
  expect(await seenBy(token, 365 * DAY)).toEqual([])
  expect(await seenBy(token, 8 * DAY)).toEqual([])
  expect(await seenBy(token, 6 * DAY)).toEqual([`access token expires soon (${6 * DAY})`])
  expect(await seenBy(token, 6 * DAY - 60)).toEqual([])
  await sql`UPDATE dirsyncd.token_lives SET warned_at = warned_at - interval '24 hours'`.execute(bed.db)
  expect(await seenBy(token, 5 * DAY)).toEqual([`access token expires soon (${5 * DAY})`])
})

test('one process warns of a token whose life runs out while it looks at it', async () => {
  expect(await seenBy('of-a-month', 30 * DAY, 20 * DAY, 2 * DAY, DAY)).toEqual([
    `access token expires soon (${2 * DAY})`,
  ])
})

test('a token of an hour is never warned of while it is renewed, and is when it is not', async () => {
  for (const token of ['hour-1', 'hour-2']) {
    for (const left of [HOUR, HOUR / 2, HOUR / 5]) expect(await seenBy(token, left)).toEqual([])
  }
  expect(await seenBy('hour-2', 300)).toEqual(['access token expires soon (300)'])
})

test('two processes that see it at once warn once', async () => {
  await seenBy('of-both', 365 * DAY)
  const warned = await Promise.all([seenBy('of-both', DAY), seenBy('of-both', DAY), seenBy('of-both', DAY)])
  expect(warned.flat()).toHaveLength(1)
})

test('the store has no token, and forgets those that expired', async () => {
  await seenBy('secret-old', -3 * DAY)
  await seenBy('secret-new', DAY)
  const { rows } = await sql<{ row: string }>`SELECT t::text AS row FROM dirsyncd.token_lives t`.execute(
    bed.db,
  )
  expect(rows.filter(({ row }) => row.includes('secret'))).toEqual([])
  const old = await sql`SELECT FROM dirsyncd.token_lives WHERE expires_at < now()`.execute(bed.db)
  expect(old.rows).toEqual([])
})

test('each run is a process of its own: the second one warns no more', async () => {
  let left = 30 * DAY
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
    await site.configure(databaseConfig([{ name: 'corp', source, directory }]))
    const warned = async () => {
      const { code, stderr } = await site.run('plan', 'corp')
      return { code, lines: stderr.split('\n').filter((line) => line.includes('access token')) }
    }
    const quiet = { code: 0, lines: [] }
    expect(await warned()).toEqual(quiet)
    left = 2 * DAY
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
    server.close()
  }
})
