import { STATUS_CODES } from 'node:http'
import { systemCode } from '../../base/errors.ts'
import type { ApiErrorKind, Failure } from './api-error.ts'
import type { ExchangeError, Reply } from './exchange.ts'
import { explainNetworkError } from './network-error.ts'
import { parseRetryAfter } from './retry-after.ts'

const DETAIL_LENGTH = 300

export const WEB_PAGE = 'HTML, as a proxy or a login page does'

/** For an answer other than 2xx. `[hidden]` replaces the `secrets` in its text. */
export function failureOfReply(
  reply: Reply,
  write: boolean,
  secrets: readonly string[],
  now: number,
): Failure {
  const { status } = reply
  const detail = detailOf(reply, secrets)
  const kind = isLimit(reply) ? 'rate-limited' : kindOfStatus(status)
  const name = STATUS_CODES[status] === undefined ? '' : ` ${STATUS_CODES[status]}`
  const isPage = isWebPage(reply)
  const content = isPage ? ` with ${WEB_PAGE}` : detail === undefined ? '' : `: ${detail}`
  const more = kind === 'unexpected-answer' ? redirectText(reply) : content
  return {
    kind,
    status,
    detail,
    foreign: isPage ? 'web-page' : kind === 'unexpected-answer' ? 'redirect' : undefined,
    retryAfterMs: parseRetryAfter(firstHeaderValue(reply.headers['retry-after']), now),
    reason: `the service answered ${status}${name}${more.replace(/\.$/, '')}`,
    transient: kind === 'server-error',
    timedOut: status === 504,
    // 425 means that the request was not processed; after any other server error the write may have been done.
    maybeDone: write && kind === 'server-error' && status !== 425,
  }
}

/**
 * Checks the content type and the first words, because some proxies send a page without a type or with the type that
 * the client accepts. Some services give an empty answer the type HTML, so a page must have a body.
 */
export function isWebPage({ headers, body }: Reply): boolean {
  const type = firstHeaderValue(headers['content-type']) ?? ''
  if (/^\s*(text\/html|application\/xhtml)/i.test(type)) return body !== ''
  return body !== undefined && /^\s*<(!doctype\s+html|html)\b/i.test(body.slice(0, 200))
}

/** Whether this status of the service proves that a write was done or was not done. */
export function decidesWrite(status: number): boolean {
  const kind = kindOfStatus(status)
  return status < 300 || kind === 'not-found' || kind === 'conflict' || kind === 'refused'
}

/** A proxy may have sent the page, so its status proves nothing. */
export function failureOfWebPage(status: number): Failure {
  return {
    kind: 'unexpected-answer',
    status,
    reason: `the answer ${status} is a web page, which this service never sends; a proxy in between may have sent it`,
    foreign: 'web-page',
    transient: true,
    maybeDone: true,
  }
}

const LIMIT_WORDS = /\b(rate|request)s?[ _-]?limit|\bquota|\btoo many requests\b|\bthrottl/i

/** Some services answer 403 where others answer 429: with a time, or with the words of a rate or quota. */
export function isLimit(reply: Reply): boolean {
  if (reply.status !== 403) return reply.status === 429
  return reply.headers['retry-after'] !== undefined || LIMIT_WORDS.test(detailOf(reply, []) ?? '')
}

function kindOfStatus(status: number): ApiErrorKind {
  if (status === 401) return 'unauthorized'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'not-found'
  if (status === 409) return 'conflict'
  if (status === 429) return 'rate-limited'
  if (status === 408 || status === 425 || status >= 500) return 'server-error'
  return status >= 400 ? 'refused' : 'unexpected-answer'
}

function redirectText(reply: Reply): string {
  const location = firstHeaderValue(reply.headers.location)
  if (location === undefined) return ''
  const where = URL.canParse(location) ? ` to ${new URL(location).origin}` : ''
  return `, a redirect${where}; redirects are not followed, the base URL must be the final one`
}

