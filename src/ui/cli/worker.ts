import type { Command } from 'commander'
import type { Runner, Session } from './context.ts'
import { requireSyncs } from './select-syncs.ts'

const HELP = `
Needs a queue and a store that the daemon and the worker share: Redis or PostgreSQL. SIGHUP has the worker read the
configuration again.

Examples:
  dirsyncd worker
  dirsyncd worker --config /etc/dirsyncd/dirsyncd.yaml`

export function addWorker(program: Command, run: Runner): void {
  program
    .command('worker')
    .description('Run more workers beside a daemon, usually on another machine.')
    .addHelpText('after', HELP)
    .action(() => run(worker, { longRunning: true }))
}

async function worker({ compose, config, log, signal, readAgain, ready }: Session): Promise<number> {
  requireSyncs(config)
  await compose.runWorker(config, log, signal, async () => requireSyncs(await readAgain()), ready)
  return 0
}
