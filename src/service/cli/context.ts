import type { Log } from '../../base/log/log.ts'
import type * as program from '../../base/terminal/run-program.ts'
import type { ServiceAdmin } from '../admin/open.ts'
import type { Config, ServiceConfig } from '../config/config.ts'
import type { ConformanceRequest, ConformanceStep } from '../conformance.ts'

/** Loaded when a command runs, so that `--help` stays fast. */
export interface Parts {
  readonly openAdmin: (service: ServiceConfig, log: Log) => Promise<ServiceAdmin>
  /** Runs until the signal; `onReady` gets the URL. */
  readonly runService: (
    service: ServiceConfig,
    log: Log,
    signal: AbortSignal,
    onReady: (url: string) => void,
  ) => Promise<void>
  readonly compare: (
    request: ConformanceRequest,
    session: Pick<program.BareSession, 'log' | 'signal'>,
  ) => AsyncIterable<ConformanceStep>
}

export type BareSession = program.BareSession & Parts
export type Session = BareSession & program.Configured<Config>
export type Runner = program.Runner<Config, Parts>
