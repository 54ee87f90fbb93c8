import { socketPath } from '../../src/base/socket/socket.ts'
import { createCompose } from '../../src/compose/compose.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Control, RunView } from '../../src/operations/control.ts'
import { openRemoteControl } from '../../src/operations/remote.ts'
import { createLog } from '../../src/base/log/log.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveContender } from '../contender.ts'

export interface DaemonTask {
  readonly config: string
  readonly sync: string
  /** The expected counts of each run; other counts are an error. */
  readonly expect: { readonly unchanged: number; readonly applied: number }
}

/** The daemon, as `dirsyncd start` runs it. A repetition is one run from its request to its end. */
serveContender(async ({ config: file, sync, expect }: DaemonTask) => {
  const config = await loadConfig({ file, env: {} })
  const stop = new AbortController()
  const ends = new Map<number, PromiseWithResolvers<RunView>>()
  const endOf = (run: number) => {
    const end = ends.get(run) ?? Promise.withResolvers<RunView>()
    ends.set(run, end)
    return end
  }
  const output = {
    announce: () => undefined,
    operator: undefined,
    onReady: () => undefined,
    onRunEnd: (run: RunView) => endOf(run.run).resolve(run),
  }
  const log = createLog('warn')
  const daemon = createCompose().runDaemon(config, log, stop.signal, output, async () => config)
  daemon.catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
  const control = await waitForDaemon(socketPath(config.dataDir))
  return {
    async run() {
      const run = await control.requestRun({ sync, mode: 'sync' })
      check(await endOf(run).promise, expect)
    },
    async close() {
      await control[Symbol.asyncDispose]()
      stop.abort()
      await daemon
    },
  }
})

async function waitForDaemon(socket: string): Promise<Control> {
  for (;;) {
    const control = await openRemoteControl(socket)
    if (control !== undefined) return control
    await sleep(20)
  }
}

function check(run: RunView, expect: DaemonTask['expect']): void {
  const unchanged = run.counts?.unchanged
  const applied = run.counts?.outcomes.applied ?? 0
  if (run.state === 'done' && unchanged === expect.unchanged && applied === expect.applied) return
  const found = JSON.stringify({ state: run.state, error: run.error, counts: run.counts })
  throw new Error(`the run is not the expected one (${JSON.stringify(expect)}): ${found}`)
}
