import type { Command } from 'commander'
import { isApprovedInPart, type RunSummary } from '../../operations/control.ts'
import { approvalRuns, type DecisionOptions, whatIsDecided, whatWaits } from './approve.ts'
import { wholeNumber } from '../../base/terminal/arguments.ts'
import { reasonText } from './reason.ts'
import type { Runner, Session } from './context.ts'
import { worstExitCode } from './exit-code.ts'
import { followRun } from './follow.ts'
import { openControl } from './open-control.ts'
import { whoAmI } from './who-am-i.ts'

const HELP = `
The held changes are not applied until they change; the next runs apply all others.

--only NAME rejects only the guards or findings of this name, as the report prints it; the others stay open and can be
decided on later. A change that is rejected is not applied, whatever else of the run is approved. Where guards hold the
whole plan, nothing is applied before all is decided on: until then what was approved can be rejected, and without --only
all of it is; then a run applies what is still approved. Of a plan that was approved as a whole, what no run has applied
yet can be rejected, such as after dirsyncd pause.

Examples:
  dirsyncd reject 12
  dirsyncd reject 12 --only container-emptied`

export function addReject(program: Command, run: Runner): void {
  program
    .command('reject')
    .description('Reject the changes of a held run.')
    .argument('<run>', 'The number of the held run.', wholeNumber)
    .option('--only <name...>', 'Only the guards or findings of these names; the others stay open.')
    .option(
      '--reason <text>',
      'Why, for everybody who looks at the run later; up to 500 characters.',
      reasonText,
    )
    .addHelpText('after', HELP)
    .action((number: number, options: DecisionOptions) => run((session) => reject(session, number, options)))
}

async function reject(session: Session, number: number, { only, reason }: DecisionOptions): Promise<number> {
  await using control = await openControl(session, { tables: 'queue' })
  const rejected = await control.reject({
    run: number,
    by: whoAmI(session.configPlace.env),
    only,
    reason: reason || undefined,
  })
  const applying = await approvalRuns(control, rejected)
  const rest = applying.map((run) => ` Run ${run} applies what was approved.`).join('')
  const later = applying.length === 0 ? whatIsForLater(rejected) : ''
  if (!session.json)
    session.print(
      `${whatIsDecided(rejected, only, 'rejected')}; ${whatFollows(rejected)}.${whatWaits(rejected)}${rest}${later}`,
    )
  else if (applying.length === 0) session.printJson(rejected)
  const codes: number[] = []
  for (const run of applying) codes.push(await followRun(session, control, run, { all: false }))
  return worstExitCode(codes)
}

/** Approved changes of a plan that is rejected while the sync is paused. */
function whatIsForLater(run: RunSummary): string {
  const { sync, paused } = run
  if (paused === null || !isApprovedInPart(run)) return ''
  return ` ${sync} is paused, so a run after dirsyncd resume ${sync} applies what was approved.`
}

/** A sync does not ask about the decisions of an undo. */
function whatFollows({ undo, sync, state, hold }: RunSummary): string {
  const others = state === 'held' && hold === 'rejected' ? ', and what no guard held is for the next run' : ''
  return undo === null
    ? `the rejected changes are not applied until they change${others}`
    : `nothing of this undo is applied, and what ${sync} does of itself is another matter: dirsyncd plan ${sync} shows it`
}
