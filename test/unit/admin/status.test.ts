import { expect, test } from 'vitest'
import { statusPage } from '../../../src/admin/pages/status.ts'
import { runOf } from '../cli/runs-for-tests.ts'

const SCRIPT = `<script src="https://evil.example/x.js">&'</script>`

test('a name from outside runs no script in the page of an administrator', () => {
  const held = runOf({
    sync: `sync ${SCRIPT}`,
    state: 'held',
    hold: 'open',
    breaches: [{ guard: `guard ${SCRIPT}`, detail: `detail ${SCRIPT}`, changes: 1 }],
  })
  const failed = runOf({ state: 'failed', error: `the directory said ${SCRIPT}` })
  const page = statusPage([held, failed])
  expect(page).not.toContain('<script')
  const escaped = '&lt;script src=&quot;https://evil.example/x.js&quot;&gt;&amp;'
  for (const words of ['Run 12 of sync', 'guard', 'detail', 'the directory said']) {
    expect(page).toContain(`${words} ${escaped}`)
  }
})
