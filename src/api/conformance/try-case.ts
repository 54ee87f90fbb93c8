import type { Endpoint } from '../contract/endpoints.ts'
import { NoAnswer } from './answer.ts'
import type { Case, Row } from './cases/case.ts'
import type { Mismatch } from './checks.ts'
import { type Probing, requireWrites, TRIES, TRY_AGAIN_MS } from './probing.ts'
import { differs, NO_DIFFERENCES, type Result, Unchecked, type Verdict } from './verdict.ts'

type Try =
  | { readonly state: 'ok' | 'differs'; readonly verdict: Verdict }
  /** A server error, or no answer. */
  | { readonly state: 'failed'; readonly verdict: Verdict; readonly closed: boolean }
  | { readonly state: 'not-checked'; readonly reason: string }

type Finding = Pick<Result, 'state' | 'differences' | 'notes' | 'reason' | 'passingFault'>

/**
 * Tries a case again before it reports a difference, because the reason may be temporary: a fault of the service, or
 * another program that writes to it.
 */
export async function tryCase(probing: Probing, row: Row, each: Case): Promise<Result> {
  const { number, method, path }: Endpoint = row.endpoint
  const { operation } = row
  const base = { operation, number, method, path, probe: each.name }
  const until = performance.now() + TRY_AGAIN_MS
  const tries: Try[] = []
  for (;;) {
    tries.push(await tryOnce(probing, row, each))
    const mayTryAgain = tries.length < 2 || (tries.length < TRIES && performance.now() < until)
    const finding = conclude(tries, each, mayTryAgain)
    if (finding !== undefined) return { ...base, ...finding }
    if (!(await answersPlainRequest(probing))) {
      return { ...base, ...unclear(tries, 'then plain requests failed, too') }
    }
    probing.lists.clear()
  }
}

async function tryOnce(probing: Probing, { operation, endpoint }: Row, each: Case): Promise<Try> {
  try {
    if (endpoint.method !== 'GET') requireWrites(probing.tested)
    const refused = each.needsScope ? probing.refused.get(operation) : undefined
    if (refused !== undefined) throw new Unchecked(refused)
    const verdict = withoutTokens(probing, await each.try(probing))
    if (verdict.serverError === true) return { state: 'failed', verdict, closed: false }
    return { state: verdict.differences.length > 0 ? 'differs' : 'ok', verdict }
  } catch (error) {
    if (error instanceof Unchecked) return { state: 'not-checked', reason: error.message }
    if (!(error instanceof NoAnswer)) throw error
    return { state: 'failed', verdict: differs('an answer', error.message), closed: error.closed }
  } finally {
    await probing.removeEntries()
  }
}

/** If the service answers one of these requests, it works, and failed because of the case. */
async function answersPlainRequest(probing: Probing): Promise<boolean> {
  for (const operation of ['getDirectory', 'listDirectories'] as const) {
    try {
      if ((await probing.sendUntilAnswered(operation)).status < 500) return true
    } catch (error) {
      if (!(error instanceof NoAnswer || error instanceof Unchecked)) throw error
    }
  }
  return false
}

/** `undefined` if another try is needed. */
function conclude(
  tries: readonly Try[],
  { mayClose = false }: Case,
  mayTryAgain: boolean,
): Finding | undefined {
  const last = tries.at(-1)
  if (last?.state === 'not-checked') {
    return tries.length === 1 ? { state: last.state, ...NO_DIFFERENCES, reason: last.reason } : unclear(tries)
  }
  const failed = tries.filter(isFailed)
  const [first, second] = tries.filter(isJudged)
  if (first === undefined) {
    if (mayClose && failed.length > 1 && failed.every(({ closed }) => closed)) return CLOSED
    return mayTryAgain ? undefined : ofVerdict(failed.at(-1)!.verdict)
  }
  if (first.state === 'ok') return { ...ofVerdict(first.verdict), ...passingFaultOf(failed) }
  if (second !== undefined) return agree(first.verdict, second.verdict) ?? unclear(tries)
  return mayTryAgain ? undefined : unclear(tries)
}

function isFailed(each: Try): each is Extract<Try, { state: 'failed' }> {
  return each.state === 'failed'
}

function isJudged(each: Try): each is Extract<Try, { state: 'ok' | 'differs' }> {
  return each.state === 'ok' || each.state === 'differs'
}

const CLOSED: Finding = {
  state: 'ok',
  differences: [],
  notes: [{ expected: 'an answer', actual: 'a closed connection' }],
}

function ofVerdict({ differences, notes }: Verdict): Finding {
  return { state: differences.length > 0 ? 'differs' : 'ok', differences, notes }
}

function passingFaultOf([failed]: readonly { readonly verdict: Verdict }[]): Pick<Finding, 'passingFault'> {
  return failed === undefined ? {} : { passingFault: failed.verdict.differences[0]?.actual ?? SERVER_ERROR }
}

const SERVER_ERROR = 'a server error'

/** Keeps the differences that both tries show, although the second one made entries with other ids and names. */
function agree(first: Verdict, second: Verdict): Finding | undefined {
  const kinds = new Set(first.differences.map(kindOf))
  const differences = second.differences.filter((difference) => kinds.has(kindOf(difference)))
  return differences.length > 0 ? { state: 'differs', differences, notes: second.notes } : undefined
}

/** The expectation without the numbers and quoted texts in it. */
function kindOf({ expected }: Mismatch): string {
  return expected.replaceAll(/"[^"]*"|\d+/g, '…')
}

function unclear(tries: readonly Try[], then?: string): Finding {
  const said = tries.map((each, index) => `try ${index + 1}: ${textOf(each)}`)
  const reason = [...said, ...(then === undefined ? [] : [then])].join('; ')
  return { state: 'unclear', ...NO_DIFFERENCES, reason }
}

function textOf(each: Try): string {
  if (each.state === 'not-checked') return each.reason
  if (each.state === 'ok') return 'as expected'
  const texts = each.verdict.differences.map(({ expected, actual }) => `expected ${expected}, got ${actual}`)
  return texts.join(' and ') || SERVER_ERROR
}

/** A service may repeat parts of the request in its answer. */
function withoutTokens({ tested }: Probing, verdict: Verdict): Verdict {
  const { expired, without = {} } = tested.tokens ?? {}
  const tokens = [tested.token, expired, ...Object.values(without)].filter((token) => token !== undefined)
  const clean = (text: string) => tokens.reduce((rest, token) => rest.replaceAll(token, '[token]'), text)
  const mask = (mismatches: Verdict['notes']) =>
    mismatches.map(({ expected, actual }) => ({ expected: clean(expected), actual: clean(actual) }))
  return { ...verdict, differences: mask(verdict.differences), notes: mask(verdict.notes) }
}
