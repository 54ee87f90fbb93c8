import type { Command } from 'commander'
import type { Runner, Session } from './context.ts'

const HELP = `
The section service of the configuration says where it listens and where its data is. The first SIGINT or SIGTERM stops
taking requests and lets those in flight finish; the second ends at once.

Examples:
  access-service start --config config/demo/access-service.yaml
  access-service start --faults 500=0.1,429=0.1:1s,latency=0.1:200ms,drop-before=0.05,drop-after=0.05,seed=7`

export function addStart(program: Command, run: Runner): void {
  program
    .command('start')
    .description('Run the access-management service.')
    .option('--faults <faults>', 'Inject faults into this share of the requests, for tests.')
    .addHelpText('after', HELP)
    .action(({ faults }: { faults?: string }) =>
      run((session) => start(session, faults), { longRunning: true }),
    )
}

async function start(session: Session, faults: string | undefined): Promise<number> {
  const { config, log, signal, runService } = session
  const service = faults === undefined ? config.service : { ...config.service, faults }
  await runService(service, log, signal, (url) => {
    const message = `The access-management service listens on ${url}`
    if (session.json) session.printJson({ message })
    else session.print(message)
    session.ready()
  })
  return 0
}
