import type { FastifyReply, FastifyRequest } from 'fastify'
import { deviceIdOf } from './authenticate.ts'
import { loggableUrl, maskTokens } from './loggable.ts'
import type { RequestLine, RequestLog } from './request-log.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Parameters whose values may be logged; absent where there are none. */
    queryNames?: ReadonlySet<string>
  }
}

/** Kept until the request's line is written into the request log. */
export interface RequestRecord {
  /** The work was done and, where it writes, committed. */
  done: boolean
  fault: RequestLine['fault']
  /** False when the client has gone; then no work may begin. */
  begin(): boolean
  /** The work may end long after the client has gone. */
  end(): void
}

/**
 * The line is written once: after the answer is sent or the connection is cut, and after the end of any work that
 * began.
 */
export function startRecord(request: FastifyRequest, reply: FastifyReply, log: RequestLog): RequestRecord {
  const at = performance.timeOrigin + performance.now()
  let closed = false
  let working = false
  const record: RequestRecord = {
    done: false,
    fault: undefined,
    begin() {
      working = !closed
      return working
    },
    end() {
      if (working && closed) log.write(lineOf(request, reply, record, at))
      working = false
    },
  }
  reply.raw.once('close', () => {
    closed = true
    if (!working) log.write(lineOf(request, reply, record, at))
  })
  return record
}

function lineOf(
  request: FastifyRequest,
  reply: FastifyReply,
  record: RequestRecord,
  at: number,
): RequestLine {
  const answered = reply.raw.writableFinished && !record.fault?.startsWith('drop-')
  const deviceId = deviceIdOf(request)
  return {
    at,
    method: request.method,
    url: loggableUrl(request.url, request.routeOptions.config.queryNames ?? new Set()),
    status: answered ? reply.raw.statusCode : null,
    done: record.done,
    deviceId: deviceId === undefined ? null : maskTokens(deviceId),
    ...(record.fault === undefined ? {} : { fault: record.fault }),
  }
}
