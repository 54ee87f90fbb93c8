import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DirsyncdError } from '../../src/base/errors.ts'
import { putEmptyStore } from '../support/empty-store.ts'
import { FIXTURE } from '../support/fixture.ts'
import { program } from '../support/packages.ts'
import { runProgram } from '../support/program.ts'
import { readService } from '../support/read-service.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { directorySection, embeddedConfig } from '../support/sync-config.ts'
import { unprivileged } from '../support/unprivileged.ts'

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const UNITS = ['dirsyncd.service', 'dirsyncd-worker.service', 'access-service.service']

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

/** The program as systemd runs it. */
function manage(watchdogSeconds: number, command: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const socket = join(site.dir, 'notify')
  const args = [at('test/support/service-manager.pl'), socket, String(watchdogSeconds), ...command]
  const manager = spawn('setpriv', ['--pdeathsig', 'TERM', 'perl', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env,
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

/** What `npm test` runs. */
export function systemdTests(): void {
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

  test('daemon and worker are handed the same secrets, from where commands outside of them look', () => {
    const named = UNITS.slice(0, 2).map((name) => {
      const unit = readFileSync(at(`deploy/systemd/${name}`), 'utf8')
      expect(unit).not.toMatch(/LoadCredential=[^\n]*:|\/run\/credentials/)
      return [...unit.matchAll(/LoadCredential=(.*)/g)].map(([, secret]) => secret).toSorted()
    })
    expect(named[0]).toEqual(['access-token', 'admin-token', 'ldap-password', 'store-password'])
    expect(named[1]).toEqual(named[0])
  })

  test.each(UNITS)('%s does not start again where that changes nothing', (name) => {
    const unit = readFileSync(at(`deploy/systemd/${name}`), 'utf8')
    const [, codes] = /^RestartPreventExitStatus=(.*)$/m.exec(unit) ?? []
    const faults = (['usage', 'config-invalid'] as const).map((code) => new DirsyncdError(code, '').exitCode)
    expect(codes?.split(' ').map(Number)).toEqual(faults)
  })

  test("after the steps of the docs, init as the daemon's user writes what the unit starts with", async () => {
    const user = unprivileged('nobody')
    const group = execFileSync('id', ['-gn', user.name], { encoding: 'utf8' }).trim()
    /** The text for this user and for folders of this test. */
    const here = (path: string) =>
      readFileSync(at(path), 'utf8')
        .replaceAll('-o dirsyncd -g dirsyncd', `-o ${user.name} -g ${group}`)
        .replaceAll(/\/(?:etc|var\/lib)\/dirsyncd/g, (folder) => join(site.dir, folder))
        .replaceAll('/usr/bin/node', process.execPath)
        .replaceAll('/opt/dirsyncd/dist/main.js', at('src/main.ts'))
    const docs = here('docs/operations.md')
    const unit = here('deploy/systemd/dirsyncd.service')
    const config = join(site.dir, 'etc/dirsyncd/dirsyncd.yaml')
    const [, start = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? []
    const env = { PATH: process.env.PATH ?? '', DIRSYNCD_CONFIG: config }
    chmodSync(site.dir, 0o711)
    for (const folder of ['etc', 'var', 'var/lib']) mkdirSync(join(site.dir, folder))
    await site.write('users.csv', 'id,mail,name\nu1,ana@example.org,Ana\n')
    await site.write('token', FIXTURE.token)

    for (const [step] of docs.matchAll(/^install -d .*$/gm)) execFileSync('sh', ['-c', step])
    expect(docs).toContain('\nsudo -u dirsyncd dirsyncd init\n')
    const { organizationId, directoryId } = FIXTURE
    const options =
      `--source csv --csv-users ${site.dir}/users.csv --api-url ${service.baseUrl} --organization ${organizationId} ` +
      `--directory ${directoryId} --token-file ${site.dir}/token --data-dir ${site.dir}/var/lib/dirsyncd`
    const init = await runProgram(['init', '--yes', ...options.split(' ')], { user, env })
    expect(init).toMatchObject({ code: 0, stderr: '' })

    // Spares the time to make one.
    await putEmptyStore(join(site.dir, 'var/lib/dirsyncd'))
    execFileSync('chown', ['-R', user.name, join(site.dir, 'var/lib/dirsyncd')])
    // Only systemd could hand over a credential.
    expect(unit).not.toMatch(/^LoadCredential=/m)
    const asUser = ['setpriv', '--reuid', user.name, '--regid', group, '--clear-groups']
    const { manager, until } = manage(600, [...asUser, ...start.split(' ')], env)
    await until(/^told READY=1$/)
    const directory = () => readService({ ...FIXTURE, baseUrl: service.baseUrl })
    await expect.poll(async () => (await directory()).users.get('u1')?.name).toBe('Ana')
    manager.kill('SIGTERM')
    await until(/^ended/)
  })
}

/** What only `npm run test:long` runs. */
export function systemdLongTests(): void {
  test('a daemon says that it is ready and lives, is restarted when it does not, and goes on', async () => {
    const users = { path: './users.csv', map: { external_id: 'id', name: 'name' } }
    const source = { type: 'csv', settle: '1ms', users }
    await site.configure(embeddedConfig([{ name: 'corp', source, directory: directorySection(service) }]))
    await site.write('users.csv', 'id,name\nu1,Ana\n')
    const start = [at('test/support/quick-program.ts'), 'start', '--config', join(site.dir, 'dirsyncd.yaml')]
    const { manager, lines, until } = manage(2, [process.execPath, ...start])
    await until(/^told READY=1$/)
    await until(/^told WATCHDOG=1$/, 2)
    expect((await site.run('sync', 'corp')).code).toBe(0)

    const [, pid] = /^started (\d+)$/.exec(lines()[0]!)!
    process.kill(Number(pid), 'SIGSTOP')
    await until(/^watchdog kills/)
    await until(/^told READY=1$/, 2)
    expect(lines().filter((line) => line.startsWith('started'))).toHaveLength(2)
    await site.write('users.csv', 'id,name\nu1,Ana\nu2,Ben\n')
    expect((await site.run('sync', 'corp')).stdout).toContain('1 creation of a user')

    manager.kill('SIGTERM')
    await until(/^told STOPPING=1$/)
    await until(/^ended/, 2)
  })
}
