import type { Command } from 'commander'
import { type RunView, withoutAnswer } from '../../operations/control.ts'
import type { Announce, Runner, Session } from './context.ts'
import { renderRunEnd } from './render/report.ts'
import { requireSyncs } from './select-syncs.ts'
import { whoAmI } from './who-am-i.ts'

const HELP = `
The first SIGINT or SIGTERM stops taking work and lets changes in flight finish; the second ends at once.
SIGHUP has the daemon read the configuration again, as dirsyncd reload does.

Examples:
  dirsyncd start
  dirsyncd start --config /etc/dirsyncd/dirsyncd.yaml --log-level debug`

export function addStart(program: Command, run: Runner): void {
  program
    .command('start')
    .description('Run the daemon: schedules, workers and admin pages in one process.')
    .addHelpText('after', HELP)
    .action(() => run(start, { longRunning: true }))
}

async function start(session: Session): Promise<number> {
  const { compose, config, log, signal } = session
  requireSyncs(config)
  // Without a terminal, the output is stored like a log.
  const people = session.isTerminal || config.log.people
  const output = {
    announce: announce(session),
    operator: session.isTerminal && !session.json ? whoAmI(session.configPlace.env) : undefined,
    onReady: session.ready,
    onRunEnd: (run: RunView) =>
      session.json
        ? session.printJson(people ? run : countsOf(run))
        : session.print(...renderRunEnd(run, { people })),
  }
  await compose.runDaemon(config, log, signal, output, async () => requireSyncs(await session.readAgain()))
  return 0
}

/** Without what an operator, the service or the source wrote. */
function countsOf(view: RunView): object {
  const { changes: _changes, notices: _notices, lost: _lost, decisions: _decisions, ...run } = view
  const { counts, error, waitsUntil, blocks, ...rest } = run
  return {
    ...rest,
    counts: counts && { ...counts, lastRejection: null },
    waitsUntil: waitsUntil && withoutAnswer(waitsUntil),
    blocks: blocks.map(({ params: _params, ...block }) => block),
    failed: error !== null,
  }
}

/** With `--json`, a line becomes `{ "message": … }`. */
function announce({ json, print, printJson }: Session): Announce {
  return (message) => (json ? printJson({ message }) : print(message))
}
