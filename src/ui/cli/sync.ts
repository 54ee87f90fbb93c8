import type { Command } from 'commander'
import type { RunMode, Scope } from '../../operations/control.ts'
import { DirsyncdError } from '../../base/errors.ts'
import { repeatedName } from '../../base/terminal/arguments.ts'
import type { Runner, Session } from './context.ts'
import { openControl, syncNames } from './open-control.ts'
import { worstExitCode } from './exit-code.ts'
import { followRun } from './follow.ts'

const HELP = `
A full resync: source and directory are read, and every difference is written that no check blocks. A running daemon does
the work; without a daemon, the command does it itself. Exit code 3: changes need approval (dirsyncd approve RUN); 4: some
changes were not made, such as refused ones.

Examples:
  dirsyncd sync
  dirsyncd sync corp --dry-run
  dirsyncd sync corp --user 7b1c6d0a-52f4-103e-9a53-2f7c0e4d8c11
  dirsyncd sync corp --group sales --group finance`

interface SyncOptions {
  readonly dryRun?: boolean
  readonly user?: readonly string[]
  readonly group?: readonly string[]
  readonly all?: boolean
}

export function addSync(program: Command, run: Runner): void {
  program
    .command('sync')
    .description('Make a directory equal to its source, now.')
    .argument('[sync]', 'The name of a sync. Left out: every configured sync.')
    .option('--dry-run', 'Show what would change and write nothing, like dirsyncd plan.')
    .option('--user <id>', 'Only this user, by external id; may be given several times.', repeatedName)
    .option('--group <id>', 'Only this group, by external id; may be given several times.', repeatedName)
    .option('--all', 'Show every change and notice, not only the first of each kind and what is new.')
    .addHelpText('after', HELP)
    .action((sync: string | undefined, options: SyncOptions) =>
      run((session) =>
        runSyncs(session, {
          sync,
          mode: options.dryRun === true ? 'plan' : 'sync',
          all: options.all === true,
          scope: { users: options.user ?? [], groups: options.group ?? [] },
        }),
      ),
    )
}

export interface SyncRequest {
  readonly sync: string | undefined
  readonly mode: RunMode
  readonly all: boolean
  readonly scope?: Scope
}

/** One after the other; a failed sync does not stop the next. */
export async function runSyncs(session: Session, request: SyncRequest): Promise<number> {
  const syncs = await syncNames(session, request.sync)
  const scope = request.scope === undefined || isEmpty(request.scope) ? undefined : request.scope
  if (scope !== undefined && syncs.length > 1) {
    throw new DirsyncdError(
      'usage',
      'The options --user and --group need a sync, because several are configured; write dirsyncd sync SYNC --user ID.',
    )
  }
  await using control = await openControl(session)
  const codes: number[] = []
  for (const name of syncs) {
    const run = await control.requestRun({
      sync: name,
      mode: request.mode,
      ...(scope !== undefined && { scope }),
    })
    codes.push(await followRun(session, control, run, { all: request.all }))
  }
  return worstExitCode(codes)
}

function isEmpty({ users, groups }: Scope): boolean {
  return users.length === 0 && groups.length === 0
}
