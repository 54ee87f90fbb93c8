import type { FastifyReply, FastifyRequest } from 'fastify'
import { deviceIdOf } from './authenticate.ts'
import type { RequestLine, RequestLog } from './request-log.ts'

/** What happens to one request, until its line can be written into the request log. */
export interface RequestRecord {
  /** The work was done and, where it writes, committed. */
  done: boolean
  fault: RequestLine['fault']
  /** Says whether the work may begin: not when the client has gone, because its line is written already. */
  begin(): boolean
  /** Nothing more will be done for the request. It may be long after the client has gone. */
  end(): void
}

/**
 * Begins the record of a request. Its line is written once: when the answer is out or the connection is cut, and the
 * work, where it had begun, has ended.
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

/** Only what is read has parameters in its query; what else stands there may be a secret of somebody who got lost. */
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
