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
}

/** Follows no redirect. Rejects with `NoAnswer`, or with the signal's reason. */
export async function exchange(
  dispatcher: Dispatcher,
  origin: string,
  request: HttpRequest,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<HttpAnswer> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await dispatcher.request({
      origin,
      ...request,
      signal: AbortSignal.any([timeout, signal]),
    })
    const text = await answer.body.text()
    return {
      status: answer.statusCode,
      header: (name) => [answer.headers[name]].flat().join(', ') || undefined,
      text,
      json: parse(text),
      path: request.path,
    }
  } catch (error) {
    signal.throwIfAborted()
    if (timeout.aborted) throw new NoAnswer(`no answer within ${timeoutMs / 1000} s`, { cause: error })
    throw new NoAnswer(reasonOf(error), { cause: error })
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.SocketError || /^(ECONNRESET|EPIPE)$/.test(systemCode(error) ?? '')) {
    return 'the connection was closed without an answer'
  }
  return networkReason(error) ?? sentence(error)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
