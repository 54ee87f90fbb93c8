import type { Command } from 'commander'
import type { Control } from '../../operations/control.ts'
import { DirsyncdError } from '../../base/errors.ts'
import type { Runner, Session } from './context.ts'
import { openControl, syncNames } from './open-control.ts'
import { EXIT } from './exit-code.ts'
import { followRun, readRun } from './follow.ts'
import { whoAmI } from './who-am-i.ts'

const HELP = `
Shows what the next run would do, asks, and lets the sync run again. Without a terminal it does not ask.

Examples:
  dirsyncd resume corp
  dirsyncd resume corp --yes
  dirsyncd resume corp --no-plan     without reading the source and the directory first`

interface ResumeOptions {
  readonly plan: boolean
  readonly yes?: boolean
}

export function addResume(program: Command, run: Runner): void {
  program
    .command('resume')
    .description('Let a paused sync run again, after a look at what its next run would do.')
    .argument('<sync>', 'The name of a sync.')
    .option('--yes', 'Do not ask.')
    .option('--no-plan', 'Do not show what the next run would do.')
    .addHelpText('after', HELP)
    .action((sync: string, options: ResumeOptions) => run((session) => resume(session, sync, options)))
}

async function resume(session: Session, sync: string, options: ResumeOptions): Promise<number> {
  const { ask } = session
  await syncNames(session, sync)
  await using control = await openControl(session, { tables: 'queue' })
  if (!(await control.paused()).some((paused) => paused.sync === sync))
    throw new DirsyncdError('usage', `The sync ${sync} is not paused.`)
  if (options.plan) await showNextRun(session, control, sync)
  const undo = await unfinishedUndo(control, sync)
  if (undo !== undefined && !session.json) session.print(undo)
  if (options.plan) {
    const isAsked = options.yes !== true && ask !== undefined
    if (isAsked && !(await ask(`Let ${sync} run again?`, session.signal))) {
      session.print(`${sync} stays paused.`)
      return EXIT.done
    }
  }
  const pause = await control.resume({ sync, by: whoAmI(session.configPlace.env) })
  if (session.json) session.printJson({ resumed: pause })
  else session.print(`${sync} runs again: on its schedule, or now with dirsyncd sync ${sync}.`)
  return EXIT.done
}

async function showNextRun(session: Session, control: Control, sync: string): Promise<void> {
  const run = await control.requestRun({ sync, mode: 'plan' })
  await followRun(session, control, run, { all: false })
  if ((await readRun(control, run, 0)).state === 'planned') return
  const what = `What the next run of ${sync} would do is not known, so it stays paused`
  throw new DirsyncdError(
    'sync-paused',
    `${what}; dirsyncd resume ${sync} --no-plan resumes it without a look.`,
  )
}

async function unfinishedUndo(control: Control, sync: string): Promise<string | undefined> {
  const runs = await control.runs({ sync, limit: NEWEST })
  for (const { run, mode, undo, questions, finishedAt } of runs) {
    if (undo === null || mode === 'plan') continue
    const named = `Run ${run}, the undo of run ${undo.run},`
    if (questions > 0)
      return `${named} still asks, and the next run of ${sync} does again what it has put back. dirsyncd approve ${run} continues the undo and pauses ${sync} again.`
    if (finishedAt === null)
      return `${named} has not ended, and the next run of ${sync} does again what it puts back.`
  }
  return undefined
}

/** Hardly any run of a paused sync is newer than its undo. */
const NEWEST = 50
