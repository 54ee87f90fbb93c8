import type { RateLimit } from '../http/rate-limiter.ts'
import { DirsyncdError } from '../../base/errors.ts'
import { parseDuration } from '../../base/duration.ts'

export type FaultKind = '500' | '429' | 'latency' | 'drop-before' | 'drop-after'

export interface FaultShare {
  readonly kind: FaultKind
  /** Of all requests, 0 to 1. A request gets one fault at most. */
  readonly share: number
  /** In milliseconds: how long `latency` waits, and the `Retry-After` of `429`. */
  readonly wait: number
}

export interface Faults {
  readonly shares: readonly FaultShare[]
  readonly limit: RateLimit | undefined
  /** From 0 up to 1; called once per request. */
  readonly random: () => number
}

const DEFAULT_WAIT = { '500': 0, '429': 1000, latency: 500, 'drop-before': 0, 'drop-after': 0 } as const
const TAKES_WAIT: ReadonlySet<FaultKind> = new Set(['429', 'latency'])
const EXAMPLE = '"500=0.1,429=0.1:1s,latency=0.1:200ms,drop-before=0.1,drop-after=0.1,limit=50/1s,seed=7"'

/**
 * Parses `--faults`: the share of each kind, for `429` and `latency` with an optional wait after a colon;
 * `limit=REQUESTS/DURATION` (429 above it); `seed=NUMBER` (the same faults in each run). Throws
 * `DirsyncdError('usage')`.
 */
export function parseFaults(text: string): Faults {
  const shares = new Map<FaultKind, FaultShare>()
  let limit: RateLimit | undefined
  let random = Math.random
  for (const part of text.split(',')) {
    const [name, value] = splitOnce(part.trim(), '=')
    if (value === undefined) throw faultsError(`"${part}" has no "="`)
    if (name === 'limit') limit = parseLimit(value)
    else if (name === 'seed') random = seededRandom(parseSeed(value))
    else if (!isFaultKind(name)) throw faultsError(`"${name}" is not a fault`)
    else if (shares.has(name)) throw faultsError(`"${name}" is there twice`)
    else shares.set(name, parseShare(name, value))
  }
  const sum = [...shares.values()].reduce((total, { share }) => total + share, 0)
  if (sum > 1 + Number.EPSILON * 8) throw faultsError(`the shares add up to ${sum}, which is more than 1`)
  return { shares: [...shares.values()], limit, random }
}

export function drawFault({ shares, random }: Faults): FaultShare | undefined {
  let drawn = random()
  for (const share of shares) {
    if (drawn < share.share) return share
    drawn -= share.share
  }
  return undefined
}

/** Deterministic, 0 up to 1 (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function isFaultKind(name: string): name is FaultKind {
  return Object.hasOwn(DEFAULT_WAIT, name)
}

function parseShare(kind: FaultKind, value: string): FaultShare {
  const [number, duration] = splitOnce(value, ':')
  const share = Number(number)
  if (number.trim() === '' || !(share >= 0 && share <= 1)) {
    throw faultsError(`the share of "${kind}" is "${number}" and must be a number from 0 to 1`)
  }
  if (duration === undefined) return { kind, share, wait: DEFAULT_WAIT[kind] }
  if (!TAKES_WAIT.has(kind)) throw faultsError(`"${kind}" takes no duration`)
  return { kind, share, wait: positiveDuration(duration, kind) }
}

function parseLimit(value: string): RateLimit {
  const [number, duration] = splitOnce(value, '/')
  const requests = Number(number)
  if (duration === undefined || !Number.isInteger(requests) || requests < 1) {
    throw faultsError(`the limit is "${value}" and must be like "50/1s"`)
  }
  return { requests, per: positiveDuration(duration, 'limit') }
}

function parseSeed(value: string): number {
  const seed = Number(value)
  if (value.trim() === '' || !Number.isSafeInteger(seed))
    throw faultsError(`the seed "${value}" is not a whole number`)
  return seed
}

function positiveDuration(text: string, name: string): number {
  const duration = parseDuration(text)
  if (duration !== undefined && duration > 0) return duration
  throw faultsError(`the duration "${text}" of "${name}" must be like "200ms" or "1s"`)
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

function faultsError(what: string): DirsyncdError {
  return new DirsyncdError('usage', `The faults cannot be understood: ${what}; write them like ${EXAMPLE}.`)
}
