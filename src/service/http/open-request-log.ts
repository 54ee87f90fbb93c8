import type { ServiceConfig } from '../config/config.ts'
import type { Log } from '../../base/log/log.ts'
import { createRequestLog, type RequestLog } from './request-log.ts'
import { onHangup } from '../../base/process/shutdown.ts'

/** The log of requests until the stack is disposed. On SIGHUP it is opened again; without one SIGHUP does nothing. */
export function openRequestLog(
  stack: AsyncDisposableStack,
  { requestLog: path }: ServiceConfig,
  log: Log,
): RequestLog | undefined {
  const file =
    path === undefined ? undefined : stack.adopt(createRequestLog(path, log), (opened) => opened.close())
  stack.use(onHangup(() => file?.reopen()))
  return file
}
