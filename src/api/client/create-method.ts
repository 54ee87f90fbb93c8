import type { z } from 'zod'
import { type Endpoint, type Operation, PREFIX } from '../contract/endpoints.ts'
import { ApiError, type Destination, type Failure } from './api-error.ts'
import { performCall } from './call.ts'
import type { Reply } from './exchange.ts'
import { firstHeaderValue, isWebPage } from './failure.ts'
import { encodeForm, type FormFields } from './form.ts'
import type { ListOptions, Page, WriteOptions, Written } from './methods.ts'
import type { Settings } from './options.ts'
import { fillPath } from './path.ts'
import { type CallParams, encodeQuery } from './query.ts'
import type { PreparedRequest, Sender } from './send.ts'

/** Untyped: after the parameters come the form, if the endpoint has one, and the options. */
export type AnyMethod = (params?: CallParams, ...rest: readonly unknown[]) => Promise<unknown>

type Content = FormFields | readonly FormFields[] | undefined

export interface MethodParts {
  readonly operation: Operation
  readonly endpoint: Endpoint
  readonly sender: Sender
  readonly settings: Settings
  readonly organizationId: number
}

export function createMethod(parts: MethodParts): AnyMethod {
  if (parts.endpoint.method === 'GET') {
    return (params = {}, options = {}) => read(parts, params, options as ListOptions)
  }
  if (parts.endpoint.form === undefined) {
    return (params = {}, options = {}) => write(parts, params, undefined, options as WriteOptions<unknown>)
  }
  return (params = {}, form = {}, options = {}) =>
    write(parts, params, form as Content, options as WriteOptions<unknown>)
}

async function read(parts: MethodParts, params: CallParams, options: ListOptions): Promise<unknown> {
  const { endpoint, sender, settings } = parts
  const request = prepare(parts, params, undefined, options)
  const result = await performCall<never>(sender, settings.retries, {
    request,
    write: false,
    waitWhenLimited: options.whenLimited !== 'throw',
    signal: options.signal,
    onRequest: options.onRequest,
  })
  if (!('reply' in result)) throw new Error('a read has nothing to confirm')
  const value = parseAnswer(request.destination, endpoint.response, result.reply)
  return endpoint.paged !== undefined
    ? pageOf(request.destination, value as readonly unknown[], result.reply)
    : value
}

async function write(
  parts: MethodParts,
  params: CallParams,
  form: Content,
  options: WriteOptions<unknown>,
): Promise<Written<unknown, unknown>> {
  const { endpoint, sender, settings } = parts
  const request = prepare(parts, params, form, {})
  const result = await performCall(sender, settings.retries, {
    request,
    write: true,
    waitWhenLimited: options.whenLimited === 'wait',
    confirm: options.confirm,
    signal: options.signal,
    onRequest: options.onRequest,
  })
  const { requests } = result
  if ('found' in result) return { found: true, value: result.found, status: undefined, requests }
  const { status, body } = result.reply
  return { found: false, value: readableAnswer(endpoint.response, body), status, requests }
}

function prepare(
  parts: MethodParts,
  params: CallParams,
  form: Content,
  page: Pick<ListOptions, 'page' | 'perPage'>,
): PreparedRequest {
  const { endpoint, operation, organizationId, settings } = parts
  const { method, scope } = endpoint
  const { baseUrl } = settings
  const filled = fillPath(PREFIX + endpoint.path, { ...params, organization_id: organizationId })
  if ('problem' in filled) {
    const path = PREFIX + endpoint.path
    throw new ApiError({ operation, method, scope, baseUrl, path }, refusal(filled.problem))
  }
  const destination: Destination = { operation, method, scope, baseUrl, path: filled.path }
  const encodedQuery = encodeQuery(endpoint.query, params, page)
  if ('problem' in encodedQuery) throw new ApiError(destination, refusal(encodedQuery.problem))
  const url = settings.basePath + filled.path + encodedQuery.query
  if (endpoint.form === undefined || form === undefined) return { destination, url, body: undefined }
  const encoded = encodeForm(endpoint.form, form)
  if ('problem' in encoded) throw new ApiError(destination, refusal(encoded.problem))
  return { destination, url, body: encoded.body }
}

function refusal(problem: string): { kind: 'refused'; reason: string } {
  return { kind: 'refused', reason: `it was not sent because ${problem}` }
}

function parseAnswer(destination: Destination, schema: z.ZodType | undefined, reply: Reply): unknown {
  const unexpected = (reason: string, foreign?: Failure['foreign']): ApiError =>
    new ApiError(destination, { kind: 'unexpected-answer', status: reply.status, reason, foreign })
  const json = parseJson(reply.body)
  if (json === undefined) {
    if (/^\s*[[{]/.test(reply.body ?? ''))
      throw unexpected('the answer begins as JSON and is cut off or damaged')
    const type = firstHeaderValue(reply.headers['content-type'])?.slice(0, 60) ?? 'no content type'
    const reason = reply.body === '' ? 'the answer is empty' : `the answer is not JSON (${type})`
    throw unexpected(reason, isWebPage(reply) ? 'web-page' : 'no-json')
  }
  const parsed = schema?.safeParse(json)
  if (parsed === undefined) return json
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const where =
    issue === undefined || issue.path.length === 0 ? 'the answer' : `field ${fieldName(issue.path)}`
  throw unexpected(`${where} is not what the API description shows: ${issue?.message ?? 'unknown'}`)
}

/** `undefined` where the body does not fit the contract. */
function readableAnswer(schema: z.ZodType | undefined, body: string | undefined): unknown {
  const parsed = schema?.safeParse(parseJson(body))
  return parsed?.success === true ? parsed.data : undefined
}

function parseJson(body: string | undefined): unknown {
  try {
    return JSON.parse(body ?? '')
  } catch {
    return undefined
  }
}

function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
}

function pageOf(destination: Destination, items: readonly unknown[], { headers }: Reply): Page<unknown> {
  return {
    items,
    total: countOf(headers['total']),
    perPage: countOf(headers['per-page']) || undefined,
    destination,
  }
}

function countOf(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,12}$/.test(header.trim()) ? Number(header) : undefined
}
