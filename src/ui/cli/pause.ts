import type { Command } from 'commander'
import { earlierPauseText, pauseText } from '../../operations/control.ts'
import { reasonText } from './reason.ts'
import type { Runner, Session } from './context.ts'
import { openControl, syncNames } from './open-control.ts'
import { whoAmI } from './who-am-i.ts'

const HELP = `
Nothing of the sync is written until dirsyncd resume, neither on schedule nor on demand; dirsyncd plan still works. A run
that is under way ends within seconds: what it has sent stays, and the rest is for a later run.

Examples:
  dirsyncd pause corp
  dirsyncd pause corp --reason "the LDAP server is being moved"`

export function addPause(program: Command, run: Runner): void {
  program
    .command('pause')
    .description('Stop a sync until it is resumed.')
    .argument('<sync>', 'The name of a sync.')
    .option('--reason <text>', 'Why, for everybody who looks at it; up to 500 characters.', reasonText)
    .addHelpText('after', HELP)
    .action((sync: string, { reason }: { reason?: string }) => run((session) => pause(session, sync, reason)))
}

async function pause(session: Session, sync: string, reason: string | undefined): Promise<number> {
  await syncNames(session, sync)
  await using control = await openControl(session, {
    advice: (owner) =>
      `To stop it now, end that process: ${owner.howToEnd}; nothing is lost, and the next run goes on.`,
  })
  const asked = { sync, by: whoAmI(session.configPlace.env), ...(reason && { reason }) }
  const paused = await control.pause(asked)
  if (session.json) session.printJson(paused)
  else {
    const { pause: now, stopped } = paused
    const ends = stopped === null ? '' : ` Run ${stopped}, which was under way, ends now.`
    session.print(`${earlierPauseText(now, asked) ?? pauseText(now)}.${ends}`)
  }
  return 0
}
