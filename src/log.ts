import { type DestinationStream, type Logger, pino } from 'pino'
import { printable } from './printable.ts'

/** A structured logger; messages are static and everything that varies is a field. Scope it with `.child({ sync })`. */
export type Log = Logger

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface LogOptions {
  /** JSON lines for machines, the default, or text for people. */
  readonly format?: 'json' | 'text'
  /** Standard error by default: standard output belongs to what a command prints. */
  readonly destination?: DestinationStream
}

export function createLog(level: LogLevel, options: LogOptions = {}): Log {
  const destination = options.destination ?? pino.destination({ dest: 2, sync: true })
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: levelName } },
    options.format === 'text' ? textDestination(destination) : destination,
  )
}

function levelName(label: string): { level: string } {
  return { level: label }
}

/** `warn: the directory does not answer; changes wait (sync corp)` */
function textDestination(destination: DestinationStream): DestinationStream {
  return {
    write(line) {
      const { level, time: _, msg, ...fields }: Record<string, unknown> = JSON.parse(line)
      const details = Object.entries(fields).map(([name, value]) => `${name} ${textOf(value)}`)
      const suffix = details.length === 0 ? '' : ` (${details.join(', ')})`
      destination.write(`${printable(`${String(level)}: ${String(msg)}${suffix}`)}\n`)
    },
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A logger that writes nothing. */
export function silentLog(): Log {
  return pino({ level: 'silent' })
}
