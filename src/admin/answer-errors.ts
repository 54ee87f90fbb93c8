import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { cut } from '../directory/wording.ts'
import { DirsyncdError, type ErrorCode, sentence } from '../errors.ts'
import { sentenceOf } from '../issue-sentence.ts'
import { printable } from '../printable.ts'

/** All other errors are the fault of who asks. */
const STATUSES = new Map<ErrorCode, number>([
  ['run-unknown', 404],
  ['internal', 500],
  ['store-unavailable', 503],
  ['secret-unavailable', 503],
  ['interrupted', 503],
])

export interface Problem {
  readonly status: number
  readonly code: string
  /** In a sentence. */
  readonly message: string
}

/**
 * Every error becomes a code and a sentence.
 *
 * @param sendPage shows it to a person; left out where only programs ask
 */
export function answerErrors(
  app: FastifyInstance,
  sendPage?: (problem: Problem, request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error)
    void reply.status(problem.status)
    const { code, message } = problem
    if (sendPage === undefined) return reply.send({ code, message })
    return isBrowser(request) ? sendPage(problem, request, reply) : reply.send(asJson(problem))
  })
}

export function isBrowser({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true
}

/** For programs, and for terminals, which a message that repeats a name must not rewrite. */
export function asJson({ code, message }: Omit<Problem, 'status'>): object {
  return { code, message: printable(message) }
}

function problemOf(error: unknown): Problem {
  if (error instanceof z.ZodError) return { status: 400, code: 'usage', message: faultsOf(error) }
  if (error instanceof DirsyncdError)
    return { status: STATUSES.get(error.code) ?? 400, code: error.code, message: sentence(error) }
  // Of Fastify, about a request that it cannot read.
  const { statusCode = 500 } = error as { readonly statusCode?: number }
  return { status: statusCode, code: statusCode < 500 ? 'usage' : 'internal', message: sentence(error) }
}

/** What a request says, as the schema has it. Throws with what is wrong in it. */
export function read<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  return schema.parse(value, { error: (issue) => (hasSeveral(issue) ? SEVERAL : sentenceOf(issue)) })
}

const SEVERAL = 'must have one value, not several'

/** A field that a form has twice is a list. */
function hasSeveral(issue: z.core.$ZodRawIssue): boolean {
  const isForOne =
    issue.code === 'invalid_value' || (issue.code === 'invalid_type' && issue.expected === 'string')
  return isForOne && Array.isArray(issue.input)
}

/** One sentence about all that is wrong with a request. */
function faultsOf({ issues }: z.ZodError): string {
  const faults = issues.map((issue) => {
    if (issue.code === 'unrecognized_keys')
      return `${issue.keys.map(cut).join(', ')} ${issue.keys.length === 1 ? 'is' : 'are'} not known here`
    const name = issue.path.filter((part) => typeof part === 'string').join('.')
    return `${name === '' ? 'what was sent' : name} ${issue.message}`
  })
  return `${[...new Set(faults)].join('; ')}.`
}
