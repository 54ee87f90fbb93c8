import { wholeNumber } from '../../base/terminal/arguments.ts'
import type { Command } from 'commander'
import { pointInTime } from '../../base/wording.ts'
import type { Runner, Session } from './context.ts'
import { printResult, printRows, withService } from './admin.ts'

const METADATA_HELP = `
Give it to an application that people log in to: it has the entity id of the organization and the certificates of all
its keys. access-service organization change ID --entity-id URL sets another entity id.

Examples:
  access-service saml metadata --organization 1 > idp.xml`

const KEY_HELP = `
To replace a key without an interruption:
  access-service saml key create --organization 1     the metadata names the new key beside the old one
  access-service saml metadata --organization 1       give it to every application
  access-service saml key use 2                       the new key signs
  access-service saml key remove 1                    the metadata no longer names the old key

Examples:
  access-service saml key list --organization 1`

export function addSaml(service: Command, run: Runner): void {
  const saml = service.command('saml').description('What applications need to trust the SAML assertions.')
  withOrganization(saml.command('metadata'))
    .description('Print the metadata of an organization.')
    .addHelpText('after', METADATA_HELP)
    .action(({ organization }: { organization: number }) => run((session) => metadata(session, organization)))
  const key = saml.command('key').description('Keys that sign the assertions.')
  withOrganization(key.command('create'))
    .description('Make a key, which the metadata names and which does not sign yet.')
    .addHelpText('after', KEY_HELP)
    .action(({ organization }: { organization: number }) => run((session) => create(session, organization)))
  withOrganization(key.command('list'))
    .description('List the keys of an organization.')
    .addHelpText('after', KEY_HELP)
    .action(({ organization }: { organization: number }) => run((session) => list(session, organization)))
  key
    .command('use')
    .description('Let a key sign.')
    .argument('<id>', 'Its id, as the list shows it.', wholeNumber)
    .addHelpText('after', KEY_HELP)
    .action((id: number) => run((session) => use(session, id)))
  key
    .command('remove')
    .description('Remove a key that does not sign.')
    .argument('<id>', 'Its id, as the list shows it.', wholeNumber)
    .addHelpText('after', KEY_HELP)
    .action((id: number) => run((session) => remove(session, id)))
}

function withOrganization(command: Command): Command {
  return command.requiredOption('--organization <number>', 'The organization that signs.', wholeNumber)
}

async function metadata(session: Session, organizationId: number): Promise<number> {
  const read = await withService(session, (admin) => admin.perform('readSamlMetadata', { organizationId }))
  printResult(session, read, read.metadata.trimEnd())
  return 0
}

async function create(session: Session, organizationId: number): Promise<number> {
  const made = await withService(session, (admin) => admin.perform('createSamlKey', { organizationId }))
  const next = made.current
    ? 'It signs.'
    : `Give the new metadata to every application, then run access-service saml key use ${made.id}.`
  printResult(session, made, `Key ${made.id} is in the metadata of organization ${organizationId}. ${next}`)
  return 0
}

async function list(session: Session, organizationId: number): Promise<number> {
  const keys = await withService(session, (admin) => admin.perform('listSamlKeys', { organizationId }))
  printRows(session, keys, {
    head: ['ID', 'SIGNS', 'CREATED', 'EXPIRES', 'SHA-256 OF THE CERTIFICATE'],
    cells: ({ id, current, createdAt, expiresAt, fingerprint }) => [
      String(id),
      current ? 'yes' : 'no',
      pointInTime(createdAt),
      pointInTime(expiresAt),
      fingerprint,
    ],
    none: 'There is no key yet; access-service saml metadata makes one.',
  })
  return 0
}

async function use(session: Session, id: number): Promise<number> {
  const used = await withService(session, (admin) => admin.perform('useSamlKey', { id }))
  printResult(session, used, `Key ${id} signs for organization ${used.organization}.`)
  return 0
}

async function remove(session: Session, id: number): Promise<number> {
  const removed = await withService(session, (admin) => admin.perform('removeSamlKey', { id }))
  printResult(session, removed, `Key ${id} of organization ${removed.organization} is removed.`)
  return 0
}
