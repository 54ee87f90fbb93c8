import { wholeNumber } from '../../base/terminal/arguments.ts'
import type { Command } from 'commander'
import { amount } from '../../base/wording.ts'
import { printable } from '../../base/printable.ts'
import type { Runner, Session } from './context.ts'
import { printResult, printRows, withService } from './admin.ts'
import { repeatedId } from './id.ts'

const HELP = `
The API allows a user without an external id. Its lists show the user, but no request can name it: only these commands
remove it. dirsyncd never touches such users.

Examples:
  access-service user list --directory 1
  access-service user remove 4711 4712`

export function addUser(service: Command, run: Runner): void {
  const group = service.command('user').description('Users of directories that have no external id.')
  group
    .command('list')
    .description('List the users without an external id.')
    .option('--directory <number>', 'Only those of this directory.', wholeNumber)
    .addHelpText('after', HELP)
    .action((options: { directory?: number }) => run((session) => list(session, options.directory)))
  group
    .command('remove')
    .description('Remove users without an external id.')
    .argument('<ids...>', 'Their ids, as the list shows them.', repeatedId)
    .addHelpText('after', HELP)
    .action((ids: number[]) => run((session) => remove(session, ids)))
}

async function list(session: Session, directoryId: number | undefined): Promise<number> {
  const rows = await withService(session, (admin) => admin.perform('listUsersWithoutId', { directoryId }))
  printRows(session, rows, {
    head: ['ID', 'DIRECTORY', 'NAME', 'E-MAIL'],
    cells: ({ id, directory, name, email }) => [
      String(id),
      String(directory),
      printable(name ?? ''),
      printable(email ?? ''),
    ],
    none: 'Every user has an external id.',
  })
  return 0
}

async function remove(session: Session, ids: number[]): Promise<number> {
  const removed = await withService(session, (admin) => admin.perform('removeUsersWithoutId', { ids }))
  printResult(
    session,
    { removed },
    `${amount(removed.length, 'user')} ${removed.length === 1 ? 'is' : 'are'} removed.`,
  )
  return 0
}
