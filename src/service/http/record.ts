import type { FastifyReply, FastifyRequest } from 'fastify'
import { deviceIdOf } from './authenticate.ts'
import type { RequestLine, RequestLog } from './request-log.ts'

/** The state of one request until its line is written into the request log. */
export interface RequestRecord {
  /** The work was done and, where it writes, committed. */
  done: boolean
  fault: RequestLine['fault']
  /** Marks the beginning of the work. Returns false when the client has gone; then no work may begin. */
  begin(): boolean
  /** Marks the end of the work, which may be long after the client has gone. */
  end(): void
}

/**
 * Starts the record of a request. Its line is written once: after the answer is sent or the connection is cut, and
 * after the end of any work that began.
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

/** Only a GET has query parameters; the query of any other request may be a secret that a client sent by mistake. */
function loggedUrl(request: FastifyRequest): string {
  const url = request.raw.url ?? ''
  return request.method === 'GET' ? url : url.replace(/\?.*/s, '')
}

function lineOf(
  request: FastifyRequest,
  reply: FastifyReply,
  record: RequestRecord,
  at: number,
): RequestLine {
  const answered = reply.raw.writableFinished && !record.fault?.startsWith('drop-')
  return {
    at,
    method: request.method,
    url: loggedUrl(request),
    status: answered ? reply.raw.statusCode : null,
    done: record.done,
    deviceId: deviceIdOf(request) ?? null,
    ...(record.fault === undefined ? {} : { fault: record.fault }),
  }
}
