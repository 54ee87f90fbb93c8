import type { Command } from 'commander'
import { whoAmI } from './approve.ts'
import { wholeNumber } from './arguments.ts'
import type { Runner, Session } from './context.ts'

const HELP = `
The held changes are not applied until they change; the next runs apply all others.

Examples:
  dirsyncd reject 12`

export function addReject(program: Command, run: Runner): void {
  program
    .command('reject')
    .description('Reject the changes of a held run.')
    .argument('<run>', 'The number of the held run.', wholeNumber)
    .addHelpText('after', HELP)
    .action((number: number) => run((session) => reject(session, number)))
}

async function reject(session: Session, number: number): Promise<number> {
  const { compose, config, log } = session
  await using control = await compose.openControl(config, log)
  const rejected = await control.reject(number, whoAmI())
  if (session.json) session.printJson(rejected)
  else {
    session.print(
      `Run ${rejected.run} of ${rejected.sync} is rejected; its held changes are not applied until they change.`,
    )
  }
  return 0
}
