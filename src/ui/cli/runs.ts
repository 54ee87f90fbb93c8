import type { Command } from 'commander'
import { named, wholeNumber } from '../../base/terminal/arguments.ts'
import type { Runner, Session } from './context.ts'
import { openControl, readStores } from './open-control.ts'
import { ALL, detailLimit, readRun } from './follow.ts'
import { renderReport } from './render/report.ts'
import { renderRuns } from './render/runs.ts'
import { printLines } from './print-lines.ts'
import { selectSyncs } from './select-syncs.ts'

const HELP = `
Examples:
  dirsyncd runs
  dirsyncd runs --sync corp --limit 5
  dirsyncd runs 12 --all
  dirsyncd runs --json | jq 'select(.questions > 0) | .run'`

interface RunsOptions {
  readonly sync?: string
  readonly limit: number
  readonly all?: boolean
}

export function addRuns(program: Command, run: Runner): void {
  program
    .command('runs')
    .description('List the newest runs, or show one with its changes and notices.')
    .argument('[run]', 'The number of a run.', wholeNumber)
    .option('--sync <sync>', 'Only runs of this sync.', named)
    .option('--limit <number>', 'How many runs are listed.', wholeNumber, 20)
    .option(
      '--all',
      'Show every change and notice of the run, not only the first of each kind and what is new.',
    )
    .addHelpText('after', HELP)
    .action((number: number | undefined, options: RunsOptions) =>
      run((session) =>
        number === undefined ? listRuns(session, options) : showRun(session, number, options),
      ),
    )
}

async function listRuns(session: Session, { sync, limit }: RunsOptions): Promise<number> {
  if (sync !== undefined) selectSyncs(session.config, sync)
  const request = { limit, ...(sync !== undefined && { sync }) }
  const runs = await readStores(session, [], (control) => control.runs(request))
  if (!session.json) printLines(session, renderRuns(runs))
  else for (const run of runs) session.printJson(run)
  return 0
}

async function showRun(session: Session, number: number, options: RunsOptions): Promise<number> {
  await using control = await openControl(session, { tables: 'keep' })
  const all = options.all === true
  const summary = await readRun(control, number, 0)
  const view = await readRun(control, number, all || session.json ? ALL : detailLimit(summary))
  if (session.json) session.printJson(view)
  else printLines(session, renderReport(view, { all }))
  return 0
}
