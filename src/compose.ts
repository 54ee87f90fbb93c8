import { runApiContract } from './compose/api-contract.ts'
import { collectBundle } from './compose/bundle.ts'
import { socketPath } from './admin/socket.ts'
import { reloadRemotely } from './control/remote.ts'
import { runCheck } from './compose/check.ts'
import { openControl } from './compose/control.ts'
import { type DaemonOutput, runDaemon } from './compose/daemon.ts'
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
    openControl: (config: Config, log: Log) => openControl(config, log, times),
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
    reload: ({ dataDir }: Config) => reloadRemotely(socketPath(dataDir)),
    runService,
    openServiceAdmin,
    createServiceKey,
    runCheck,
    runApiContract,
  }
}
