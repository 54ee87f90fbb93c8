import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError, FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../base/log/log.ts'
import { maskTokens } from './loggable.ts'
import { Problem, type ProblemCode, problemBody, PROBLEM_TYPE } from './problem.ts'

/** Errors of Fastify that a client can cause. */
const FASTIFY_ERRORS: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['body-too-large', 'The body is larger than the service accepts here.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'media-type-unsupported',
    'The body must be application/x-www-form-urlencoded or application/json.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['malformed', 'The body is not as long as Content-Length says.'],
  FST_ERR_BAD_URL: ['malformed', 'The path is not valid percent-encoded UTF-8.'],
  FST_ERR_MAX_PARAM_LENGTH: ['path-too-long', 'A part of the path is too long.'],
}

/** Logs internal errors and does not show them. */
export function answerError(
  log: Log,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = toProblem(error)
  // A problem of 500 without a cause comes from --faults.
  const cause = error instanceof Problem ? error.cause : error
  if (problem.status >= 500 && cause !== undefined) logFailure(log, cause, request)
  return answerProblem(reply, problem)
}

export function answerNotFound(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return answerProblem(reply, new Problem('not-found', 'The service has no such endpoint.'))
}

function answerProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .type(PROBLEM_TYPE)
    .serializer(JSON.stringify)
    .send(problemBody(problem))
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const { code = '', statusCode = 500, message = '' } = error as Partial<FastifyError>
  const known = FASTIFY_ERRORS[code]
  if (known !== undefined) return new Problem(...known)
  if (statusCode >= 400 && statusCode < 500) return new Problem('malformed', 'The request cannot be read.')
  if (isConnectionLoss(code) || message === POOL_TIMEOUT)
    return new Problem('unavailable', 'The store does not answer.')
  return new Problem('internal', 'The service failed; its log says why.')
}

/** Of `pg`, where all connections are busy for too long. */
const POOL_TIMEOUT = 'timeout exceeded when trying to connect'

/** Node's codes, and PostgreSQL's classes 08 and 57P. */
function isConnectionLoss(code: string): boolean {
  return /^(ECONN|ETIMEDOUT|ENOTFOUND|EPIPE|EAI_AGAIN|08|57P)/.test(code)
}

/**
 * Without the error's details, because PostgreSQL puts values of rows into them. A message may quote what a client
 * sent.
 */
function logFailure(log: Log, error: unknown, request: FastifyRequest): void {
  const { name, code, message, stack } = error as Partial<FastifyError>
  const failure = { name, code, message: maskTokens(message ?? ''), stack: maskTokens(stack ?? '') }
  log.error({ failure, method: request.method, route: request.routeOptions.url }, 'request failed')
}

/** For invalid HTTP, for which there is no request. */
export function answerClientError(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  const problem = clientProblem(error)
  const body = JSON.stringify(problemBody(problem))
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\nConnection: close\r\nContent-Type: ${PROBLEM_TYPE}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

function clientProblem(error: ConnectionError): Problem {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Problem('request-timeout', 'The request did not arrive in time.')
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new Problem(
      'headers-too-large',
      'The request line and headers are larger than the service accepts.',
    )
  }
  return new Problem('malformed', 'The request is not valid HTTP.')
}
