import { createLevelledLog, type LevelledLog, type Log, type LogLevel } from '../log/log.ts'
import { configuredTexts, type IsConfigured, type Written } from '../log/people.ts'
import { onUser2 } from '../process/shutdown.ts'
import type { Output } from './output.ts'
import { clearLine } from './output.ts'

export interface LoggedConfig extends Written {
  readonly log: {
    readonly level: LogLevel
    /** Whether a long-running process may log names and e-mails besides ids. */
    readonly people: boolean
  }
}

export interface SessionLogOptions {
  readonly level: LogLevel | undefined
  readonly json: boolean
  readonly longRunning: boolean
  readonly stderr: Output
}

/** Each SIGUSR2 turns debug messages of a long-running command on or off. */
export class SessionLog implements Disposable {
  readonly #options: SessionLogOptions
  readonly #stack = new DisposableStack()
  #isConfigured: IsConfigured | undefined

  constructor(options: SessionLogOptions) {
    this.#options = options
  }

  /** The texts of a loaded configuration may be logged. */
  know<Config extends LoggedConfig>(config: Config): Config {
    this.#isConfigured = configuredTexts(config)
    return config
  }

  open(config: LoggedConfig | undefined): Log {
    const { level: asked, json, longRunning, stderr } = this.#options
    const configured = config?.log.level ?? 'warn'
    const level = asked ?? (longRunning ? configured : withoutInfo(configured))
    const namesPeople = !longRunning || config?.log.people === true
    const levelled = createLevelledLog(level, {
      format: json || (longRunning && stderr.isTTY !== true) ? 'json' : 'text',
      times: longRunning,
      // Overwrites a progress line.
      destination: { write: (text) => stderr.write(clearLine(stderr) + text) },
      ...(!namesPeople && { isConfigured: (text) => this.#isConfigured?.(text) === true }),
    })
    if (longRunning) this.#stack.use(toggleDebug(levelled))
    return levelled.log
  }

  [Symbol.dispose](): void {
    this.#stack.dispose()
  }
}

function toggleDebug(levelled: LevelledLog): Disposable {
  const configured = levelled.level()
  return onUser2(() => {
    const level = levelled.level() === 'debug' ? configured : 'debug'
    levelled.setLevel(level)
    levelled.log.warn({ logLevel: level }, 'the log has another level now')
  })
}

/** A command prints its result, so it logs only warnings and errors. */
function withoutInfo(level: LogLevel): LogLevel {
  return level === 'debug' || level === 'info' ? 'warn' : level
}
