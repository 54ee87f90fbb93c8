import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, BrowserContext, Page, Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { findBarriers, openBrowser, OTHER_MACHINE, watchPage } from '../support/browser.ts'
import { freePort } from '../support/server-process.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { databaseConfig, directorySection } from '../support/sync-config.ts'

const HOSTILE = '<img src=x onerror=alert(1)>\u202eنص</script>'
const TOKEN = 'the-admin-token-of-this-test'

const stack = new AsyncDisposableStack()
let service: ServiceSite
let site: Site
let daemon: ReturnType<Site['start']>
let browser: Browser
let context: BrowserContext
let page: Page
let origin: string
let troubles: readonly string[]
let people: readonly string[] = []

beforeAll(async () => {
  service = stack.use(await startServiceSite())
  site = stack.use(await openSite())
  browser = await openBrowser()
  stack.defer(() => browser.close())
  await site.write('admin-token', TOKEN)
  await write(Array.from({ length: 120 }, (_, nth) => `e-${nth}`))
  const users = { path: './users.csv', map: { external_id: 'id', email: 'mail', name: 'name' } }
  const groups = { path: './groups.csv', map: { external_id: 'id', name: 'name' } }
  const listen = `127.0.0.1:${await freePort()}`
  origin = `http://${listen}`
  await site.configure({
    ...databaseConfig([
      {
        name: 'corp',
        source: { type: 'csv', users, groups },
        directory: directorySection(service),
        guards: { users: { maxDeletes: 2, maxDeletePercent: 100 } },
      },
    ]),
    admin: { listen, token: { file: './admin-token' }, hosts: [OTHER_MACHINE] },
  })
  daemon = stack.use(site.start('start'))
  await daemon.waitForOutput(/daemon started/)
  context = await browser.newContext()
  page = await context.newPage()
  troubles = watchPage(page, origin)
})
afterAll(() => stack.disposeAsync())
afterEach(() => expect(troubles).toEqual([]))

async function write(ids: readonly string[]): Promise<void> {
  people = ids
  const rows = ids.map((id) => `${id},${id}@example.org,"Person ${id}"\n`)
  await site.write('users.csv', `id,mail,name\n${rows.join('')}h,h@example.org,"${HOSTILE}"\n`)
  await site.write('groups.csv', `id,name\ng,"${HOSTILE}"\n`)
}

/** Runs the sync by the button of its page, and waits until the run has ended. */
async function runNow(): Promise<void> {
  await page.goto(`${origin}/syncs/corp`)
  await page.getByRole('button', { name: 'Run now' }).click()
  await page.waitForURL(/\/runs\/\d+$/)
  await page.getByText('Ended').waitFor()
  await page.locator('h1 .badge', { hasText: /done|needs approval|failed/ }).waitFor()
}

function focusedText(): Promise<string> {
  return page.evaluate("document.activeElement?.textContent?.trim() ?? ''")
}

function focusedName(): Promise<string | null> {
  return page.evaluate("document.activeElement?.getAttribute('name') ?? null")
}

/** The words of a page's tables that are on more than one line. */
const BROKEN_WORDS = `[...document.querySelectorAll('td')].flatMap((cell) => {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
  const broken = []
  while (texts.nextNode()) {
    for (const word of texts.currentNode.data.matchAll(/[\\p{L}\\p{N}@._]+/gu)) {
      const range = document.createRange()
      range.setStart(texts.currentNode, word.index)
      range.setEnd(texts.currentNode, word.index + word[0].length)
      const lines = new Set([...range.getClientRects()].map(({ top }) => top))
      if (lines.size > 1) broken.push(word[0])
    }
  }
  return broken
})`

