import type { Command } from 'commander'
import { amount } from '../../directory/wording.ts'
import type { Runner, Session } from '../context.ts'
import { printResult, withService } from './admin.ts'

const HELP = `
The file has the form of config/demo/service.yaml. What does not exist is created. What exists gets the values that the
file names, except what its contact may have changed since: name, favorite, position and credentials of a subscription.
Tokens, users and groups of directories that exist stay as they are. Nothing is removed, so the same file may be
imported again.

Examples:
  dirsyncd service import access.yaml`

export function addImport(service: Command, run: Runner): void {
  service
    .command('import')
    .description('Create or change what a file describes.')
    .argument('<file>', 'YAML file.')
    .addHelpText('after', HELP)
    .action((file: string) => run((session) => importFile(session, file)))
}

async function importFile(session: Session, file: string): Promise<number> {
  const { created, changed } = await withService(session, (admin) => admin.importFile(file))
  const done = [
    ...Object.entries(created).map(([what, count]) => `${amount(count, what)} created`),
    ...Object.entries(changed).map(([what, count]) => `${amount(count, what)} changed`),
  ]
  printResult(session, { created, changed }, done.length === 0 ? 'Nothing to do.' : `${done.join(', ')}.`)
  return 0
}
