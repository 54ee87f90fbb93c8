import type { Command } from 'commander'
import type { Runner } from './context.ts'
import { addDecisionOptions, decide, type DecisionOptions } from './decide.ts'

const HELP = `
Approves the open questions that this run showed, and starts a run that makes these changes. What later runs ask in addition
is not approved. Where the run asks for more than one reason, choose one with --code, or all with --all.

--id and --only approve a part: these changes and what they need, such as the user that a membership is of. They also lift
the grace period, and release changes that only wait for the decision about others. What is not chosen stays asked (exit code 3).

--id overrules an earlier rejection, and --code rejected all that RUN showed and somebody rejected; nothing else does. An
approval that no run used ends after guards.approvalsExpireAfter. The approval of server-not-newer accepts the state of this
server; all other checks still apply.

Examples:
  dirsyncd runs 12        shows what would be approved
  dirsyncd approve 12 --reason "the branch in Graz was closed"
  dirsyncd approve 12 --code container-emptied
  dirsyncd approve 12 --only updates
  dirsyncd approve 12 --id e-1001`

export function addApprove(program: Command, run: Runner): void {
  addDecisionOptions(program.command('approve').description('Approve what a run asks, or a part of it.'))
    .option('--yes', 'Do not ask.')
    .addHelpText('after', HELP)
    .action((number: number, options: DecisionOptions) =>
      run((session) => decide(session, 'approve', number, options)),
    )
}
