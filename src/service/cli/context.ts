import type { Log } from '../../base/log/log.ts'
import type * as program from '../../base/terminal/run-program.ts'
import type { ServiceAdmin } from '../admin/open.ts'
import type { Config, ServiceConfig } from '../config/config.ts'
import type { ConformanceRequest, ConformanceStep } from './compare.ts'

/** What commands use of the service. It is loaded when a command runs, so `--help` does not load it. */
export interface Parts {
  readonly openAdmin: (service: ServiceConfig, log: Log) => Promise<ServiceAdmin>
  /** Runs the service until the signal; `onReady` gets its URL. */
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
