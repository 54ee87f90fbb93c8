import type { Command } from 'commander'
import type { TestedChannel } from '../../compose/test-notifications.ts'
import { DirsyncdError } from '../../base/errors.ts'
import { printable } from '../../base/printable.ts'
import { named } from '../../base/terminal/arguments.ts'
import type { Runner, Session } from './context.ts'
import { EXIT } from './exit-code.ts'

const HELP = `
A daemon notifies whom the configuration names under notifications: when a plan is held, when runs fail several times in a
row and when they do not any more, when the evidence withholds something, when the service refuses changes, when a token
ends, and when somebody decides. This command sends a test to each of them, from this process, and says what came of it.

Examples:
  dirsyncd notify --test
  dirsyncd notify --test --channel ops`

export function addNotify(program: Command, run: Runner): void {
  program
    .command('notify')
    .description('Test whether notifications arrive.')
    .option('--test', 'Send a test.')
    .option('--channel <name>', 'To this channel only.', named)
    .addHelpText('after', HELP)
    .action((options: NotifyOptions) => run((session) => notify(session, options)))
}

interface NotifyOptions {
  readonly test?: boolean
  readonly channel?: string
}

async function notify(session: Session, { test = false, channel }: NotifyOptions): Promise<number> {
  if (!test)
    throw new DirsyncdError('usage', 'Say --test to send a test; the daemon sends all else by itself.')
  let failed = 0
  for await (const tested of session.compose.testNotifications(session.config, channel, session.signal)) {
    if (!tested.delivered) failed += 1
    if (session.json) session.printJson(tested)
    else session.print(lineOf(tested))
  }
  return failed > 0 ? EXIT.error : EXIT.done
}

function lineOf({ channel, type, recipient, detail }: TestedChannel): string {
  const to = recipient === null ? type : `${type}, ${printable(recipient)}`
  return `${channel} (${to}): ${detail === null ? 'delivered' : `not delivered, ${printable(detail)}`}`
}
