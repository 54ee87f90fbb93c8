import type { Command } from 'commander'
import type { Config } from '../config/load.ts'
import { DirsyncdError } from '../errors.ts'
import type { Runner, Session } from './context.ts'
import { announce } from './start.ts'

const HELP = `
The section service of the configuration says where it listens and where its data is.

Examples:
  dirsyncd service --config config/demo.yaml
  dirsyncd service --faults 500=0.1,429=0.1:1s,latency=0.1:200ms,drop-before=0.05,drop-after=0.05,seed=7`

export function addService(program: Command, run: Runner): void {
  program
    .command('service')
    .description('Run the access-management service itself, for trials and tests.')
    .option('--faults <faults>', 'Make this share of the requests go wrong, on purpose.')
    .addHelpText('after', HELP)
    .action((options: { faults?: string }) =>
      run((session) => service(session, options.faults), { longRunning: true }),
    )
}

async function service(session: Session, faults: string | undefined): Promise<number> {
  const { compose, log, signal } = session
  await compose.runService(withFaults(session.config, faults), log, signal, announce(session))
  return 0
}

function withFaults(config: Config, faults: string | undefined): Config {
  if (config.service === undefined) {
    throw new DirsyncdError(
      'config-invalid',
      `${config.file} has no section service; add one, as config/example.yaml shows.`,
    )
  }
  return faults === undefined ? config : { ...config, service: { ...config.service, faults } }
}
