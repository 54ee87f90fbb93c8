import type { Command } from 'commander'
import { wholeNumber } from '../arguments.ts'
import type { Runner, Session } from '../context.ts'
import { digits } from '../../directory/wording.ts'
import { printable } from '../../printable.ts'
import { printResult, printRows, withService } from './admin.ts'

const CREATE_HELP = `
Examples:
  dirsyncd service directory create --organization 1 --name "Northgate people"
  dirsyncd service directory create --organization 1 --name Contractors --target-type csv --json | jq .id`

const LIST_HELP = `
Examples:
  dirsyncd service directory list
  dirsyncd service directory list --organization 1 --json | jq '{id, users}'`

export function addDirectory(service: Command, run: Runner): void {
  const group = service.command('directory').description('Directories of the organizations.')
  group
    .command('create')
    .description('Create an empty directory.')
    .requiredOption('--organization <number>', 'The organization that it belongs to.', wholeNumber)
    .requiredOption('--name <name>', 'Its name.')
    .option('--target-type <type>', 'What it is filled from.', 'ldap')
    .addHelpText('after', CREATE_HELP)
    .action((options: { organization: number; name: string; targetType: string }) =>
      run((session) => create(session, options)),
    )
  group
    .command('list')
    .description('List the directories.')
    .option('--organization <number>', 'Only those of this organization.', wholeNumber)
    .addHelpText('after', LIST_HELP)
    .action((options: { organization?: number }) => run((session) => list(session, options.organization)))
}

async function create(
  session: Session,
  {
    organization,
    ...input
  }: { readonly organization: number; readonly name: string; readonly targetType: string },
): Promise<number> {
  const made = await withService(session, (admin) =>
    admin.perform('createDirectory', { organizationId: organization, ...input }),
  )
  const text = `Directory ${made.id}, ${printable(made.name)}, of organization ${made.organizationId} is created.`
  printResult(session, made, text)
  return 0
}

async function list(session: Session, organizationId: number | undefined): Promise<number> {
  const rows = await withService(session, (admin) => admin.perform('listDirectories', { organizationId }))
  printRows(session, rows, {
    head: ['ID', 'ORGANIZATION', 'NAME', 'TYPE', 'USERS', 'GROUPS'],
    cells: (row) => [
      String(row.id),
      String(row.organizationId),
      printable(row.name),
      printable(row.targetType),
      digits(row.users),
      digits(row.groups),
    ],
    none: 'There are no directories; dirsyncd service directory create makes one.',
  })
  return 0
}
