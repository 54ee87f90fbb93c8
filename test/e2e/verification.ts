import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ApiProxy, startApiProxy } from '../support/api-proxy.ts'
import { CSV_SOURCE, csvFiles, people } from '../support/company.ts'
import { expectDirectory, RUN_DONE } from '../support/company-site.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { databaseConfig, directorySection } from '../support/sync-config.ts'

const COMPANY = people(60)

let stack: AsyncDisposableStack
let site: Site
let service: ServiceSite
let proxy: ApiProxy
/** How many users were created, and which were asked for by their id. */
let seen: { creates: number; looks: string[] }

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  site = stack.use(await openSite())
  service = stack.use(await startServiceSite())
  proxy = stack.use(await startApiProxy(service.baseUrl))
  await site.configure(
    databaseConfig([{ name: 'corp', source: CSV_SOURCE, directory: directorySection(proxy) }]),
  )
  for (const [name, text] of Object.entries(csvFiles(COMPANY))) await site.write(name, text)
  seen = { creates: 0, looks: [] }
  count()
})
afterEach(() => stack.disposeAsync())

/** Counts requests; a look waits for `before`. */
function count(before?: () => Promise<undefined>): void {
  proxy.intercept = async ({ method, url }) => {
    if (method === 'POST' && url.endsWith('/users')) seen.creates += 1
    if (method !== 'GET' || !/\/users\/[^/?]+$/.test(url)) return undefined
    seen.looks.push(url.slice(url.lastIndexOf('/') + 1))
    return before?.()
  }
}

/** What `npm test` runs. */
export function verificationTests(): void {
  test('a command on a service that stores nothing ends with 1 and says so; the next one does all', async () => {
    proxy.intercept = ({ method }) => {
      if (method !== 'POST') return undefined
      seen.creates += 1
      return { status: 201, answer: {} }
    }
    const { code, stdout, stderr } = await site.run('sync', 'corp')
    expect(code).toBe(1)
    expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(
      /The service does not show what was sent to it: user ".*" was created \(answer 201\), and is not there\./,
    )
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('40 changes dropped, because the run ended first')
    expect(seen.creates).toBe(20)
    count()
    const second = await site.json('sync', 'corp')
    expect(second).toMatchObject({
      code: 0,
      lines: [{ state: 'done', counts: { notices: { 'read-back': 1 } } }],
    })
    expect(second.lines[0].notices).toMatchObject([{ kind: 'user', code: 'read-back' }])
    expect((await site.run('runs', '2')).stdout).toContain(
      'user  the first 22 changes of the kind create-user were read back',
    )
    await expectDirectory(service, COMPANY)
  })
}

/** What only `npm run test:long` runs. */
export function verificationLongTests(): void {
  test('a daemon that is killed while it reads back has passed nothing, and the next one reads back again', async () => {
    const asked = Promise.withResolvers<void>()
    count(() => {
      asked.resolve()
      return new Promise(() => undefined)
    })
    const worker = stack.use(site.start('worker'))
    await worker.waitForOutput(/worker started/)
    const first = stack.use(site.start('start'))
    await first.waitForOutput(/daemon started/)
    stack.use(site.start('sync', 'corp'))
    await asked.promise
    first.kill('SIGKILL')
    await first.ended
    // The worker, which goes on, has nothing to send.
    expect(seen).toEqual({ creates: 20, looks: ['u0'] })
    count()
    const second = stack.use(site.start('start'))
    await second.waitForOutput(RUN_DONE)
    expect(seen.creates).toBe(60)
    // On a busy machine a create may have been looked up later, too.
    expect(new Set(seen.looks.slice(1, 21)).size).toBe(20)
    await expectDirectory(service, COMPANY)
    const { lines } = await site.json('runs', '2')
    expect(lines[0]).toMatchObject({
      state: 'done',
      counts: { outcomes: { applied: 40 }, notices: { 'read-back': 1 } },
    })
  })
}