/** What `npm test` runs. */
export function pagesTests(): void {
  test('an operator signs in, runs the sync and follows it to its end', async () => {
    await page.goto(`${origin}/`)
    await page.getByLabel('Your name').fill('ada')
    await page.getByLabel('Token').fill(TOKEN)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await runNow()
    expect(await page.locator('h1').innerText()).toContain('done')
    expect(await page.locator('main').innerText()).toContain('121 create-user, 1 create-group')
    expect(await findBarriers(page)).toEqual([])
  })

  test('names are texts, and the search finds them', async () => {
    await page.getByLabel('Id, name or e-mail').fill('img SRC')
    await page.keyboard.press('Enter')
    await page.waitForURL(/search=/)
    const rows = page.locator('tbody tr')
    expect(await rows.count()).toBe(2)
    expect(await rows.first().innerText()).toContain('<img src=x onerror=alert(1)>\\u202eنص</script>')
    // The same search again loads no page, and the next form is sent all the same.
    await page.getByLabel('Id, name or e-mail').press('Enter')
    await page.getByLabel('Id, name or e-mail').fill('img src=x')
    await page.keyboard.press('Enter')
    await page.waitForURL(/search=img\+src/)
    await rows.first().getByRole('link').first().click()
    await page.getByRole('link', { name: /Why the directory has/ }).click()
    await page.waitForURL(/people/)
    expect(await page.locator('main').innerText()).toContain('<img src=x onerror=alert(1)>')
    expect(await findBarriers(page)).toEqual([])
    await page.goto(`${origin}/syncs/corp/people?who=${'x'.repeat(900)}`)
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
  })

  test('a plan that asks is read and approved by the keyboard alone', async () => {
    await write(people.slice(0, 100))
    await runNow()
    expect(await page.locator('h1').innerText()).toContain('needs approval')
    expect(await page.locator('main').innerText()).toContain('20 deletions of users need your approval')
    expect(await page.locator('tbody tr').count()).toBe(20)
    expect(await findBarriers(page)).toEqual([])

    const approve = 'Approve: delete 20 users'
    await page.locator('body').press('Tab')
    for (let presses = 0; presses < 60; presses += 1) {
      if ((await focusedText()) === approve) break
      const field = String(await focusedName())
      if (field === 'reason') await page.keyboard.type('they left the company')
      if (field === 'reason') await page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
    }
    expect(await focusedText()).toBe(approve)
    const asking = page.url()
    expect(await page.locator('h1').innerText()).toContain('needs approval')
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname !== new URL(asking).pathname)
    await page.locator('h1 .badge', { hasText: 'done' }).waitFor()
    await page.goto(asking)
    expect(await page.locator('main').innerText()).toMatch(/approved by ada.*they left the company/)
    expect(await findBarriers(page)).toEqual([])
  })

  test('selected deletes are approved, the others stay asked, and a rejection stays in sight', async () => {
    await write(people.slice(0, 96))
    await runNow()
    const asking = page.url()
    for (const id of ['e-96', 'e-97']) await page.getByLabel(`Select Person ${id}`).check()
    await page.getByRole('button', { name: 'Approve the selected' }).click()
    await page.waitForURL((url) => url.pathname !== new URL(asking).pathname)
    await page.getByText('2 applied').waitFor()
    await page.goto(asking)
    await page.getByLabel(/^Why/).fill('on leave')
    await page.getByRole('button', { name: 'Reject: keep 2 users' }).click()
    await page.getByText('Decide again').waitFor()
    await runNow()
    const text = /2 deletions of users are rejected \(.*the last by ada on /
    expect(await page.locator('main').innerText()).toMatch(text)
    await page.goto(`${origin}/`)
    expect(await page.locator('main').innerText()).toMatch(text)
    expect(await page.locator('.good').count()).toBe(0)
    people = people.slice(0, 96)
  })

  test('no table breaks a word, however narrow the window is', async () => {
    const other = await browser.newContext({ viewport: { width: 720, height: 900 } })
    await other.addCookies(await context.cookies())
    const shown = await other.newPage()
    for (const url of ['/', '/runs', '/runs/1', '/syncs/corp']) {
      await shown.goto(`${origin}${url}`)
      expect([url, await shown.evaluate(BROKEN_WORDS)]).toEqual([url, []])
      const isWide = await shown.evaluate('document.documentElement.scrollWidth > innerWidth')
      expect([url, isWide]).toEqual([url, false])
    }
    await other.close()
  })
}

