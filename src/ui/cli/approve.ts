import type { Command } from 'commander'
import { type Control, isPlanStillHeld, PART_NAMES, type RunSummary } from '../../operations/control.ts'
import { pointInTime } from '../../base/wording.ts'
import { DirsyncdError } from '../../base/errors.ts'
import { undecided } from '../../core/plan/decide.ts'
import type { Part, PartName } from '../../core/plan/part/part.ts'
import { printable } from '../../base/printable.ts'
import { repeatedName, wholeNumber } from '../../base/terminal/arguments.ts'
import { reasonText } from './reason.ts'
import type { Runner, Session } from './context.ts'
import { openControl } from './open-control.ts'
import { EXIT, worstExitCode } from './exit-code.ts'
import { followRun, readRun } from './follow.ts'
import { partOf } from './part.ts'
import { total } from '../../operations/total.ts'
import { afterUndo } from './undo.ts'
import { whoAmI } from './who-am-i.ts'

const HELP = `
An approval covers exactly the changes that the guards held in this run. The run that applies them makes a new plan:
where a guard holds anything in it that was not approved, the whole plan is held again, for a new approval.

Of a held plan a part can be approved: --only creates, updates, deletes or members, --users, --groups and --id ID, which
all must fit. It is applied now, with what it depends on: whoever has an e-mail that somebody of the part gets loses it
(where that is held itself, neither is applied), and whom the part creates becomes a member of his groups. The rest
becomes a hold of its own; of a plan that was rejected it stays rejected.

--only NAME approves only the guards or findings of this name, as the report prints it; the others stay open and can be
decided on later, in any order. A change that another guard holds too waits until that one is approved as well. Where
guards hold the whole plan, nothing is applied before all of them are decided on.

The approval of server-not-newer accepts the state of this server as the truth from now on. What follows from it is
planned anew and still meets the guards and findings.

Examples:
  dirsyncd runs 12        shows what would be approved
  dirsyncd approve 12 --reason "the branch in Graz was closed"
  dirsyncd approve 12 --only updates
  dirsyncd approve 12 --id e-1001
  dirsyncd approve 12 --only reborn`

export interface DecisionOptions {
  readonly only?: readonly string[]
  readonly reason?: string
}

interface ApproveOptions extends DecisionOptions {
  readonly users?: boolean
  readonly groups?: boolean
  readonly id?: readonly string[]
}

export function addApprove(program: Command, run: Runner): void {
  program
    .command('approve')
    .description('Approve the changes of a held run, or a part of them.')
    .argument('<run>', 'The number of the held run.', wholeNumber)
    .option('--only <name...>', `Only ${PART_NAMES.join(', ')}, or the guards or findings of these names.`)
    .option('--users', 'Only changes of users.')
    .option('--groups', 'Only changes of groups and their members.')
    .option('--id <id>', 'Only what concerns this user or group; may be given several times.', repeatedName)
    .option(
      '--reason <text>',
      'Why, for everybody who looks at the run later; up to 500 characters.',
      reasonText,
    )
    .addHelpText('after', HELP)
    .action((number: number, options: ApproveOptions) => run((session) => approve(session, number, options)))
}

async function approve(session: Session, number: number, options: ApproveOptions): Promise<number> {
  const choice = choiceOf(options)
  await using control = await openControl(session, { tables: 'queue' })
  const before = await control.run(number, { limit: 0 })
  const rejection = before?.hold === 'rejected' ? rejectionText(before) : undefined
  if (rejection !== undefined && !session.json) session.print(rejection)
  if (rejection !== undefined && session.ask !== undefined) {
    const isWanted = await session.ask('Approve it all the same?', session.signal)
    if (!isWanted) {
      session.print('Nothing was decided.')
      return EXIT.done
    }
  }
  const approved = await control.approve({
    run: number,
    by: whoAmI(session.configPlace.env),
    reason: options.reason || undefined,
    ...choice,
    // A decision made after this read is not overruled.
    ...((before?.hold === 'open' || before?.hold === 'rejected') && { seen: before.hold }),
  })
  const applying = await approvalRuns(control, approved)
  if (!session.json) session.print(approvedLine(approved, choice, applying))
  else if (applying.length === 0) session.printJson(approved)
  const codes: number[] = []
  for (const run of applying) {
    codes.push(await followRun(session, control, run, { all: false }))
    if (!session.json && (await appliedNothing(control, run))) session.print(NOTHING_APPLIED, '')
  }
  if (approved.undo !== null && applying.length > 0 && !session.json)
    session.print(afterUndo(await readRun(control, applying.at(-1)!, 0)))
  return worstExitCode(codes)
}

