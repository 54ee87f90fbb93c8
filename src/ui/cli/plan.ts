import type { Command } from 'commander'
import type { Runner } from './context.ts'
import { runSyncs } from './sync.ts'

const HELP = `
Writes nothing. Exit code 0: there is nothing to change now (who is absent may still be in grace); 2: there are changes,
or some that wait for a person or for a better read, that are in quarantine, or entries that share an external id.

Examples:
  dirsyncd plan
  dirsyncd plan corp --all
  dirsyncd plan corp --json | jq '.counts.planned'`

export function addPlan(program: Command, run: Runner): void {
  program
    .command('plan')
    .description('Show what a sync would change.')
    .argument('[sync]', 'The name of a sync. Left out: every configured sync.')
    .option('--all', 'Show every change and notice, not only the first of each kind and what is new.')
    .addHelpText('after', HELP)
    .action((sync: string | undefined, options: { all?: boolean }) =>
      run((session) => runSyncs(session, { sync, mode: 'plan', all: options.all === true })),
    )
}
