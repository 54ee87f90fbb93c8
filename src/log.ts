import { pino, type DestinationStream, type Logger } from 'pino'

/** A structured logger; messages are static and everything that varies is a field. Scope it with `.child({ sync })`. */
export type Log = Logger

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** JSON lines on the destination, standard error by default: standard output belongs to what a command prints. */
export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: levelName } },
    destination ?? pino.destination({ dest: 2, sync: true }),
  )
}

function levelName(label: string): { level: string } {
  return { level: label }
}

/** For callers that need a logger and want none, such as tests and one-shot commands. */
export function silentLog(): Log {
  return pino({ level: 'silent' })
}
