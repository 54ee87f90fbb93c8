import { type Command, Option } from 'commander'
import { programVersion } from '../compose/version.ts'
import { LOG_LEVELS, type LogLevel } from '../log.ts'
import { addApprove } from './approve.ts'
import { named } from './arguments.ts'
import { addBundle } from './bundle.ts'
import { addCheck } from './check.ts'
import { ProgramCommand } from './command.ts'
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
import { addService } from './service.ts'
import { addStart } from './start.ts'
import { addStore } from './store.ts'
import { addSync } from './sync.ts'
import { addUndo } from './undo.ts'
import { addWorker } from './worker.ts'

/** The options that every command has. */
export interface GlobalOptions {
  readonly config?: string
  readonly json?: boolean
  readonly logLevel?: LogLevel
}

const HELP = `
Examples:
  dirsyncd init                         write a first configuration, by questions and answers
  dirsyncd check                        test that configuration, source and token work
  dirsyncd plan                         show what would change, and change nothing
  dirsyncd sync corp                    make the directory of the sync corp equal to its source, now
  dirsyncd explain corp e-1001          tell why somebody is, or is not, in the directory
  dirsyncd start                        run the daemon: sync on schedule, with admin pages

Exit codes:
  0   done (plan: nothing to change now)
  1   an error
  2   plan found changes
  3   changes wait for a person
  4   done, but some changes were not made
  64  wrong usage
  78  wrong configuration`

/** The whole command line. Wrong usage throws a `CommanderError`; nothing here ends the process. */
export function createProgram(io: Io, run: Runner): Command {
  const program = new ProgramCommand('dirsyncd')
    .description(
      'Keeps the external directories of an access-management service equal to an LDAP server, CSV files or what a program prints.',
    )
    .version(programVersion(), '-V, --version', 'Show the version.')
    .helpOption('-h, --help', 'Show this help.')
    .helpCommand(false)
    .option(
      '-c, --config <file>',
      'Configuration (default: $DIRSYNCD_CONFIG, then config/dirsyncd.yaml of a checkout, then /etc/dirsyncd/dirsyncd.yaml).',
      named,
    )
    .option('--json', 'Print one JSON object a line, for machines.')
    .addOption(
      new Option('--log-level <level>', 'The least important message that is logged.').choices(LOG_LEVELS),
    )
    .addHelpText('after', HELP)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // `runCli` writes the message on standard error.
      writeErr: () => undefined,
      outputError: () => undefined,
      getOutHelpWidth: () => io.stdout.columns || 100,
    })
    .exitOverride()
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
    addService,
  ]) {
    add(program, run)
  }
  return program
}
