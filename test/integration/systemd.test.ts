import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { program } from '../support/packages.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { directorySection, embeddedConfig } from '../support/sync-config.ts'
import { longTest } from '../support/long.ts'

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const UNITS = ['dirsyncd.service', 'dirsyncd-worker.service']

function analyze(...args: readonly string[]): string {
  return execFileSync(program('systemd-analyze'), args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

let stack: AsyncDisposableStack
let service: ServiceSite
let site: Site

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  service = stack.use(await startServiceSite())
  site = stack.use(await openSite())
})

afterEach(() => stack.disposeAsync())

test.each(UNITS)('systemd understands %s, and it exposes little', (name) => {
  const unit = readFileSync(at(`deploy/systemd/${name}`), 'utf8')
  // The program is installed elsewhere here.
  const copy = join(site.dir, name)
  writeFileSync(copy, unit.replace('/usr/bin/node', process.execPath))
  expect(analyze('verify', copy)).toBe('')
  const [, score] = /Overall exposure level for .*: ([\d.]+) /.exec(
    analyze('security', '--offline=yes', '--no-pager', copy),
  )!
  expect(Number(score)).toBeLessThanOrEqual(1.7)
  expect(readFileSync(at('docs/operations.md'), 'utf8')).toContain(`${score} (OK)`)
})

test('both units are handed the same secrets, from where commands outside of them look', () => {
  const named = UNITS.map((name) => {
    const unit = readFileSync(at(`deploy/systemd/${name}`), 'utf8')
    expect(unit).not.toMatch(/LoadCredential=[^\n]*:|\/run\/credentials/)
    return [...unit.matchAll(/LoadCredential=(.*)/g)].map(([, secret]) => secret).toSorted()
  })
  expect(named[0]).toEqual(['admin-token', 'directory-token', 'ldap-password', 'store-password'])
  expect(named[1]).toEqual(named[0])
})

/** The program as systemd runs it. */
function manage(watchdogSeconds: number) {
  const args = [
    at('test/support/service-manager.pl'),
    join(site.dir, 'notify'),
    String(watchdogSeconds),
    process.execPath,
    at('test/support/quick-program.ts'),
    'start',
    '--config',
    join(site.dir, 'dirsyncd.yaml'),
  ]
  const manager = spawn('setpriv', ['--pdeathsig', 'TERM', 'perl', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  manager.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  stack.defer(async () => {
    manager.kill('SIGTERM')
    if (manager.exitCode === null) await once(manager, 'close')
  })
  const lines = () => output.split('\n')
  return {
    manager,
    lines,
    until: (what: RegExp, times = 1) =>
      expect.poll(() => lines().filter((line) => what.test(line)).length).toBeGreaterThanOrEqual(times),
  }
}

longTest('a daemon says that it is ready and lives, is restarted when it does not, and goes on', async () => {
  const users = { path: './users.csv', map: { external_id: 'id', name: 'name' } }
  const source = { type: 'csv', settle: '1ms', users }
  await site.configure(embeddedConfig([{ name: 'corp', source, directory: directorySection(service) }]))
  await site.write('users.csv', 'id,name\nu1,Ana\n')
  const { manager, lines, until } = manage(2)
  await until(/^told READY=1$/)
  await until(/^told WATCHDOG=1$/, 2)
  expect((await site.run('sync', 'corp')).code).toBe(0)

  const [, pid] = /^started (\d+)$/.exec(lines()[0]!)!
  process.kill(Number(pid), 'SIGSTOP')
  await until(/^watchdog kills/)
  await until(/^told READY=1$/, 2)
  expect(lines().filter((line) => line.startsWith('started'))).toHaveLength(2)
  await site.write('users.csv', 'id,name\nu1,Ana\nu2,Ben\n')
  expect((await site.run('sync', 'corp')).stdout).toContain('1 user to create')

  manager.kill('SIGTERM')
  await until(/^told STOPPING=1$/)
  await until(/^ended/, 2)
})
