import { takesAway } from '../../core/plan/change.ts'
import type { Outcome } from '../../core/plan/outcome.ts'
import type { Times } from '../../queue/times.ts'
import type { Claimed } from './job.ts'
import type { Findings, Settled } from './outcomes.ts'

/** Attempts before a change goes to the retry stage. */
const PHASE_ATTEMPTS = 2
/** Attempts in all before a change fails. */
const ATTEMPTS = 5
/** After so many failures in a row without an answer, there is an outage. */
const OUTAGE_AFTER = 5
/** After more different changes than these fail in a row, treat it as an outage. */
const FAULTY_CHANGES = 20
/** After more updates in a row than these that are answered 404, stop: this is not the directory that was read. */
const MOST_NOT_FOUND = 20

/** Failures in a row at a target, over all chunks of one sync. */
export class FailureCounters {
  unanswered = 0
  isOutage = false
  failure = ''
  #run = 0
  /** The changes of the run that failed since the last success. */
  readonly #failing = new Set<number>()
  #notFound = 0

  enterRun(run: number): void {
    if (run === this.#run) return
    this.#run = run
    this.#failing.clear()
    this.#notFound = 0
  }

  /** Counts different changes: one at which the API always fails is no outage. */
  addFailing(change: number): { readonly isFirst: boolean; readonly count: number } {
    const isFirst = !this.#failing.has(change)
    this.#failing.add(change)
    return { isFirst, count: this.#failing.size }
  }

  seeAnswer(isFailure: boolean): void {
    if (!isFailure) this.#failing.clear()
    this.unanswered = 0
    this.isOutage = false
  }

  /** Returns how many entries in a row were not found. */
  seeEntry(isFound: boolean): number {
    this.#notFound = isFound ? 0 : this.#notFound + 1
    return this.#notFound
  }
}

export interface Judged {
  readonly settled: Settled
  readonly stops: boolean
}

export interface JudgeDeps {
  readonly run: number
  readonly counters: FailureCounters
  readonly findings: Findings
  readonly retry: Times['retry']
  /** Outages of the target before the claim: this change tests whether it answers again. */
  readonly outages: number
  /** A quarantined change needs no decision about its 403. */
  readonly isQuarantined: (fingerprint: string) => boolean
}

/**
 * Decides the outcomes of the changes of one request, and notes in `findings` what they mean for the run and the target.
 * One answer counts once in a row of failures.
 */
export function judge(deps: JudgeDeps, changes: readonly Claimed[], outcome: Outcome): readonly Judged[] {
  const [first] = changes
  if (first === undefined) return []
  const isOut = seeOutage(deps, first, outcome)
  return changes.map((change) => judgeOne(deps, change, outcome, isOut))
}

function judgeOne(deps: JudgeDeps, change: Claimed, outcome: Outcome, isOut: boolean): Judged {
  switch (outcome.result) {
    case 'applied':
    case 'found':
    case 'already':
    case 'missing':
      return done(deps, change, outcome)
    case 'rate-limited':
      deps.findings.pause = { why: 'limited', ms: outcome.retryAfterMs }
      return { settled: notTried(change), stops: true }
    case 'refused':
      return { settled: refused(change, outcome), stops: false }
    case 'not-shown': {
      const { status, detail } = outcome
      return { settled: { ...again(change, false), state: 'failed', status, detail }, stops: false }
    }
    case 'forbidden':
      if (deps.isQuarantined(change.fingerprint)) return { settled: refused(change, outcome), stops: false }
      return { settled: forbidden(deps, change, outcome), stops: false }
    case 'stop': {
      const { code, detail } = outcome
      deps.findings.stop ??= { code, detail }
      return { settled: { ...again(change, true), detail }, stops: true }
    }
    case 'unavailable': {
      const ms = outcome.retryAfterMs
      if (ms !== undefined) deps.findings.pause = { why: 'limited', ms }
      const { settled, stops } = isOut ? outage(deps, change, outcome) : unavailable(deps, change, outcome)
      // A slow service may still create the entry; one that accepts an id twice would then have two.
      const isLate = outcome.timedOut === true && change.change.op.startsWith('create-')
      return {
        settled: isLate ? { ...settled, waitMs: deps.retry.timedOut } : settled,
        stops: stops || ms !== undefined,
      }
    }
  }
}

export function notTried(change: Claimed): Settled {
  return { ...again(change, change.unsure), attempts: change.attempts - 1 }
}

/** Nothing is sent, because a change that this one needs was not made: it waits for the retry stage, or fails. */
export function unmet(change: Claimed): Settled {
  if (change.unmet === 'waits') return { ...notTried(change), retry: true }
  return { ...notTried(change), state: 'failed', detail: whyUnmet(change) }
}

function whyUnmet({ unmet: why, change }: Claimed): string {
  if (why === 'undecided')
    return 'the list of the directory was not whole, so another user may have this e-mail; the next run decides'
  return 'takes' in change && change.takes !== undefined
    ? `the e-mail is still that of "${change.takes.from}", who could not be changed`
    : 'the group, or each user that it adds, was not created'
}

/** The request was cut off, so the outcome is unknown. */
export function cutOff(change: Claimed): Settled {
  return again(change, true)
}

function again({ number, attempts, refusals, retry }: Claimed, unsure: boolean): Settled {
  return { number, state: 'pending', attempts, refusals, retry, unsure }
}

function done(
  deps: JudgeDeps,
  change: Claimed,
  outcome: Extract<Outcome, { readonly requests: number }>,
): Judged {
  const { result: state, status, requests, mixedUp } = outcome
  if (mixedUp !== undefined)
    deps.findings.stop ??= { code: 'directory-unexpected', detail: mixedUp, failed: change.change.op }
  // An earlier attempt, whose answer was lost, may have created the entry.
  const wasThere = outcome.wasThere === true && !change.unsure
  const settled = { ...again(change, false), state, status, requests, wasThere }
  const isLost = isOtherDirectory(deps, state)
  return { settled, stops: isLost || mixedUp !== undefined }
}

/** Whether so many entries are missing that the directory cannot be the one that was read. */
function isOtherDirectory({ counters, findings }: JudgeDeps, state: Outcome['result']): boolean {
  const inRow = counters.seeEntry(state !== 'missing')
  if (inRow <= MOST_NOT_FOUND) return false
  const detail = `${inRow} entries in a row that the directory has just listed are not in it any more`
  findings.stop ??= { code: 'directory-unexpected', detail: `${detail}; the next run reads it again` }
  return true
}

interface Answer {
  readonly status: number | undefined
  readonly detail: string
}

function refused(change: Claimed, { status, detail }: Answer): Settled {
  // The owner of the e-mail loses it in this run, so it may be free in the retry stage.
  if (!change.retry && 'takes' in change.change)
    return { ...again(change, false), retry: true, status, detail }
  return { ...again(change, false), state: 'quarantined', status, detail }
}

/** A 403 may be about the token, so one retry follows in the retry stage. */
function forbidden({ retry }: JudgeDeps, change: Claimed, { status, detail }: Answer): Settled {
  // A service that forbids everything for some seconds may have recovered by then.
  const later = { retry: true, waitMs: retry.stage, isRefusal: true, refusals: change.refusals + 1 }
  return { ...again(change, true), ...later, status, detail }
}

/** The target does not answer: sending pauses, and the attempt does not count against the change. */
function outage({ findings }: JudgeDeps, change: Claimed, { status, detail }: Answer): Judged {
  findings.pause ??= { why: 'outage' }
  const settled = { ...again(change, true), attempts: change.attempts - 1, status, detail }
  return { settled, stops: true }
}

function unavailable({ retry }: JudgeDeps, change: Claimed, { status, detail }: Answer): Judged {
  const settled = { ...again(change, true), status, detail }
  const { attempts } = change
  if (attempts >= ATTEMPTS) return { settled: { ...settled, state: 'failed', unsure: false }, stops: false }
  if (change.retry)
    return { settled: { ...settled, waitMs: retry.stage * 2 ** (attempts - PHASE_ATTEMPTS) }, stops: false }
  if (attempts >= PHASE_ATTEMPTS) return { settled: { ...settled, retry: true }, stops: false }
  // The retry stage begins with another recheck.
  const later = { waitMs: retry.phase, retry: takesAway(change.change) }
  return { settled: { ...settled, ...later }, stops: false }
}

/** Counts failures in a row; any answer ends an outage. Returns whether there is an outage. */
function seeOutage(deps: JudgeDeps, { number }: Claimed, outcome: Outcome): boolean {
  const { run, counters, findings, outages } = deps
  counters.enterRun(run)
  if (outcome.result === 'unavailable' && isOutageOf(deps, number, outcome.answeredBy)) {
    counters.unanswered += 1
    counters.failure = outcome.detail
    counters.isOutage ||= outages > 0 || counters.unanswered >= OUTAGE_AFTER
    return counters.isOutage
  }
  counters.seeAnswer(outcome.result === 'unavailable')
  if (outages > 0) findings.answers = true
  return false
}

/**
 * One change at which the API always fails must not block the others or the end of the run; neither must one that a
 * proxy always answers with a web page. So only different changes in a row are an outage.
 */
function isOutageOf(
  { counters, outages }: JudgeDeps,
  change: number,
  answeredBy: 'service' | 'proxy' | 'nobody',
): boolean {
  const { isFirst, count } = counters.addFailing(change)
  switch (answeredBy) {
    case 'nobody':
      return true
    case 'proxy':
      return isFirst || outages > 0
    case 'service':
      return count > FAULTY_CHANGES
  }
}
