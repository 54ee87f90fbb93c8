import type { Command } from 'commander'
import { environment } from '../../base/yaml/load.ts'
import { type Io, newProgram, runProgram } from '../../base/terminal/run-program.ts'
import type { Env } from '../../base/secrets/secret.ts'
import { type Config, loadConfig } from '../config/config.ts'
import { resources } from '../resources/resources.ts'
import { addConformance } from './conformance.ts'
import type { Parts, Runner } from './context.ts'
import { addImport } from './import.ts'
import { addKey } from './key.ts'
import { addResource } from './resource.ts'
import { addSaml } from './saml.ts'
import { addStart } from './start.ts'
import { addToken } from './token.ts'
import { addUser } from './user.ts'

const HELP = `
The commands work whether the service runs or not.

Examples:
  access-service key create /etc/access-service/keys
  access-service start --config config/demo/access-service.yaml
  access-service organization create --name "Northgate Instruments" --domain northgate.example
  access-service contact create --organization 1 --name "Directory Sync" --email sync@northgate.example
  access-service directory create --organization 1 --name "Northgate people"
  access-service token create --contact 1 --scope ORG_READ --scope ORG
  access-service import access.yaml
  access-service conformance https://access.example.com --token-file token --organization 1 --directory 7

Exit codes:
  0   done
  1   an error, or a service that differs from the API description
  64  wrong usage
  78  wrong configuration`

/** What tests replace. */
export interface ServiceParts {
  readonly env: Env
  readonly parts: Parts
}

export const serviceParts: Parts = {
  openAdmin: async (service, log) => (await import('../admin/open.ts')).openServiceAdmin(service, log),
  runService: async (service, log, signal, onReady) =>
    (await import('../run.ts')).runService(service, log, signal, onReady),
  compare: async function* (request, session) {
    yield* (await import('../conformance.ts')).compare(request, session)
  },
}

/** Every error becomes one sentence on stderr. */
export function runAccessService(
  io: Io,
  { env, parts }: ServiceParts = { env: environment(), parts: serviceParts },
): Promise<number> {
  return runProgram<Config, Parts>(io, {
    create: createProgram,
    env,
    prepare: async ({ file }) => ({
      extra: parts,
      load: () => loadConfig({ env, ...(file !== undefined && { file }) }),
    }),
  })
}

/** Invalid usage throws a `CommanderError`; nothing here ends the process. */
export function createProgram(io: Io, run: Runner): Command {
  const program = newProgram(
    io,
    'access-service',
    'Configuration (default: $ACCESS_SERVICE_CONFIG, then /etc/access-service/access-service.yaml).',
  )
    .description(
      'The access-management service: runs it, manages its data, and tests any service against the API description.',
    )
    .addHelpText('after', HELP)
  addStart(program, run)
  for (const resource of Object.values(resources)) addResource(program, run, resource)
  for (const add of [addToken, addUser, addSaml, addImport, addKey, addConformance]) add(program, run)
  return program
}
