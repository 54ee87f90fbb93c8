import { type DestinationStream, type Logger, pino } from 'pino'
import { fieldsWithoutPeople, type IsConfigured, withoutPeople } from './people.ts'
import { printable } from '../printable.ts'

/** Messages are static; everything that varies is a field. Scope it with `.child({ sync })`. */
export type Log = Logger

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface LogOptions {
  /** Default: JSON lines. */
  readonly format?: 'json' | 'text'
  /** Begins each line of text with the time of day. */
  readonly times?: boolean
  /** Default: stderr, because stdout has the output of commands. */
  readonly destination?: DestinationStream
  /** Removes names, except texts of the configuration. */
  readonly isConfigured?: IsConfigured | undefined
}

/** The level of the log and its children can be changed at any time. */
export interface LevelledLog {
  readonly log: Log
  readonly level: () => LogLevel
  readonly setLevel: (level: LogLevel) => void
}

export function createLog(level: LogLevel, options: LogOptions = {}): Log {
  return createLevelledLog(level, options).log
}

export function createLevelledLog(level: LogLevel, options: LogOptions = {}): LevelledLog {
  const { isConfigured, destination = pino.destination({ dest: 2, sync: true }) } = options
  const children = new Set<WeakRef<Log>>()
  const log: Log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: levelName,
        ...(isConfigured && { log: (fields) => fieldsWithoutPeople(fields, isConfigured) }),
      },
      ...(isConfigured && {
        serializers: { err: (error: Error) => errorWithoutPeople(error, isConfigured) },
      }),
      // A child has a level of its own, which does not follow that of the log.
      onChild: (child) => {
        if (children.size % 256 === 255) forgetGone(children)
        children.add(new WeakRef(child))
      },
    },
    options.format === 'text' ? textDestination(destination, options.times === true) : destination,
  )
  return {
    log,
    level: () => log.level as LogLevel,
    setLevel(next) {
      log.level = next
      for (const child of children) {
        const alive = child.deref()
        if (alive !== undefined) alive.level = next
      }
    },
  }
}

function forgetGone(children: Set<WeakRef<Log>>): void {
  for (const child of children) if (child.deref() === undefined) children.delete(child)
}

function errorWithoutPeople(error: Error, isConfigured: IsConfigured): object {
  const { type, message, stack } = pino.stdSerializers.err(error)
  return { type, message: withoutPeople(message, isConfigured), stack: withoutPeople(stack, isConfigured) }
}

function levelName(label: string): { level: string } {
  return { level: label }
}

/** `13:42:59 warn: the directory does not answer; changes wait (sync corp)` */
function textDestination(destination: DestinationStream, times: boolean): DestinationStream {
  return {
    write(line) {
      const { level, time, msg, ...fields }: Record<string, unknown> = JSON.parse(line)
      const details = Object.entries(fields).map(([name, value]) => `${name} ${textOf(value)}`)
      const suffix = details.length === 0 ? '' : ` (${details.join(', ')})`
      const prefix = times ? `${new Date(String(time)).toTimeString().slice(0, 8)} ` : ''
      destination.write(`${prefix}${printable(`${String(level)}: ${String(msg)}${suffix}`)}\n`)
    },
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function silentLog(): Log {
  return pino({ level: 'silent' })
}
