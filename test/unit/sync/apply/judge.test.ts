import { expect, test } from 'vitest'
import type { Claimed } from '../../../../src/sync/apply/job.ts'
import {
  cutOff,
  FailureCounters,
  judge as judgeAll,
  type Judged,
  type JudgeDeps,
  notTried,
} from '../../../../src/sync/apply/judge.ts'
import type { Outcome } from '../../../../src/core/plan/outcome.ts'

const CHANGE: Claimed = {
  number: 1,
  change: { op: 'create-user', id: 'u1', want: { name: 'Ada' } },
  fingerprint: 'f',
  attempts: 1,
  refusals: 0,
  retry: false,
  unsure: false,
}
const TAKER: Claimed = {
  ...CHANGE,
  change: { ...CHANGE.change, takes: { from: 'u2', after: 1 } } as Claimed['change'],
}

function newDeps(more: Partial<JudgeDeps> = {}): JudgeDeps {
  return {
    run: 1,
    counters: new FailureCounters(),
    findings: {},
    retry: { phase: 5, stage: 10, timedOut: 60 },
    outages: 0,
    isQuarantined: () => false,
    ...more,
  }
}

function judge(deps: JudgeDeps, change: Claimed, outcome: Outcome): Judged {
  const [judged] = judgeAll(deps, [change], outcome)
  return judged!
}

const done = (result: 'applied' | 'found' | 'already' | 'missing'): Outcome => ({
  result,
  status: 200,
  requests: 1,
})
function stop(code: 'token-refused' | 'directory-unknown'): Outcome {
  return { result: 'stop', code, detail: 'no' }
}

const FORBIDDEN: Outcome = { result: 'forbidden', status: 403, detail: 'no' }
const REFUSED: Outcome = { result: 'refused', status: 422, detail: 'no' }

function unavailable(answeredBy: 'service' | 'proxy' | 'nobody' = 'service'): Outcome {
  return { result: 'unavailable', status: 500, detail: 'no', answeredBy }
}

test.each(['applied', 'found', 'already', 'missing'] as const)(
  'a change that is %s has its final state',
  (result) => {
    const unsure = { ...CHANGE, unsure: true }
    expect(judge(newDeps(), unsure, done(result))).toMatchObject({
      settled: { number: 1, state: result, status: 200, requests: 1, unsure: false },
      stops: false,
    })
  },
)

test('who was there is proof of a short list, but not where an earlier attempt may have created them', () => {
  const found = { ...done('found'), wasThere: true } as Outcome
  expect(judge(newDeps(), CHANGE, found).settled.wasThere).toBe(true)
  expect(judge(newDeps(), { ...CHANGE, unsure: true }, found).settled.wasThere).toBe(false)
})

test('429 pauses the target and costs the change nothing', () => {
  const deps = newDeps()
  const judged = judge(deps, CHANGE, { result: 'rate-limited', retryAfterMs: 7000 })
  expect(judged).toMatchObject({ settled: { state: 'pending', attempts: 0, unsure: false }, stops: true })
  expect(deps.findings.pause).toEqual({ why: 'limited', ms: 7000 })
})

test('a lost answer whose look was answered with 429 is looked up after the pause', () => {
  const lost = { result: 'unavailable', status: 429, detail: 'no', answeredBy: 'service' } as const
  const deps = newDeps()
  expect(judge(deps, CHANGE, { ...lost, retryAfterMs: 3000 })).toMatchObject({
    settled: { state: 'pending', attempts: 1, unsure: true },
    stops: true,
  })
  expect(deps.findings.pause).toEqual({ why: 'limited', ms: 3000 })
  expect(judge(newDeps(), CHANGE, lost)).toMatchObject({ stops: false })
})

test('a refused change is quarantined, and one that takes an e-mail is tried again at the end', () => {
  expect(judge(newDeps(), CHANGE, REFUSED)).toMatchObject({
    settled: { state: 'quarantined', status: 422 },
  })
  expect(judge(newDeps(), TAKER, REFUSED).settled).toMatchObject({ state: 'pending', retry: true })
  expect(judge(newDeps(), { ...TAKER, retry: true }, REFUSED).settled.state).toBe('quarantined')
})

test('a forbidden change waits for the retry stage, and counts in the row of refusals', () => {
  const deps = newDeps()
  const { settled } = judge(deps, CHANGE, FORBIDDEN)
  expect(settled).toMatchObject({
    state: 'pending',
    retry: true,
    refusals: 1,
    isRefusal: true,
    unsure: true,
    waitMs: 10,
  })
  expect(judge(deps, { ...CHANGE, refusals: 1 }, FORBIDDEN).settled.refusals).toBe(2)
})

test('a forbidden change that was in quarantine is quarantined again, and counts for nothing', () => {
  const deps = newDeps({ isQuarantined: (fingerprint) => fingerprint === 'f' })
  const { settled } = judge(deps, CHANGE, FORBIDDEN)
  expect(settled.state).toBe('quarantined')
  expect(settled.isRefusal).toBeUndefined()
})

test('what stops a run leaves its change to be looked up, and the first reason stays', () => {
  const deps = newDeps()
  expect(judge(deps, CHANGE, stop('token-refused'))).toMatchObject({
    settled: { state: 'pending', unsure: true, attempts: 1 },
    stops: true,
  })
  judge(deps, CHANGE, stop('directory-unknown'))
  expect(deps.findings.stop).toEqual({ code: 'token-refused', detail: 'no' })
})

