import { expect, test } from 'vitest'
import type { Claimed } from '../../../src/apply/claim.ts'
import { judge, Streaks } from '../../../src/apply/judge.ts'
import { noFindings } from '../../../src/apply/outcomes.ts'

const CLAIMED: Claimed = {
  number: 1,
  change: { op: 'create-user', id: 'u1', want: {} },
  fingerprint: 'f',
  attempts: 1,
  refusals: 0,
  tail: false,
  unsure: false,
}

function judgeAlone(outcome: Parameters<typeof judge>[2]) {
  const findings = noFindings()
  const deps = { run: 1, streaks: new Streaks(), findings, retry: { phase: 5, tail: 5 }, isProbe: false }
  const judged = judge({ ...deps, outages: 0, isQuarantined: () => false }, CLAIMED, outcome)
  return { ...judged, pause: findings.pause }
}

test('a change that was answered with 429 costs no attempt, and nothing more is sent', () => {
  expect(judgeAlone({ result: 'rate-limited', retryAfterMs: 3000 })).toMatchObject({
    settled: { state: 'pending', attempts: 0, unsure: false },
    stops: true,
    pause: { why: 'limited', ms: 3000 },
  })
})

test('a lost answer whose look was answered with 429 is looked up after the pause', () => {
  const lost = { result: 'unavailable', status: 429, detail: 'no', answeredBy: 'service' } as const
  expect(judgeAlone({ ...lost, retryAfterMs: 3000 })).toMatchObject({
    settled: { state: 'pending', attempts: 1, unsure: true },
    stops: true,
    pause: { why: 'limited', ms: 3000 },
  })
  expect(judgeAlone(lost)).toMatchObject({ stops: false, pause: undefined })
})
