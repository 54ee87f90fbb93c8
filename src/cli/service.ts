import type { Command } from 'commander'
import type { Runner } from './context.ts'
import { resources } from '../compose/service-resources.ts'
import { addImport } from './service/import.ts'
import { addKey } from './service/key.ts'
import { addResource } from './service/resource.ts'
import { runService } from './service/run.ts'
import { addSaml } from './service/saml.ts'
import { addToken } from './service/token.ts'
import { addUser } from './service/user.ts'

const HELP = `
Without a command, the service runs. The section service of the configuration says where it listens and where its data
is. The commands work whether it runs or not.

Examples:
  dirsyncd service --config config/demo.yaml
  dirsyncd service --faults 500=0.1,429=0.1:1s,latency=0.1:200ms,drop-before=0.05,drop-after=0.05,seed=7
  dirsyncd service key create /etc/dirsyncd/service-keys
  dirsyncd service organization create --name "Northgate Instruments" --domain northgate.example
  dirsyncd service contact create --organization 1 --name "Directory Sync" --email sync@northgate.example
  dirsyncd service directory create --organization 1 --name "Northgate people"
  dirsyncd service token create --contact 1 --scope ORG_READ --scope ORG
  dirsyncd service saml metadata --organization 1
  dirsyncd service import access.yaml`

export function addService(program: Command, run: Runner): void {
  const service = program
    .command('service')
    .description('Run the access-management service itself, or manage what is in it.')
    .option('--faults <faults>', 'Inject faults into this share of the requests, for tests.')
    .addHelpText('after', HELP)
    .action((options: { faults?: string }) =>
      run((session) => runService(session, options.faults), { longRunning: true }),
    )
  for (const resource of Object.values(resources)) addResource(service, run, resource)
  for (const add of [addToken, addUser, addSaml, addImport, addKey]) add(service, run)
}