test.each([
  ['at first', { attempts: 1 }, { state: 'pending', retry: false, waitMs: 5 }],
  ['twice', { attempts: 2 }, { state: 'pending', retry: true }],
  ['at the end of the run', { attempts: 3, retry: true }, { state: 'pending', retry: true, waitMs: 20 }],
  ['once more there', { attempts: 4, retry: true }, { state: 'pending', retry: true, waitMs: 40 }],
])('a change that fails %s is tried again, and looked up before', (_, before, after) => {
  const { settled } = judge(newDeps(), { ...CHANGE, ...before }, unavailable())
  expect(settled).toMatchObject({ ...after, unsure: true, attempts: before.attempts })
})

test.each([
  ['a create that timed out', CHANGE, true, 60],
  ['a create that failed at once', CHANGE, false, 5],
  ['an update that timed out', { ...CHANGE, change: { ...CHANGE.change, op: 'update-user' } }, true, 5],
] as const)(
  '%s waits for a service that may still create it, and only then',
  (_, change, timedOut, waitMs) => {
    const outcome = { ...unavailable(), timedOut } as Outcome
    const { settled } = judge(newDeps(), { ...change, attempts: 1 } as Claimed, outcome)
    expect(settled).toMatchObject({ unsure: true, waitMs })
  },
)

test('a create that timed out waits as long for its service in an outage', () => {
  const outcome = { ...unavailable('nobody'), timedOut: true } as Outcome
  const { settled, stops } = judge(newDeps({ outages: 1 }), CHANGE, outcome)
  expect({ settled, stops }).toMatchObject({ settled: { state: 'pending', waitMs: 60 }, stops: true })
})

test('a change that fails five times has failed', () => {
  const { settled } = judge(newDeps(), { ...CHANGE, attempts: 5, retry: true }, unavailable())
  expect(settled).toMatchObject({ state: 'failed', unsure: false })
})

/** Judges the same outcome of changes with these numbers, and tells which of them met an outage. */
function outagesOf(deps: JudgeDeps, numbers: readonly number[], outcome: Outcome): number[] {
  return numbers.filter((number) => {
    const before = deps.findings.pause
    deps.findings.pause = undefined
    const { settled, stops } = judge(deps, { ...CHANGE, number }, outcome)
    const isOut = stops && settled.attempts === 0 && deps.findings.pause !== undefined
    deps.findings.pause ??= before
    return isOut
  })
}

const upTo = (length: number) => Array.from({ length }, (_, index) => index + 1)

test('five failures in a row that nobody answered are an outage, which costs no change a try', () => {
  const deps = newDeps()
  expect(outagesOf(deps, upTo(6), unavailable('nobody'))).toEqual([5, 6])
  expect(deps.findings.pause).toEqual({ why: 'outage' })
  expect(deps.counters.isOutage).toBe(true)
})

test('an answer of any kind ends an outage', () => {
  const deps = newDeps()
  outagesOf(deps, upTo(6), unavailable('nobody'))
  judge(deps, CHANGE, REFUSED)
  expect(deps.counters.isOutage).toBe(false)
  expect(outagesOf(deps, upTo(4), unavailable('nobody'))).toEqual([])
})

test('one change that a proxy always answers is no outage, but five different ones are', () => {
  expect(outagesOf(newDeps(), [1, 1, 1, 1, 1, 1], unavailable('proxy'))).toEqual([])
  expect(outagesOf(newDeps(), upTo(5), unavailable('proxy'))).toEqual([5])
})

test('twenty different changes that the service fails at are their own fault, and more are an outage', () => {
  expect(outagesOf(newDeps(), upTo(25), unavailable('service'))).toEqual([25])
  expect(
    outagesOf(
      newDeps(),
      Array.from({ length: 40 }, () => 1),
      unavailable('service'),
    ),
  ).toEqual([])
})

test('after an outage the first failure that is no answer is the next one, and an answer ends it', () => {
  const deps = newDeps({ outages: 1 })
  deps.counters.addFailing(1)
  expect(outagesOf(deps, [1], unavailable('proxy'))).toEqual([1])
  expect(deps.findings.answers).toBeUndefined()
  judge(deps, CHANGE, FORBIDDEN)
  expect(deps.findings.answers).toBe(true)
})

test('21 entries in a row that are missing stop the run, and one that is there begins the row anew', () => {
  const deps = newDeps()
  for (let turn = 0; turn < 20; turn++) expect(judge(deps, CHANGE, done('missing')).stops).toBe(false)
  judge(deps, CHANGE, done('applied'))
  for (let turn = 0; turn < 20; turn++) expect(judge(deps, CHANGE, done('missing')).stops).toBe(false)
  expect(deps.findings.stop).toBeUndefined()
  expect(judge(deps, CHANGE, done('missing')).stops).toBe(true)
  expect(deps.findings.stop?.code).toBe('directory-unexpected')
})

test('a change that was not sent counts for nothing, and one that was cut off is looked up', () => {
  expect(notTried(CHANGE)).toMatchObject({ state: 'pending', attempts: 0, unsure: false })
  expect(notTried({ ...CHANGE, unsure: true }).unsure).toBe(true)
  expect(cutOff(CHANGE)).toMatchObject({ state: 'pending', attempts: 1, unsure: true })
})
