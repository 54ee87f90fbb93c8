import type { Command } from 'commander'
import type { Runner } from './context.ts'
import { runSyncs } from './sync.ts'

const HELP = `
Writes nothing. Exit code 0: source and directory do not differ; 2: there are changes, also where a check blocks them, such
as the grace period.

Examples:
  dirsyncd plan
  dirsyncd plan corp --all
  dirsyncd plan corp --json | jq '.counts | {planned, blocked}'`

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
