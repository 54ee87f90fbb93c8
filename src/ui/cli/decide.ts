import { type Command, Option } from 'commander'
import { printable } from '../../base/printable.ts'
import { digits } from '../../base/wording.ts'
import { repeatedName, wholeNumber } from '../../base/terminal/arguments.ts'
import { BLOCKS } from '../messages/blocks.ts'
import { amountsText } from '../messages/amounts.ts'
import { askedText, factsOf, subjectText } from '../messages/ends.ts'
import type { BlockCode } from '../../core/block.ts'
import {
  type Control,
  type Decided,
  type DecisionRequest,
  PARTS,
  type RunDetail,
  type RunSummary,
  type SentBefore,
  type ShownReason,
} from '../../operations/control.ts'
import { decisionText } from '../../operations/decision-text.ts'
import { total } from '../../operations/total.ts'
import type { Session } from './context.ts'
import { EXIT, worstExitCode } from './exit-code.ts'
import { followRun, readRun } from './follow.ts'
import { openControl } from './open-control.ts'
import { reasonText } from './reason.ts'
import { afterUndo } from './undo.ts'
import { whoAmI } from './who-am-i.ts'

export interface DecisionOptions {
  readonly id?: DecisionRequest['ids']
  readonly only?: DecisionRequest['only']
  readonly code?: BlockCode
  readonly all?: boolean
  readonly reason?: string
  readonly yes?: boolean
}

type Does = 'approve' | 'reject'

export function addDecisionOptions(command: Command): Command {
  return command
    .argument('<run>', 'The number of a run that asks, or of a plan.', wholeNumber)
    .option('--id <id>', 'Only changes of this user or group; may be given several times.', repeatedName)
    .addOption(new Option('--only <name...>', 'Only changes of these names.').choices(PARTS))
    .addOption(new Option('--code <code>', 'Only what the run shows for this reason.').argParser(codeOf))
    .option('--all', 'All reasons, where the run asks for more than one.')
    .option('--reason <text>', 'Why, for the run and the audit; up to 500 characters.', reasonText)
}

export async function decide(
  session: Session,
  does: Does,
  number: number,
  options: DecisionOptions,
): Promise<number> {
  const { id: ids, only, code, all: isAll, reason } = options
  await using control = await openControl(session, { tables: 'queue' })
  const before = await readRun(control, number, 0)
  if (!(await isConfirmed(session, does, before, options))) {
    session.print('Nothing was decided.')
    return exitCodeOf(before)
  }
  const by = whoAmI(session.configPlace.env)
  const decided = await control[does]({
    run: number,
    by,
    reason: reason || undefined,
    ids,
    only,
    code,
    isAll,
  })
  const { started } = decided.decision
  if (!session.json) session.print(decidedLine(does, decided, whatOf(before, options)))
  else if (started === null) session.printJson(decided)
  const exitCode = started === null ? EXIT.done : await follow(session, control, started)
  const after = await readRun(control, number, 0)
  if (isAsking(after) && !session.json) session.print(`${askedText(after)}.`)
  return worstExitCode([exitCode, exitCodeOf(after)])
}

/** As of `sync`: a run that leaves a question open ends with 3, also a plan that would ask. */
function exitCodeOf(run: RunDetail): number {
  return isAsking(run) ? EXIT.asks : EXIT.done
}

function isAsking({ mode, questions, reasons }: RunDetail): boolean {
  return questions > 0 || (mode === 'plan' && reasons.some(({ isOpen }) => isOpen))
}

async function follow(session: Session, control: Control, started: number): Promise<number> {
  const code = await followRun(session, control, started, { all: false })
  const { state, counts, undo, ...run } = await readRun(control, started, 0)
  if (session.json) return code
  if (state === 'done' && total(counts?.planned ?? {}) === 0) session.print(NOTHING_APPLIED)
  if (undo !== null) session.print(afterUndo(run))
  return code
}

const NOTHING_APPLIED =
  'Nothing of this was applied: the source does not want it any more, another run has done it, or the report names what blocks it.'

async function isConfirmed(
  { ask, signal, print }: Session,
  does: Does,
  run: RunDetail,
  options: DecisionOptions,
): Promise<boolean> {
  if (ask === undefined || does === 'reject' || options.yes === true) return true
  const reasons = reasonsOf(run, options)
  for (const decision of run.decisions) print(printable(`Run ${run.run} was ${decisionText(decision)}`))
  for (const { code, open, changes } of reasons) {
    const some = total(open) > 0 ? open : changes
    const what = total(some) === 0 ? '' : `: ${amountsText(some)}`
    print(`${code}${what} (${BLOCKS[code].meaning})`)
  }
  // The operation says that a reason is to be chosen, or why there is nothing to decide.
  if (!isPart(options) && (reasons.length === 0 || (reasons.length > 1 && options.all !== true))) return true
  return ask(`Approve ${whatOf(run, options)}?`, signal)
}

function isPart({ id, only }: DecisionOptions): boolean {
  return id !== undefined || only !== undefined
}

function reasonsOf({ reasons }: RunDetail, { code }: DecisionOptions): readonly ShownReason[] {
  return reasons.filter((reason) => (code === undefined ? reason.isOpen : reason.code === code))
}

/** `20 deletions of users`, as far as the run counts what is decided. */
function whatOf(run: RunDetail, options: DecisionOptions): string {
  if (isPart(options)) return 'the named changes'
  const reasons = reasonsOf(run, options)
  const some = options.code === undefined ? run.open : (reasons[0]?.changes ?? {})
  const facts = factsOf(run, (code) => reasons.some((reason) => reason.code === code))
  return subjectText(some, facts) || 'what it shows'
}

function decidedLine(does: Does, { run, decision, paused, sent }: Decided, what: string): string {
  const done = does === 'approve' ? 'approved' : 'rejected'
  const follows = whatFollows(does, run, decision.started, paused !== null)
  const stays = sent === null ? '' : ` ${sentText(sent)}`
  return `Run ${run.run} of ${run.sync}: ${what} ${done}; ${follows}.${stays}`
}

function sentText({ run, changes, underWay }: SentBefore): string {
  const more = underWay === 0 ? '' : ` (${digits(underWay)} more may be under way)`
  return `Run ${run} had already sent ${digits(changes)} of these changes${more}: dirsyncd runs ${run} lists them, and dirsyncd undo ${run} puts them back.`
}

function whatFollows(
  does: Does,
  { sync, undo }: RunSummary,
  started: number | null,
  isPaused: boolean,
): string {
  if (does === 'reject')
    return undo === null
      ? 'these changes are not made until an operator approves them'
      : `the undo does not make these changes; dirsyncd undo ${undo.run} makes the rest, and dirsyncd plan ${sync} shows what ${sync} does of itself`
  if (started !== null) return `run ${started} applies it`
  return isPaused
    ? `${sync} is paused, so a run after dirsyncd resume ${sync} applies it`
    : `the next run of ${sync} applies it`
}

function codeOf(value: string): BlockCode {
  // The operation names the codes that the run shows.
  return value as BlockCode
}
