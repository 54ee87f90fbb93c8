import { expect, test } from 'vitest'
import { statusPage } from '../../../src/admin/pages/status.ts'
import { runOf } from '../cli/runs-for-tests.ts'

test('a hold of which a part is decided says what was decided', () => {
  const breaches = [
    { guard: 'reborn', detail: '19 are back', changes: 19, waitsFor: 'better-read', decided: 'approved' },
    { guard: 'container-emptied', detail: 'nobody is left', changes: 20, waitsFor: 'person' },
  ] as const
  const page = statusPage([runOf({ state: 'done', hold: 'open', breaches })], [])
  expect(page).toContain('<li>19 are back (reborn: approved)</li>')
  expect(page).toContain('<li>nobody is left (container-emptied)</li>')
})

const SCRIPT = `<script src="https://evil.example/x.js">&'</script>`

test('a name from outside runs no script in the page of an administrator', () => {
  const held = runOf({
    sync: `sync ${SCRIPT}`,
    state: 'held',
    hold: 'open',
    breaches: [{ guard: `guard ${SCRIPT}`, detail: `detail ${SCRIPT}`, changes: 1 }],
  })
  const failed = runOf({ state: 'failed', error: `the directory said ${SCRIPT}` })
  const page = statusPage([held, failed], [])
  expect(page).not.toContain('<script')
  const escaped = '&lt;script src=&quot;https://evil.example/x.js&quot;&gt;&amp;'
  for (const words of ['Run 12 of sync', 'guard', 'detail', 'the directory said']) {
    expect(page).toContain(`${words} ${escaped}`)
  }
})

test('a run that waits for its directory says until when', () => {
  const at = '2026-11-21T14:05:30.000Z'
  const said = (why: 'limited' | 'outage') =>
    statusPage([runOf({ state: 'applying', finishedAt: null, waitsUntil: { at, why } })], [])
  expect(said('limited')).toContain('>waits for the API until 14:05:30Z (the service asked for it with 429)<')
  expect(said('outage')).toContain('>the directory does not answer; next try at 14:05:30Z<')
})
