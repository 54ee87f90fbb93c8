import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Dispatcher, errors } from 'undici'
import { networkReason, sentence, systemCode } from '../../base/errors.ts'
import type { HttpRequest } from './request.ts'

export interface HttpAnswer {
  readonly status: number
  header(name: string): string | undefined
  readonly text: string
  /** `undefined` if the body is not JSON. */
  readonly json: unknown
  /** Path and query of the request. */
  readonly path: string
}

/** The message says why no answer came and contains nothing of the request. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly closed: boolean

  constructor(reason: string, { cause, closed = false }: { cause: unknown; closed?: boolean }) {
    super(reason, { cause })
    this.closed = closed
  }
}

/** Follows no redirect. Rejects with `NoAnswer`, or with the signal's reason. */
export async function exchange(
  dispatcher: Dispatcher,
  origin: string,
  { method, path, headers, body }: HttpRequest,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<HttpAnswer> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await dispatcher.request({
      origin,
      path,
      method,
      ...contentOf(headers, body),
      signal: AbortSignal.any([timeout, signal]),
    })
    const text = await answer.body.text()
    return {
      status: answer.statusCode,
      header: (name) => [answer.headers[name]].flat().join(', ') || undefined,
      text,
      json: parse(text),
      path,
    }
  } catch (error) {
    signal.throwIfAborted()
    if (timeout.aborted) throw new NoAnswer(`no answer within ${timeoutMs / 1000} s`, { cause: error })
    if (error instanceof errors.SocketError || /^(ECONNRESET|EPIPE)$/.test(systemCode(error) ?? '')) {
      throw new NoAnswer('the connection was closed without an answer', { cause: error, closed: true })
    }
    throw new NoAnswer(networkReason(error) ?? sentence(error), { cause: error })
  }
}

/** From this size on, a body is sent with a pause; see `contentOf`. */
const LARGE = 1024 * 1024
const CHUNK = 64 * 1024
const PAUSE_MS = 300

/**
 * Pauses after the first chunk of a large body. A service that refuses such a body at once closes the connection during
 * the upload, and without the pause its answer could be lost.
 */
function contentOf(
  headers: HttpRequest['headers'],
  body: string | undefined,
): Pick<Dispatcher.RequestOptions, 'headers' | 'body'> {
  const bytes = Buffer.from(body ?? '')
  if (bytes.length < LARGE) return { headers, body: body ?? null }
  return {
    headers: { ...headers, 'content-length': String(bytes.length) },
    body: Readable.from(slowly(bytes), { objectMode: false }),
  }
}

async function* slowly(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK) {
    yield bytes.subarray(at, at + CHUNK)
    if (at === 0) await sleep(PAUSE_MS)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
