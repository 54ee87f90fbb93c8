import type { Command } from 'commander'
import type { Runner } from './context.ts'
import { runSyncs } from './sync.ts'

const HELP = `
Writes nothing. Exit code 0: the directory is equal to the source; 2: there are changes, or
some that wait for a person or for a better read, or that are in quarantine.

Examples:
  dirsyncd plan
  dirsyncd plan corp --all
  dirsyncd plan corp --json | jq '.counts.planned'`

export function addPlan(program: Command, run: Runner): void {
  program
    .command('plan')
    .description('Show what a sync would change.')
    .argument('[sync]', 'The name of a sync. Left out: every configured sync.')
    .option('--all', 'Show every change, not only the first of each kind.')
    .addHelpText('after', HELP)
    .action((sync: string | undefined, options: { all?: boolean }) =>
      run((session) => runSyncs(session, { sync, mode: 'plan', all: options.all === true })),
    )
}
