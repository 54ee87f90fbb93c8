import type { Command } from 'commander'
import { repeated } from '../arguments.ts'
import type { Runner, Session } from '../context.ts'
import { printable } from '../../printable.ts'
import { printResult, printRows, withService } from './admin.ts'

const CREATE_HELP = `
Examples:
  dirsyncd service organization create --name "Northgate Instruments" --domain northgate.example
  dirsyncd service organization create --name Labs --domain labs.example --domain labs.test --json | jq .id`

const LIST_HELP = `
Examples:
  dirsyncd service organization list
  dirsyncd service organization list --json | jq -r .name`

export function addOrganization(service: Command, run: Runner): void {
  const group = service.command('organization').description('Organizations of the service.')
  group
    .command('create')
    .description('Create an organization.')
    .requiredOption('--name <name>', 'Its name.')
    .requiredOption(
      '--domain <domain>',
      'A domain that e-mail addresses of its directories may have; once for each.',
      repeated,
    )
    .addHelpText('after', CREATE_HELP)
    .action((options: { name: string; domain: readonly string[] }) =>
      run((session) => create(session, options)),
    )
  group
    .command('list')
    .description('List the organizations.')
    .addHelpText('after', LIST_HELP)
    .action(() => run(list))
}

async function create(
  session: Session,
  { name, domain }: { readonly name: string; readonly domain: readonly string[] },
): Promise<number> {
  const input = { name, allowedDomains: [...domain] }
  const made = await withService(session, (admin) => admin.perform('createOrganization', input))
  printResult(session, made, `Organization ${made.id}, ${printable(made.name)}, is created.`)
  return 0
}

async function list(session: Session): Promise<number> {
  const rows = await withService(session, (admin) => admin.perform('listOrganizations', {}))
  printRows(session, rows, {
    head: ['ID', 'NAME', 'DOMAINS'],
    cells: ({ id, name, allowedDomains }) => [String(id), printable(name), allowedDomains.join(', ')],
    none: 'There are no organizations yet; dirsyncd service organization create makes one.',
  })
  return 0
}
