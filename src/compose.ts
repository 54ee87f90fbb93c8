import { runApiContract } from './compose/api-contract.ts'
import { collectBundle } from './compose/bundle.ts'
import { runCheck } from './compose/check.ts'
import { type ControlOptions, openControl } from './compose/control.ts'
import { type DaemonOutput, runDaemon } from './compose/daemon.ts'
import { reloadDaemon } from './compose/reload.ts'
import { createServiceKey, openServiceAdmin } from './compose/service-admin.ts'
import { runService } from './compose/service.ts'
import { sourceProblem } from './compose/site.ts'
import { runWorker } from './compose/worker.ts'
import type { Config } from './config/config.ts'
import type { Log } from './log.ts'
import type { Times } from './queue/times.ts'

/**
 * Builds each process. Only the files under `compose/` import concrete adapters; they open and dispose them. Without
 * `times`, the time-outs and intervals are those of production.
 */
export function createCompose(times?: Times) {
  return {
    sourceProblem,
    openControl: (config: Config, log: Log, options: ControlOptions) =>
      openControl(config, log, options, times),
    collectBundle,
    runDaemon: (
      config: Config,
      log: Log,
      signal: AbortSignal,
      output: DaemonOutput,
      readAgain: () => Promise<Config>,
    ) => runDaemon(config, log, signal, output, readAgain, times),
    runWorker: (config: Config, log: Log, signal: AbortSignal, readAgain: () => Promise<Config>) =>
      runWorker(config, log, signal, readAgain, times),
    reload: reloadDaemon,
    runService,
    openServiceAdmin,
    createServiceKey,
    runCheck,
    runApiContract,
  }
}
