import type { ServiceConfig } from '../config/config.ts'
import type { Log } from '../../base/log/log.ts'
import { createRequestLog, type RequestLog } from './request-log.ts'
import { onHangup } from '../../base/process/shutdown.ts'

/** SIGHUP opens the log again; without a log, SIGHUP does nothing. */
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
