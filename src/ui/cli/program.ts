import type { Command } from 'commander'
import { addApprove } from './approve.ts'
import { addBundle } from './bundle.ts'
import { addCheck } from './check.ts'
import { newProgram } from '../../base/terminal/run-program.ts'
import type { Io, Runner } from './context.ts'
import { addNotify } from './notify.ts'
import { addPause } from './pause.ts'
import { addExplain } from './explain.ts'
import { addInit } from './init.ts'
import { addPlan } from './plan.ts'
import { addQuarantine } from './quarantine.ts'
import { addReject } from './reject.ts'
import { addResume } from './resume.ts'
import { addReload } from './reload.ts'
import { addRuns } from './runs.ts'
import { addStart } from './start.ts'
import { addStore } from './store.ts'
import { addSync } from './sync.ts'
import { addUndo } from './undo.ts'
import { addWorker } from './worker.ts'

const HELP = `
Examples:
  dirsyncd init                         write a first configuration, by questions and answers
  dirsyncd check                        test that configuration, source and token work
  dirsyncd plan                         show what would change, and change nothing
  dirsyncd sync corp                    make the directory of the sync corp equal to its source, now
  dirsyncd explain corp e-1001          tell why a user or group is, or is not, in the directory
  dirsyncd start                        run the daemon: sync on schedule, with admin pages

Exit codes:
  0   done (plan: no difference)
  1   an error
  2   plan found changes
  3   changes need approval
  4   done, but some changes were not made
  64  wrong usage
  78  wrong configuration`

/** Invalid usage throws a `CommanderError`; nothing here ends the process. */
export function createProgram(io: Io, run: Runner): Command {
  const program = newProgram(
    io,
    'dirsyncd',
    'Configuration (default: $DIRSYNCD_CONFIG, then config/dirsyncd.yaml of a checkout, then /etc/dirsyncd/dirsyncd.yaml).',
  )
    .description(
      'Keeps the external directories of an access-management service equal to an LDAP server, CSV files or what a program prints.',
    )
    .addHelpText('after', HELP)
  for (const add of [
    addInit,
    addStart,
    addWorker,
    addReload,
    addPlan,
    addSync,
    addRuns,
    addApprove,
    addReject,
    addUndo,
    addPause,
    addResume,
    addQuarantine,
    addExplain,
    addCheck,
    addNotify,
    addBundle,
    addStore,
  ]) {
    add(program, run)
  }
  return program
}