function rejectionText({ run, decisions }: RunSummary): string {
  const last = decisions.findLast(({ decision }) => decision === 'rejected')
  const why = last?.reason === undefined ? '' : ` ("${printable(last.reason)}")`
  const who = last === undefined ? '' : ` by ${printable(last.by)} at ${pointInTime(last.at)}${why}`
  return `Run ${run} was rejected${who}; an approval overrules that.`
}

interface Choice {
  readonly only?: readonly string[]
  readonly part?: Part
}

function choiceOf(options: ApproveOptions): Choice {
  const { only, users = false, groups = false, id } = options
  const names =
    only?.filter((name): name is PartName => (PART_NAMES as readonly string[]).includes(name)) ?? []
  const others = only?.filter((name) => !(PART_NAMES as readonly string[]).includes(name)) ?? []
  const isPart = names.length > 0 || users || groups || id !== undefined
  if (!isPart) return only === undefined ? {} : { only }
  if (others.length > 0)
    throw new DirsyncdError(
      'usage',
      `A part of the plan and the guard or finding ${others[0]} cannot be approved at once; approve one after the other.`,
    )
  return { part: partOf({ ...options, only: names.length > 0 ? names : undefined }) }
}

/** Runs that the last decision started; empty while another decision is needed first. */
export async function approvalRuns(control: Control, approved: RunSummary): Promise<readonly number[]> {
  const decided = approved.decisions.at(-1)
  const waits = decided?.part === undefined && isPlanStillHeld(approved)
  if (waits || isPaused(approved)) return []
  const newest = await control.runs({ sync: approved.sync, limit: 10 })
  const runs = newest.filter(
    (run) => run.approvalOf === approved.run && run.requestedAt >= (decided?.at ?? ''),
  )
  return runs.map(({ run }) => run).toReversed()
}

const NOTHING_APPLIED =
  'Nothing of this part was applied: the source does not want it any more, another run has done it, it has become another change by now, which is asked about anew, or it depends on changes that are still held, such as that of somebody whose e-mail it gets.'

async function appliedNothing(control: Control, run: number): Promise<boolean> {
  const { part, state, counts } = await readRun(control, run, 0)
  return part !== null && state === 'done' && total(counts?.planned ?? {}) === 0
}

function isPaused({ paused, undo }: RunSummary): boolean {
  return paused !== null && undo === null
}

function approvedLine(approved: RunSummary, choice: Choice, [applying]: readonly number[]): string {
  const { sync, run } = approved
  if (choice.part !== undefined && applying !== undefined)
    return `A part of run ${run} of ${sync} is approved; run ${applying} applies it, and ${approved.hold === 'rejected' ? 'what is left stays rejected' : 'what is left is held by the next run'}.`
  const later = isPaused(approved)
    ? `${sync} is paused, so a run after dirsyncd resume ${sync} applies it`
    : `the next run of ${sync} applies it`
  const next = applying === undefined ? later : `run ${applying} applies it`
  const what = isPlanStillHeld(approved) ? 'nothing is applied before all is decided' : next
  return `${whatIsDecided(approved, choice.only, 'approved')}; ${what}.${whatWaits(approved)}`
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

export function whatWaits({ state, hold, breaches }: RunSummary): string {
  if (hold !== 'open') return ''
  const names = undecided(state, breaches).flatMap(({ code, changes }) => (changes > 0 ? [code] : []))
  return ` Still waiting for a decision: ${[...new Set(names)].join(', ')}.`
}
