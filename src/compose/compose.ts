import type { CheckRequest } from '../operations/check.ts'
import { type ControlOptions, openControl } from './control.ts'
import type { DaemonOutput } from './daemon.ts'
import { sourceProblem } from './site.ts'
import type { Config } from '../config/config.ts'
import type { Log } from '../base/log/log.ts'
import type { Times } from '../queue/times.ts'

/**
 * The entry points of commands. Only the files under `compose/` and `operations/{check,init}` import concrete adapters; they open
 * and dispose them. Default `times`: the time-outs and intervals of production.
 */
export function createCompose(times?: Times) {
  return {
    sourceProblem,
    openControl: (config: Config, log: Log, options: ControlOptions) =>
      openControl(config, log, options, times),
    collectBundle: onDemand(async () => (await import('./bundle.ts')).collectBundle),
    runDaemon: async (
      config: Config,
      log: Log,
      signal: AbortSignal,
      output: DaemonOutput,
      readAgain: () => Promise<Config>,
    ) => (await import('./daemon.ts')).runDaemon(config, log, signal, output, readAgain, times),
    runWorker: async (
      config: Config,
      log: Log,
      signal: AbortSignal,
      readAgain: () => Promise<Config>,
      onReady: () => void,
    ) => (await import('./worker.ts')).runWorker(config, log, signal, { readAgain, onReady }, times),
    reload: onDemand(async () => (await import('./reload.ts')).reloadDaemon),
    runCheck: async function* (config: Config, log: Log, request: CheckRequest, signal: AbortSignal) {
      yield* (await import('../operations/check.ts')).runCheck(config, log, request, signal)
    },
    testNotifications: async function* (config: Config, only: string | undefined, signal: AbortSignal) {
      yield* (await import('./test-notifications.ts')).testNotifications(config, only, signal)
    },
    openInit: async (log: Log, signal: AbortSignal) =>
      new (await import('../operations/init/init.ts')).InitSteps(log, signal),
    moveStore: onDemand(async () => (await import('./move-store.ts')).moveStore),
  }
}

/** Loads the module at the first call, so that commands start sooner. */
function onDemand<Args extends unknown[], Result>(load: () => Promise<(...args: Args) => Promise<Result>>) {
  return async (...args: Args): Promise<Result> => (await load())(...args)
}
