import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findFaults, type Prometheus, startPrometheus } from '../support/prometheus.ts'
import type { Program } from '../support/program.ts'
import { freePort } from '../support/server-process.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { databaseConfig, directorySection } from '../support/sync-config.ts'

const TOKEN = 'a-token-for-those-who-watch'
const MAP = { external_id: 'id', email: 'mail', name: 'name' }

let stack: AsyncDisposableStack
let service: ServiceSite
let site: Site
let listen: { daemon: string; worker: string }
let daemon: Program
let worker: Program

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  service = stack.use(await startServiceSite())
  site = stack.use(await openSite())
  listen = { daemon: `127.0.0.1:${await freePort()}`, worker: `127.0.0.1:${await freePort()}` }
  await site.write('token', TOKEN)
  await site.write('users.csv', people(40))
  const sync = (name: string, path: string, more: object) => ({
    name,
    source: { type: 'csv', settle: '1ms', users: { path, map: MAP } },
    directory: directorySection(service, { allowedDomains: undefined, ...more }),
  })
  const syncs = [sync('corp', './users.csv', {}), sync('gone', './gone.csv', { directoryId: 8 })]
  const more = {
    admin: { listen: listen.daemon, token: { file: './token' } },
    worker: { listen: listen.worker },
    log: { level: 'debug' },
  }
  await site.configure(databaseConfig(syncs, more))
  daemon = stack.use(site.start('start'))
  await daemon.waitForOutput(/daemon started/)
  worker = stack.use(site.start('worker'))
  await worker.waitForOutput(/worker started/)
})

afterEach(() => stack.disposeAsync())

/** One more than these has an e-mail that the service refuses. */
function people(count: number): string {
  const rows = Array.from({ length: count }, (_, nth) => `u${nth},u${nth}@example.org,Person ${nth}`)
  return ['id,mail,name', ...rows, 'refused,who@other.example,Refused Person', ''].join('\n')
}

async function metricsOf(address: string): Promise<string> {
  const answer = await fetch(`http://${address}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    expect.stringMatching(/^text\/plain; version=0\.0\.4/),
  ])
  return answer.text()
}

/** The alerts of the repository, without the time for which each must be so. */
function impatientRules(): object {
  const text = readFileSync(new URL('../../config/prometheus/alerts.yaml', import.meta.url), 'utf8')
  const { groups } = parse(text)
  for (const rule of groups.flatMap(({ rules }: any) => rules)) delete rule.for
  return { groups }
}

function watch(): Promise<Prometheus> {
  return startPrometheus({
    targets: [listen.daemon, listen.worker],
    tokenFile: `${site.dir}/token`,
    rules: impatientRules(),
  })
}

/** What `npm test` runs. */
export function metricsTests(): void {
  test('a token that is easily guessed lets nobody in, and no daemon begin', async () => {
    await site.write('token', 'hunter2')
    for (const address of Object.values(listen)) {
      const headers = { authorization: 'Bearer hunter2' }
      const answer = await fetch(`http://${address}/metrics`, { headers })
      expect(answer.status).toBe(503)
      expect(await answer.json()).toEqual({
        code: 'secret-unavailable',
        message: 'admin.token cannot be read now: the log says why.',
      })
    }
    worker.kill('SIGTERM')
    await worker.ended
    const refused = await site.run('worker')
    expect(refused.code).toBe(78)
    expect(refused.stderr).toMatch(
      /^The secret of admin\.token \(file \S+\) must have 16 characters or more, .*\n$/,
    )
  })
}

/** What only `npm run test:long` runs. */
export function metricsLongTests(): void {
  test('a real Prometheus is told what the syncs did, what waits, and what is wrong', async () => {
    const prometheus = stack.use(await watch())
    const asked = (expr: string) => expect.poll(() => prometheus.query(expr))
    await asked('up == 1').toEqual({ [`${listen.daemon} dirsyncd`]: 1, [`${listen.worker} dirsyncd`]: 1 })
    await asked('dirsyncd_sync_last_full_read_timestamp_seconds').toMatchObject({
      [`${listen.daemon} dirsyncd corp`]: 0,
    })

    expect((await site.run('sync', 'corp')).code).toBe(4)
    await asked('sum by (op, outcome) (dirsyncd_changes_total{sync="corp"})').toEqual({
      'create-user applied': 40,
      'create-user quarantined': 1,
    })
    await asked('sum(dirsyncd_api_requests_total{operation="createUsers", status="201"})').toEqual({ '': 40 })
    await asked('sum by (phase) (dirsyncd_run_duration_seconds_count{sync="corp"})').toEqual({
      apply: 1,
      plan: 1,
      read: 1,
    })
    await asked('sum by (side, kind) (dirsyncd_entries{sync="corp"})').toMatchObject({ 'user source': 41 })
    await asked('sum by (sync) (dirsyncd_quarantined_changes)').toEqual({ corp: 1, gone: 0 })
    await asked('sum(time() - dirsyncd_sync_last_success_timestamp_seconds{sync="corp"} < bool 60)').toEqual({
      '': 1,
    })
    await asked('sum by (store) (dirsyncd_store_bytes > bool 1e6)').toEqual({ postgres: 1 })
    await expect.poll(() => prometheus.firing()).toEqual(['DirsyncdQuarantineGrew corp'])

    await site.write('users.csv', people(10))
    expect((await site.run('sync', 'corp')).code).toBe(3)
    await asked('sum(dirsyncd_open_questions)').toEqual({ '': 30 })
    await asked('sum by (code, until) (dirsyncd_blocked_changes{sync="corp"})').toMatchObject({
      'max-delete-percent-users decision': 30,
    })
    for (let times = 0; times < 3; times++) expect((await site.run('sync', 'gone')).code).toBe(1)
    await asked('sum by (sync) (dirsyncd_sync_failures)').toEqual({ corp: 0, gone: 3 })
    expect((await site.run('pause', 'corp', '--reason', 'a trial')).code).toBe(0)
    worker.kill('SIGTERM')
    await worker.ended
    await expect
      .poll(() => prometheus.firing())
      .toEqual([
        'DirsyncdAsking corp',
        'DirsyncdDown',
        'DirsyncdFailing gone',
        'DirsyncdPaused corp',
        'DirsyncdQuarantineGrew corp',
      ])
  })

  test('promtool finds no fault in the metrics, and nobody sees them without the token', async () => {
    await site.run('sync', 'corp')
    for (const address of Object.values(listen)) {
      const text = await metricsOf(address)
      expect(findFaults(text)).toBe('')
      expect(text).not.toMatch(/Person|@|u39/)
      expect(text).toContain('dirsyncd_store_up{store="postgres"} 1')
      for (const path of ['/metrics', '/metrics?token=x'])
        expect((await fetch(`http://${address}${path}`)).status).toBe(401)
      for (const path of ['/healthz', '/readyz'])
        expect((await fetch(`http://${address}${path}`)).status).toBe(200)
    }
    expect(await metricsOf(listen.worker)).not.toContain('dirsyncd_sync_failures{')
  })
}
