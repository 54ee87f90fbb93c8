import type { Command } from 'commander'
import { type Control, isPlanStillHeld, type RunSummary } from '../control/control.ts'
import { undecided } from '../plan/decide.ts'
import { wholeNumber } from './arguments.ts'
import type { Runner, Session } from './context.ts'
import { followRun } from './follow.ts'
import { whoAmI } from './who-am-i.ts'

const HELP = `
An approval covers exactly the changes that the guards held in this run. The run that applies them makes a new plan, and
what goes beyond the approval is held again.

--only NAME approves only the guards or findings of this name, as the report prints it; the others stay open and can be
decided on later, in any order. A change that another guard holds too waits until that one is approved as well. Where
guards hold the whole plan, nothing is applied before all of them are decided on.

The approval of server-not-newer accepts the state of this server as the truth from now on. What follows from it is
planned anew and still meets the guards and findings.

Examples:
  dirsyncd runs 12        shows what would be approved
  dirsyncd approve 12
  dirsyncd approve 12 --only reborn`

export interface DecisionOptions {
  readonly only?: readonly string[]
}

export function addApprove(program: Command, run: Runner): void {
  program
    .command('approve')
    .description('Approve the changes of a held run.')
    .argument('<run>', 'The number of the held run.', wholeNumber)
    .option('--only <name...>', 'Only the guards or findings of these names; the others stay open.')
    .addHelpText('after', HELP)
    .action((number: number, { only }: DecisionOptions) => run((session) => approve(session, number, only)))
}

async function approve(session: Session, number: number, only: DecisionOptions['only']): Promise<number> {
  const { compose, config, log } = session
  await using control = await compose.openControl(config, log)
  const isRejected = (await control.run(number, { limit: 0 }))?.hold === 'rejected'
  const approved = await control.approve(number, whoAmI(), only)
  const waits = isPlanStillHeld(approved) || isPaused(approved)
  const applying = waits ? undefined : await findApprovalRun(control, approved)
  const overruled = isRejected ? [`Run ${number} had been rejected; this approval overrules that.`] : []
  if (!session.json) session.print(...overruled, approvedLine(approved, only, applying))
  else if (applying === undefined) session.printJson(approved)
  return applying === undefined ? 0 : await followRun(session, control, applying, { all: false })
}

/** An undo goes on while its sync is paused. */
function isPaused({ paused, undo }: RunSummary): boolean {
  return paused !== null && undo === null
}

/** The run that the approval started; `undefined` when it started none, because then the next run applies it. */
async function findApprovalRun(control: Control, approved: RunSummary): Promise<number | undefined> {
  const newest = await control.runs({ sync: approved.sync, limit: 10 })
  return newest.find((run) => run.trigger === 'approval' && run.run > approved.run)?.run
}

function approvedLine(
  approved: RunSummary,
  only: DecisionOptions['only'],
  applying: number | undefined,
): string {
  const { sync } = approved
  const later = isPaused(approved)
    ? `${sync} is paused, so a run after dirsyncd resume ${sync} applies it`
    : `the next run of ${sync} applies it`
  const next = applying === undefined ? later : `run ${applying} applies it`
  const what = isPlanStillHeld(approved) ? 'nothing is applied before all is decided' : next
  return `${whatIsDecided(approved, only, 'approved')}; ${what}.${whatWaits(approved)}`
}

/** `Run 4 of corp is approved`, or `reborn of run 4 of corp is approved`. */
export function whatIsDecided(
  { run, sync }: RunSummary,
  only: DecisionOptions['only'],
  decision: 'approved' | 'rejected',
): string {
  if (only === undefined) return `Run ${run} of ${sync} is ${decision}`
  return `${only.join(', ')} of run ${run} of ${sync} ${only.length === 1 ? 'is' : 'are'} ${decision}`
}

/** What of an open hold can still be decided on. */
export function whatWaits({ state, hold, breaches }: RunSummary): string {
  if (hold !== 'open') return ''
  const names = undecided(state, breaches).flatMap(({ guard, changes }) => (changes > 0 ? [guard] : []))
  return ` Still waiting for a decision: ${[...new Set(names)].join(', ')}.`
}
