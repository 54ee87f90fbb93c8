import type { Command } from 'commander'
import type { RunSummary } from '../../operations/control.ts'
import { type Part } from '../../core/plan/part/part.ts'
import { DirsyncdError } from '../../base/errors.ts'
import { wholeNumber } from '../../base/terminal/arguments.ts'
import type { Ask } from './ask.ts'
import type { Runner, Session } from './context.ts'
import { openControl } from './open-control.ts'
import { EXIT } from './exit-code.ts'
import { followRun, readRun } from './follow.ts'
import { addPartOptions, type PartOptions, partOf } from './part.ts'
import { total } from '../../operations/total.ts'
import { whoAmI } from './who-am-i.ts'

const HELP = `
Puts back what a run did, as far as the API can: deleted users and groups are created again, with their memberships where
the sync writes members; created ones are deleted; names, e-mails and members become what they were. It touches only what
is still as the run left it, and lists the rest. It shows everything first and asks. Deletes always need an approval:
dirsyncd approve with the number of the undo. The sync is paused, so that the next run does not do it all again, until dirsyncd resume.

An undo is a run of its own, so that it can be undone too. Of several runs, undo the newest first.

Examples:
  dirsyncd undo 12 --dry-run
  dirsyncd undo 12
  dirsyncd undo 12 --only deletes --users
  dirsyncd undo 12 --id e-1001 --yes`

interface UndoOptions extends PartOptions {
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly all?: boolean
}

export function addUndo(program: Command, run: Runner): void {
  addPartOptions(
    program
      .command('undo')
      .description('Put back what a run did.')
      .argument('<run>', 'The number of the run.', wholeNumber)
      .option('--dry-run', 'Show what would be put back, and change nothing.')
      .option('--yes', 'Do not ask.')
      .option('--all', 'Show every change and notice, not only the first of each kind.'),
  )
    .addHelpText('after', HELP)
    .action((number: number, options: UndoOptions) => run((session) => undo(session, number, options)))
}

async function undo(session: Session, number: number, options: UndoOptions): Promise<number> {
  const { dryRun = false, yes = false, all = false } = options
  const part = partOf(options)
  const request = { run: number, part, by: whoAmI(session.configPlace.env) }
  await using control = await openControl(session, { tables: 'queue' })
  const shown = await control.undo({ ...request, mode: 'plan' })
  const planned = await followRun(session, control, shown, { all })
  const plan = await readRun(control, shown, 0)
  if (plan.state !== 'planned') return planned
  if (total(plan.counts?.planned ?? {}) + total(plan.counts?.blocked ?? {}) === 0) {
    const why =
      plan.totalNotices === 0
        ? `There is nothing to put back: the directory shows nothing any more of what ${whatOf(part, number)} wrote.`
        : 'Nothing can be put back now, for the reasons above.'
    if (!session.json) session.print(why)
    return planned === EXIT.changes ? EXIT.incomplete : planned
  }
  if (dryRun) return planned
  if (!yes && !(await asker(session)(`Put this back, and pause ${plan.sync}?`, session.signal))) {
    session.print('Nothing was changed.')
    return EXIT.done
  }
  const undoing = await control.undo({ ...request, mode: 'sync' })
  const code = await followRun(session, control, undoing, { all })
  if (!session.json) session.print(afterUndo(await readRun(control, undoing, 0)))
  return code
}

/** The sync stays paused, unless it was resumed meanwhile. */
export function afterUndo({ sync, paused }: Pick<RunSummary, 'sync' | 'paused'>): string {
  if (paused !== null)
    return `${sync} is paused. dirsyncd resume ${sync} shows what its next run would do, and lets it run again.`
  return (
    `${sync} was resumed meanwhile: its next run does again what this undo puts back. ` +
    `dirsyncd pause ${sync} stops it.`
  )
}

function whatOf(part: Part, run: number): string {
  return Object.keys(part).length === 0 ? `run ${run}` : `this part of run ${run}`
}

function asker({ ask, json }: Session): Ask {
  if (ask !== undefined) return ask
  const why = json ? 'With --json nobody is asked' : 'There is no terminal on which to ask'
  throw new DirsyncdError('usage', `${why}; add --dry-run to look at the undo, and then --yes to do it.`)
}
