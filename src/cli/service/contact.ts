import type { Command } from 'commander'
import { wholeNumber } from '../arguments.ts'
import type { Runner, Session } from '../context.ts'
import { printable } from '../../printable.ts'
import { printResult, printRows, withService } from './admin.ts'

const CREATE_HELP = `
A token belongs to a contact, and events name the contact.

Examples:
  dirsyncd service contact create --organization 1 --name "Directory Sync" --email sync@northgate.example`

const LIST_HELP = `
Examples:
  dirsyncd service contact list
  dirsyncd service contact list --organization 1 --json | jq -r .email`

export function addContact(service: Command, run: Runner): void {
  const group = service.command('contact').description('Contacts of the organizations.')
  group
    .command('create')
    .description('Create a contact.')
    .requiredOption('--organization <number>', 'The organization that it belongs to.', wholeNumber)
    .requiredOption('--name <name>', 'Its name.')
    .requiredOption('--email <address>', 'Its e-mail address.')
    .addHelpText('after', CREATE_HELP)
    .action((options: { organization: number; name: string; email: string }) =>
      run((session) => create(session, options)),
    )
  group
    .command('list')
    .description('List the contacts.')
    .option('--organization <number>', 'Only those of this organization.', wholeNumber)
    .addHelpText('after', LIST_HELP)
    .action((options: { organization?: number }) => run((session) => list(session, options.organization)))
}

async function create(
  session: Session,
  {
    organization,
    ...input
  }: { readonly organization: number; readonly name: string; readonly email: string },
): Promise<number> {
  const made = await withService(session, (admin) =>
    admin.perform('createContact', { organizationId: organization, ...input }),
  )
  const text = `Contact ${made.id}, ${printable(made.name)}, of organization ${made.organizationId} is created.`
  printResult(session, made, text)
  return 0
}

async function list(session: Session, organizationId: number | undefined): Promise<number> {
  const rows = await withService(session, (admin) => admin.perform('listContacts', { organizationId }))
  printRows(session, rows, {
    head: ['ID', 'ORGANIZATION', 'NAME', 'E-MAIL', 'STATUS'],
    cells: (row) => [
      String(row.id),
      String(row.organizationId),
      printable(row.name),
      printable(row.email),
      row.status,
    ],
    none: 'There are no contacts; dirsyncd service contact create makes one.',
  })
  return 0
}