export function failureOfBroken(reply: Reply): Failure {
  const failure = failureOfNetwork(reply.broken)
  return isWebPage(reply) ? { ...failure, status: reply.status, foreign: 'web-page' } : failure
}

export function failureOfExchange(error: ExchangeError, write: boolean, totalMs: number): Failure {
  if (error.timedOut) {
    return {
      kind: 'unreachable',
      reason: `no answer within ${totalMs / 1000} s`,
      transient: true,
      timedOut: true,
      maybeDone: write && error.sent,
    }
  }
  return { ...failureOfNetwork(error.cause), maybeDone: write && error.sent }
}

function failureOfNetwork(cause: unknown): Failure {
  return { kind: 'unreachable', ...explainNetworkError(cause), cause: withoutContent(cause) }
}

/** Drops the bytes that undici could not parse as HTTP: they may hold credentials. */
function withoutContent(cause: unknown): unknown {
  if (!(cause instanceof Error) || !('data' in cause)) return cause
  return Object.assign(new Error(cause.message), { code: systemCode(cause) })
}

/** The reason with which a closed client aborts its calls. */
export class ClientClosed extends Error {
  override readonly name = 'ClientClosed'
}

export function abortedFailure(signal: AbortSignal): Failure {
  if (signal.reason instanceof ClientClosed) return { kind: 'closed', reason: 'the client is closed' }
  const isOverdue = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
  const reason = isOverdue ? 'there was no answer in time' : 'the call was aborted'
  return { kind: 'aborted', reason, cause: signal.reason }
}

/** From a body of RFC 9457 or a similar one, as one line of at most 300 characters. */
function detailOf(reply: Reply, secrets: readonly string[]): string | undefined {
  const problem = parseObject(reply.body)
  if (problem === undefined) return undefined
  const main = textIn(problem)
  // Some services repeat in `detail` what is in `errors`.
  const others = fieldProblems(problem['errors']).filter((text) => main?.includes(text) !== true)
  const line = [main?.replace(/\.$/, ''), ...others].filter(isText).join('; ')
  return line === '' ? undefined : shortLine(line, secrets)
}

/** The most useful field first. */
const TEXT_KEYS = ['detail', 'title', 'message', 'error_description', 'error']

/** Of one list. */
const MOST_TEXTS = 5

/** The first text in a body such as `{"error": {"message": "…"}}`. */
function textIn(value: unknown, depth = 3): string | undefined {
  if (isText(value)) return value
  if (depth === 0 || typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) {
    const texts = value.slice(0, MOST_TEXTS).map((part: unknown) => textIn(part, depth - 1))
    return texts.filter(isText).join('; ') || undefined
  }
  const fields = value as Record<string, unknown>
  return TEXT_KEYS.map((key) => textIn(fields[key], depth - 1)).find(isText)
}

/** Of `[{"field": "email", "message": "is taken"}]` or `{"email": ["is taken"]}`. */
function fieldProblems(errors: unknown): string[] {
  if (typeof errors !== 'object' || errors === null) return []
  const problems = Array.isArray(errors)
    ? errors.map((error: unknown) => [fieldOf(error), textIn(error)])
    : Object.entries(errors).map(([field, error]) => [field, textIn(error)])
  return problems.slice(0, MOST_TEXTS).map((parts) => parts.filter(isText).join(' '))
}

function fieldOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'field' in error ? error.field : undefined
}

function shortLine(line: string, secrets: readonly string[]): string {
  let text = line.toWellFormed()
  for (const secret of secrets) text = text.replaceAll(secret, '[hidden]')
  text = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  return text.length <= DETAIL_LENGTH ? text : `${text.slice(0, DETAIL_LENGTH - 1).toWellFormed()}…`
}

function parseObject(body: string | undefined): Record<string, unknown> | undefined {
  if (body === undefined || body.length > 65_536) return undefined
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

export function firstHeaderValue(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