/** What only `npm run test:long` runs. */
export function pagesLongTests(): void {
  test('an approval on an old page of what was rejected is refused, and made knowingly', async () => {
    await write(people.slice(0, 90))
    await runNow()
    const old = await context.newPage()
    await old.goto(page.url())
    const ids = page.getByLabel(/^Ids/)
    expect(await ids.isVisible()).toBe(false)
    await page.getByText('Only a part').click()
    expect(await ids.isVisible()).toBe(true)
    await page.getByLabel(/^Why/).fill('a wrong export')
    await page.getByRole('button', { name: 'Reject: keep 6 users' }).click()
    await page.getByText('Decide again').waitFor()
    await old.getByRole('button', { name: 'Approve: delete 6 users' }).click()
    expect(await old.getByRole('alert').innerText()).toMatch(/was rejected by ada at .*Z: "a wrong export"/)
    await old.getByRole('link', { name: /^Run \d+$/ }).click()
    await old.getByText('Decide again').click()
    expect(await findBarriers(old)).toEqual([])
    // With the two of the earlier run that stay rejected.
    await old.getByRole('button', { name: 'Approve: delete 8 users' }).click()
    await old.locator('h1 .badge', { hasText: 'done' }).waitFor()
    await old.close()
  })

  test('an open page of a run that asks learns of a decision, and keeps what is typed', async () => {
    await write(people.slice(0, 80))
    await runNow()
    const asking = page.url()
    const [idle, typed, chosen] = [await context.newPage(), await context.newPage(), await context.newPage()]
    for (const each of [idle, typed, chosen]) {
      await each.goto(asking)
      await each.clock.install()
      await each.reload()
    }
    await typed.getByLabel(/^Why/).fill('half a reason')
    await typed.locator('h1').click()
    const op = chosen.locator('select[name=op]')
    await op.selectOption('delete-user')
    await chosen.locator('h1').click()
    for (const each of [typed, chosen]) {
      await each.clock.runFor(11_000)
      expect(await each.getByRole('alert').count()).toBe(0)
    }

    const approved = await site.run('approve', asking.split('/').at(-1)!, '--all')
    expect([approved.code, approved.stderr]).toEqual([0, ''])
    for (const each of [idle, typed, chosen]) await each.clock.runFor(11_000)
    await chosen.getByRole('alert').waitFor()
    expect(await op.inputValue()).toBe('delete-user')
    await expect
      .poll(() => typed.getByRole('alert').allInnerTexts())
      .toEqual([expect.stringContaining('An operator has decided meanwhile')])
    expect(await typed.getByLabel(/^Why/).inputValue()).toBe('half a reason')
    await idle.getByText('Decide again').waitFor()
    expect(await idle.getByRole('button', { name: 'Approve:' }).count()).toBe(0)
    await typed.getByLabel(/^Why/).fill('')
    await typed.locator('h1').click()
    await typed.clock.runFor(11_000)
    await typed.getByText('Decide again').waitFor()
    expect(await typed.getByRole('alert').count()).toBe(0)
    for (const each of [idle, typed, chosen]) await each.close()
  })

  test('a sync is paused and resumed, and the overview says so', async () => {
    await page.goto(`${origin}/syncs/corp`)
    await page.getByLabel('Why').fill('the LDAP is being moved')
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    await page.goto(`${origin}/`)
    expect(await page.locator('main').innerText()).toMatch(
      /paused since .* by ada \(the LDAP is being moved\)/,
    )
    await page.goto(`${origin}/syncs/corp`)
    await page.getByRole('button', { name: 'Resume' }).click()
    await daemon.waitForOutput(/"decision":"resume","sync":"corp","by":"ada","msg":"an operator decided"/)
    await page.getByRole('button', { name: 'Pause' }).waitFor()
  })

  test('a second click sends nothing while the answer is awaited, and a form is sent again after going back', async () => {
    const sent: string[] = []
    const watch = (request: Request) => {
      if (request.method() === 'POST') sent.push(request.url())
    }
    page.on('request', watch)
    await page.route('**/run', async (route) => {
      await delay(600)
      await route.continue()
    })
    await page.goto(`${origin}/syncs/corp`)
    for (const times of [1, 2]) {
      const box = await page.getByRole('button', { name: 'Only plan' }).boundingBox()
      const click = () => page.mouse.click(box!.x + 5, box!.y + 5)
      await click()
      await delay(300)
      await click()
      await page.waitForURL(/\/runs\/\d+$/)
      await page.locator('h1 .badge', { hasText: 'planned' }).waitFor()
      expect(sent).toHaveLength(times)
      await page.goBack()
    }
    page.off('request', watch)
    await page.unrouteAll()
  })

  test('without TLS, from another machine, forms of the pages are taken too', async () => {
    const other = await browser.newContext()
    const shown = await other.newPage()
    const address = origin.replace('127.0.0.1', OTHER_MACHINE)
    await shown.goto(`${address}/syncs/corp`)
    await shown.getByLabel('Your name').fill('ben')
    await shown.getByLabel('Token').fill(TOKEN)
    await shown.getByRole('button', { name: 'Sign in' }).click()
    await expect.poll(() => shown.locator('body').innerText()).toContain('Run now')
    await shown.getByRole('button', { name: 'Only plan' }).click()
    await shown.waitForURL(/\/runs\/\d+$/)
    await shown.locator('h1 .badge', { hasText: 'planned' }).waitFor()
    await other.close()
  })

  test('a page that could not renew itself says so, until it can', async () => {
    const other = await browser.newContext()
    await other.addCookies(await context.cookies())
    const shown = await other.newPage()
    await shown.goto(`${origin}/`)
    await shown.clock.install()
    await shown.reload()
    // Also where the focus is in the page, which is why nothing is replaced then.
    await shown.locator('main a').first().focus()
    await shown.route('**/*', (route) => route.abort())
    await shown.clock.runFor(11_000)
    await shown.getByRole('alert').filter({ hasText: 'dirsyncd does not answer. This page shows' }).waitFor()
    await shown.unrouteAll()
    await shown.clock.runFor(11_000)
    await shown.getByRole('alert').waitFor({ state: 'detached' })
    await other.clearCookies()
    await shown.clock.runFor(11_000)
    await shown.getByRole('alert').filter({ hasText: 'You are not signed in any more.' }).waitFor()
    await other.close()
  })

  test('the changes of a run are downloaded and undone', async () => {
    await write(people.slice(0, -1))
    await runNow()
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Changes as CSV' }).click()
    expect((await download).suggestedFilename()).toMatch(/^run-\d+-changes\.csv$/)
    await page.getByRole('link', { name: 'Undo this run' }).click()
    await page.getByRole('button', { name: 'Show the plan' }).click()
    await page.getByRole('button', { name: 'Put this back and pause the sync' }).click()
    await page.locator('h1 .badge', { hasText: 'done' }).waitFor()
    expect(await page.locator('main').innerText()).toContain('1 create-user')
  })

  test('a phone and a dark screen show every page without a barrier, and so does a browser without scripts', async () => {
    const urls = ['/', '/runs', '/runs/1', '/runs/1/changes/1', '/runs/1/undo', '/syncs/corp', '/quarantine']
    const cookies = await context.cookies()
    const phone = { viewport: { width: 390, height: 844 } }
    const dark = { colorScheme: 'dark' } as const
    for (const options of [phone, dark, { javaScriptEnabled: false }]) {
      const other = await browser.newContext(options)
      await other.addCookies(cookies)
      const shown = await other.newPage()
      const noise = watchPage(shown, origin)
      for (const url of urls) {
        await shown.goto(`${origin}${url}`)
        const isWide = await shown.evaluate('document.documentElement.scrollWidth > innerWidth')
        expect([url, isWide]).toEqual([url, false])
        if (!('javaScriptEnabled' in options)) expect([url, await findBarriers(shown)]).toEqual([url, []])
      }
      expect(noise).toEqual([])
      await other.close()
    }
  })
}
