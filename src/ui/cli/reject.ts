import type { Command } from 'commander'
import type { Runner } from './context.ts'
import { addDecisionOptions, decide, type DecisionOptions } from './decide.ts'

const HELP = `
Rejects the open questions that this run showed: these changes are not made until an operator approves them or the source
does not want them any more. Reports and the overview keep counting them. Where the run asks for more than one reason, choose
one with --code, or all with --all. --id and --only reject a part; what is not chosen stays asked (exit code 3). A run under way that
would make a rejected change ends: what it has sent stays sent, and the next run makes the rest.

Examples:
  dirsyncd reject 12 --reason "on parental leave"
  dirsyncd reject 12 --code container-emptied
  dirsyncd reject 12 --id e-1001`

export function addReject(program: Command, run: Runner): void {
  addDecisionOptions(program.command('reject').description('Reject what a run asks, or a part of it.'))
    .addHelpText('after', HELP)
    .action((number: number, options: DecisionOptions) =>
      run((session) => decide(session, 'reject', number, options)),
    )
}
