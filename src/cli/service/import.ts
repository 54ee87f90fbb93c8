import type { Command } from 'commander'
import { amount } from '../../directory/wording.ts'
import { printable } from '../../printable.ts'
import type { Runner, Session } from '../context.ts'
import { printResult, withService } from './admin.ts'

const HELP = `
The file has the form of config/demo/service.yaml. What does not exist is created. What exists gets the values that the
file names, except what its contact may have changed since: name, favorite, position and credentials of a subscription.
Tokens, users and groups of directories that exist stay as they are. Nothing is removed, and what an operator removed or
revoked does not come back, so the same file may be imported again.

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
  const { created, changed, leftOut } = await withService(session, (admin) => admin.importFile(file))
  const done = [
    ...Object.entries(created).map(([what, count]) => `${amount(count, what)} created`),
    ...Object.entries(changed).map(([what, count]) => `${amount(count, what)} changed`),
  ]
  const text = done.length === 0 ? 'Nothing to do.' : `${done.join(', ')}.`
  const without =
    leftOut.length === 0 ? '' : ` Left out, because an operator removed it: ${printable(shortened(leftOut))}.`
  printResult(session, { created, changed, leftOut }, `${text}${without}`)
  return 0
}

const SHOWN = 20

function shortened(names: readonly string[]): string {
  const more = names.length - SHOWN
  return names.slice(0, SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
