import type { Command } from 'commander'
import { amount } from '../../base/wording.ts'
import { printable } from '../../base/printable.ts'
import type { Runner, Session } from './context.ts'
import { printResult, withService } from './admin.ts'

const HELP = `
The file has the form of config/demo/organizations.yaml. What does not exist is created; users and groups come only with a new
directory, events only with a new organization. What exists stays as it is, and the answer names what is different from
the file: access-service NAME change changes it. What an operator removed or revoked does not come back, so the same
file may be imported again.

Examples:
  access-service import access.yaml`

export function addImport(service: Command, run: Runner): void {
  service
    .command('import')
    .description('Create what a file describes and the service lacks.')
    .argument('<file>', 'YAML file.')
    .addHelpText('after', HELP)
    .action((file: string) => run((session) => importFile(session, file)))
}

async function importFile(session: Session, file: string): Promise<number> {
  const { created, different, leftOut, notRead } = await withService(session, (admin) =>
    admin.importFile(file),
  )
  const done = Object.entries(created).map(([what, count]) => `${amount(count, what)} created`)
  const parts = [
    done.length === 0 ? 'Nothing to create.' : `${done.join(', ')}.`,
    ...(different.length === 0
      ? []
      : [`Different from the file, and left as it is: ${shortened(different)}.`]),
    ...(notRead.length === 0
      ? []
      : [
          `Tokens left out, because their contacts exist and their files cannot be read: ${shortened(notRead)}.`,
        ]),
    ...(leftOut.length === 0
      ? []
      : [`Left out, because an operator removed it or what it belongs or refers to: ${shortened(leftOut)}.`]),
  ]
  printResult(session, { created, different, leftOut, notRead }, printable(parts.join(' ')))
  return 0
}

const SHOWN = 20

function shortened(names: readonly string[]): string {
  const more = names.length - SHOWN
  return names.slice(0, SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
