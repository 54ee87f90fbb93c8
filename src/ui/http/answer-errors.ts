import { Readable } from 'node:stream'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { cut } from '../../base/wording.ts'
import { DirsyncdError, type ErrorCode, sentence } from '../../base/errors.ts'
import { sentenceOf } from '../../base/issue-sentence.ts'
import type { Log } from '../../base/log/log.ts'
import { printable } from '../../base/printable.ts'

/** All other errors are the client's. */
const STATUSES = new Map<ErrorCode, number>([
  ['run-unknown', 404],
  ['store-unavailable', 503],
  ['secret-unavailable', 503],
  ['interrupted', 503],
])

export interface Problem {
  readonly status: number
  readonly code: string
  /** One sentence. */
  readonly message: string
}

/**
 * Every error becomes a code and a sentence. Internal errors have their details in the log only.
 *
 * @param sendPage left out for listeners without pages
 */
export function answerErrors(
  app: FastifyInstance,
  log: Log,
  sendPage?: (problem: Problem, request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  const logged = (error: unknown, { method, routeOptions }: FastifyRequest): Problem => {
    const problem = problemOf(error)
    if (problem.code === 'internal')
      log.error({ err: error, method, route: routeOptions.url }, 'a request failed')
    return problem
  }
  app.setErrorHandler((error, request, reply) => {
    const problem = logged(error, request)
    void reply.status(problem.status)
    const { code, message } = problem
    if (sendPage === undefined) return reply.send({ code, message })
    return isBrowser(request) ? sendPage(problem, request, reply) : reply.send(asJson(problem))
  })
  // After the first part of an answer, an error only cuts the connection.
  app.addHook('onSend', async (request, _reply, payload) => {
    if (payload instanceof Readable) payload.once('error', (error) => logged(error, request))
    return payload
  })
}

export function isBrowser({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true
}

/** Escaped for terminals too: a message that repeats a name must not rewrite them. */
export function asJson({ code, message }: Omit<Problem, 'status'>): object {
  return { code, message: printable(message) }
}

function problemOf(error: unknown): Problem {
  if (error instanceof DirsyncdError && error.code !== 'internal')
    return { status: STATUSES.get(error.code) ?? 400, code: error.code, message: sentence(error) }
  if (isOfFastify(error)) return { status: error.statusCode, code: 'usage', message: sentence(error) }
  return { status: 500, code: 'internal', message: INTERNAL }
}

const INTERNAL = 'dirsyncd failed at this request; its log says where.'

function isOfFastify(error: unknown): error is FastifyError & { readonly statusCode: number } {
  const { code, statusCode = 500 } = error as Partial<FastifyError>
  return code?.startsWith('FST_ERR_') === true && statusCode < 500
}

/** Throws `usage` with what is wrong in the request. */
export function read<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value, {
    error: (issue) => (hasSeveral(issue) ? SEVERAL : sentenceOf(issue)),
  })
  if (result.success) return result.data
  throw new DirsyncdError('usage', faultsOf(result.error))
}

const SEVERAL = 'must have one value, not several'

/** A repeated form field is a list. */
function hasSeveral(issue: z.core.$ZodRawIssue): boolean {
  const isForOne =
    issue.code === 'invalid_value' || (issue.code === 'invalid_type' && issue.expected === 'string')
  return isForOne && Array.isArray(issue.input)
}

function faultsOf({ issues }: z.ZodError): string {
  const faults = issues.map((issue) => {
    if (issue.code === 'unrecognized_keys')
      return `${issue.keys.map(cut).join(', ')} ${issue.keys.length === 1 ? 'is' : 'are'} not known here`
    const name = issue.path.filter((part) => typeof part === 'string').join('.')
    return `${name === '' ? 'what was sent' : name} ${issue.message}`
  })
  return `${[...new Set(faults)].join('; ')}.`
}
