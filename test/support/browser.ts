import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { program } from './packages.ts'

/** A name of this machine that Chromium takes for one of another machine, to which it does not speak TLS. */
export const OTHER_MACHINE = 'pages.example'

/** Debian's Chromium, which asks nobody outside of this machine for anything. */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: program('chromium'),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--host-resolver-rules=MAP ${OTHER_MACHINE} 127.0.0.1`,
    ],
  })
}

/** What went wrong on a page that a browser shows: errors of scripts, refused resources, requests to others. */
export function watchPage(page: Page, origin: string): readonly string[] {
  const troubles: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') troubles.push(message.text())
  })
  page.on('pageerror', (error) => troubles.push(error.message))
  page.on('dialog', (dialog) => {
    troubles.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) troubles.push(`a request to ${request.url()}`)
  })
  return troubles
}

/** What axe-core finds that keeps people out, of the gravest two kinds. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  // By the protocol of the browser's tools, which the policy of the page does not forbid.
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run())
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

interface Axe {
  run(): Promise<{ readonly violations: readonly Violation[] }>
}

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string }[]
}
