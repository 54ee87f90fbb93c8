import { chmodSync, mkdirSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readService } from '../support/read-service.ts'
import { FIXTURE } from '../support/fixture.ts'
import { freePort } from '../support/server-process.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { databaseConfig, directorySection, embeddedConfig } from '../support/sync-config.ts'

const PEOPLE = 250

let stack: AsyncDisposableStack
let service: ServiceSite
let site: Site

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  service = stack.use(await startServiceSite({ faults: 'latency=1:30ms' }))
  site = stack.use(await openSite())
  const users = { path: './users.csv', map: { external_id: 'id', name: 'name' } }
  await site.configure(
    embeddedConfig([{ name: 'corp', source: { type: 'csv', users }, directory: directorySection(service) }]),
  )
  let rows = 'id,name\n'
  for (let index = 0; index < PEOPLE; index++) rows += `u${index},Person ${index}\n`
  await site.write('users.csv', rows)
})

afterEach(() => stack.disposeAsync())

async function untilWritten(count: number): Promise<void> {
  for (;;) {
    const writes = (await service.requests()).filter(({ method }) => method === 'POST')
    if (writes.length >= count) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** What `npm test` runs. */
export function daemonTests(): void {
  test('a command waits for a daemon that has opened the store and does not listen yet', async () => {
    const daemon = stack.use(site.start('start'))
    await expect.poll(() => stat(join(site.dataDir, 'owner.json')).catch(() => undefined)).toBeDefined()
    expect(await site.run('runs')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^(Waiting for process \d+ \(dirsyncd start, .*\n)?$/),
    })
    await daemon.waitForOutput(/daemon started/)
  })

  test('Ctrl-C ends a question to a slow source at once', async () => {
    const command = ['sh', '-c', 'touch asked; sleep 300']
    const source = { type: 'command', command, users: { map: { external_id: 'id' } } }
    await site.configure(embeddedConfig([{ name: 'slow', source, directory: directorySection(service) }]))
    const explaining = stack.use(site.start('explain', 'slow', 'ana'))
    await expect.poll(() => stat(join(site.dir, 'asked')).catch(() => undefined)).toBeDefined()
    explaining.kill('SIGINT')
    expect(await explaining.ended).toMatchObject({ code: 1, stdout: '', stderr: 'Interrupted by SIGINT.\n' })
  })

  test('commands are taken on a socket of this user only, and the pages on TCP take none', async () => {
    const listen = `127.0.0.1:${await freePort()}`
    const source = { type: 'csv', users: { path: './users.csv', map: { external_id: 'id' } } }
    const syncs = [{ name: 'corp', source, directory: directorySection(service) }]
    await site.configure(embeddedConfig(syncs, { admin: { listen } }))
    const daemon = stack.use(site.start('start'))
    await daemon.waitForOutput(/daemon started/)
    expect((await stat(join(site.dataDir, 'admin.sock'))).mode & 0o777).toBe(0o600)
    const statusOf = async (path: string, options: RequestInit = {}) =>
      (await fetch(`http://${listen}${path}`, options)).status
    expect(await statusOf('/')).toBe(401)
    const token = (await readFile(join(site.dataDir, 'admin-token'), 'utf8')).trim()
    const authorization = `Bearer ${token}`
    const body = JSON.stringify({ sync: 'corp', mode: 'sync' })
    const command = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
    expect(await statusOf('/runs', command)).toBe(401)
    for (const path of ['/call', '/reload', '/diagnostics'])
      expect(await statusOf(path, { ...command, headers: { ...command.headers, authorization } })).toBe(404)
  })

  test('a daemon takes commands in its data directory, however long the path of that is', async () => {
    const dataDir = `./${'d'.repeat(120)}`
    const source = { type: 'csv', users: { path: './users.csv', map: { external_id: 'id' } } }
    const syncs = [{ name: 'corp', source, directory: directorySection(service) }]
    await site.configure(databaseConfig(syncs, { dataDir }))
    mkdirSync(join(site.dir, dataDir))
    chmodSync(join(site.dir, dataDir), 0o777)
    const daemon = stack.use(site.start('start'))
    await daemon.waitForOutput(/daemon started/)
    expect(daemon.output()).toContain('every user may write the data directory')
    const socket = join(site.dir, dataDir, 'admin.sock')
    expect((await stat(socket)).mode & 0o777).toBe(0o600)
    expect(await site.run('reload')).toMatchObject({ code: 0, stderr: '' })
    daemon.kill('SIGTERM')
    await daemon.ended
    await expect(stat(socket)).rejects.toThrow(/ENOENT/)
  })
}

/** What only `npm run test:long` runs. */
export function daemonLongTests(): void {
  test('a command whose daemon is killed says so in one sentence, and the next daemon goes on', async () => {
    const daemon = stack.use(site.start('start'))
    await daemon.waitForOutput(/daemon started/)
    const command = site.run('sync', 'corp')
    await untilWritten(50)
    daemon.kill('SIGKILL')

    const ended = await command
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(/^The daemon does not answer on its socket \(.*\); see its log\. [^\n]*\n$/)

    const next = stack.use(site.start('start'))
    await next.waitForOutput(/, done, /)
    const { users, duplicates } = await readService({ ...FIXTURE, baseUrl: service.baseUrl })
    expect(users.size).toBe(PEOPLE)
    expect(duplicates).toEqual([])
  })

  test('a command that is interrupted leaves the run to the daemon', async () => {
    const daemon = stack.use(site.start('start'))
    await daemon.waitForOutput(/daemon started/)
    const command = stack.use(site.start('sync', 'corp'))
    await untilWritten(50)
    command.kill('SIGINT')
    expect(await command.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('dirsyncd runs 1') })
    await daemon.waitForOutput(/run 1, done/)
  })
}
