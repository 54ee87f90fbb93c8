import type { Command } from 'commander'
import { digits } from '../../base/wording.ts'
import type { Runner, Session } from './context.ts'

const HELP = `
End the daemon, set store in the configuration to the URL of an empty PostgreSQL database, run this command, and start the
daemon again: runs, plans, decisions, quarantine and all else that the embedded store in dataDir has are in the database
then. The files of the embedded store are put aside and not deleted.

Examples:
  dirsyncd store move`

export function addStore(program: Command, run: Runner): void {
  const store = program.command('store').description('Look after the store.')
  store
    .command('move')
    .description(
      'Move what the embedded store has into the PostgreSQL database that the configuration names.',
    )
    .addHelpText('after', HELP)
    .action(() => run(move))
}

async function move({ compose, config, log, json, print, printJson }: Session): Promise<number> {
  const moved = await compose.moveStore(config, log)
  if (json) printJson(moved)
  else if (moved.tables.length === 0)
    print(
      'All is in PostgreSQL already.',
      `The files of the embedded store are in ${moved.kept}; remove them when all is well.`,
    )
  else {
    const rows = moved.tables.map(
      ({ table, rows: count }) => `  ${table.replaceAll('_', ' ')}: ${digits(count)}`,
    )
    print(
      'Moved:',
      ...rows,
      `The files of the embedded store are in ${moved.kept}; remove them when all is well.`,
    )
  }
  return 0
}
