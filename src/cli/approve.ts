import { userInfo } from 'node:os'
import type { Command } from 'commander'
import type { Control, RunSummary } from '../control/control.ts'
import { wholeNumber } from './arguments.ts'
import type { Runner, Session } from './context.ts'
import { followRun } from './follow.ts'

const HELP = `
An approval covers exactly the changes that the guards held in this run. The run that applies them makes a new plan, and
what goes beyond the approval is held again.

Examples:
  dirsyncd runs 12        shows what would be approved
  dirsyncd approve 12`

export function addApprove(program: Command, run: Runner): void {
  program
    .command('approve')
    .description('Approve the changes of a held run.')
    .argument('<run>', 'The number of the held run.', wholeNumber)
    .addHelpText('after', HELP)
    .action((number: number) => run((session) => approve(session, number)))
}

async function approve(session: Session, number: number): Promise<number> {
  const { compose, config, log } = session
  await using control = await compose.openControl(config, log)
  const approved = await control.approve(number, whoAmI())
  const applying = await findApprovalRun(control, approved)
  if (!session.json) session.print(approvedLine(approved, applying))
  else if (applying === undefined) session.printJson(approved)
  return applying === undefined ? 0 : await followRun(session, control, applying, { all: false })
}

/** The run that the approval started; `undefined` when it started none, because then the next run applies it. */
async function findApprovalRun(control: Control, approved: RunSummary): Promise<number | undefined> {
  const newest = await control.runs({ sync: approved.sync, limit: 10 })
  return newest.find((run) => run.trigger === 'approval' && run.run > approved.run)?.run
}

function approvedLine({ run, sync }: RunSummary, applying: number | undefined): string {
  const next = applying === undefined ? `the next run of ${sync} applies it` : `run ${applying} applies it`
  return `Run ${run} of ${sync} is approved; ${next}.`
}

/** The user name that is recorded with a decision. */
export function whoAmI(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run as a user without a name.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
