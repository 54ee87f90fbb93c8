import type { Command } from 'commander'
import { DirsyncdError } from '../errors.ts'
import { checkApiContract } from './api-contract.ts'
import { wholeNumber } from './arguments.ts'
import type { Runner, Session } from './context.ts'
import { EXIT } from './exit-code.ts'
import { headingOf, renderCheckItem, renderVerdict } from './render/check.ts'
import { selectSyncs } from './select-syncs.ts'

const HELP = `
Reads each source as a run would, and changes nothing. Shows server, vendor, TLS, bind user and limits, counts, ten
mapped entries, how one of them was mapped, and warnings. --no-samples shows counts and warnings only, and no entry by
name. Without --writes, only reading requests are sent. --writes tests whether the token may write, with an update of a
user that cannot exist: the service answers 404 when the token may, and 403 when it may not.

--api-contract compares the service with its API description: it sends good, forbidden, unknown, malformed and oversized
requests to every endpoint. Without --writes, it sends only GET, a few hundred requests in all. With --writes, it sends
more than a thousand: it creates users and groups of its own in the directory and removes each after its case, says
whether the service creates several with one request (the option createBatch), changes the token's first subscription
and restores it at the end, and reads credentials, which the service records as events. It resets a password only with
--reset-password; the new password stays.

It tries a case again before it says that the service differs. A difference must come twice. A case that gets server
errors or no answer is tried five times, and is a difference only if the service answers other requests in between. Where
the tries do not agree, the result is "unclear", with what happened in each try. The exit code is 1 if the service
differs or something could not be removed, else 4 if a case is unclear, else 0.

Examples:
  dirsyncd check
  dirsyncd check corp --writes
  dirsyncd check corp --no-samples --json
  dirsyncd check corp --api-contract
  dirsyncd check corp --api-contract --writes --json`

export function addCheck(program: Command, run: Runner): void {
  program
    .command('check')
    .description('Test that configuration, source, token and directory work, and show a few mapped entries.')
    .argument('[sync]', 'Check this sync only.')
    .option('--no-samples', 'Show no entries by name, only counts and warnings.')
    .option('--writes', 'Also test that the token may write.')
    .option('--api-contract', 'Compare the service with the description of its API instead.')
    .option(
      '--reset-password <subscription>',
      'With --api-contract --writes: also reset the password of this subscription.',
      wholeNumber,
    )
    .addHelpText('after', HELP)
    .action((sync: string | undefined, options: CheckOptions) =>
      run((session) =>
        options.apiContract === true
          ? apiContract(session, sync, options)
          : check(session, { sync, writes: requireNoReset(options), samples: options.samples }),
      ),
    )
}

interface CheckOptions {
  readonly samples: boolean
  readonly writes?: boolean
  readonly apiContract?: boolean
  readonly resetPassword?: number
}

function requireNoReset({ resetPassword, writes = false }: CheckOptions): boolean {
  if (resetPassword === undefined) return writes
  throw new DirsyncdError('usage', 'The option --reset-password needs --api-contract and --writes.')
}

function apiContract(session: Session, sync: string | undefined, options: CheckOptions): Promise<number> {
  const { writes = false, resetPassword } = options
  selectSyncs(session.config, sync)
  if (!writes) requireNoReset(options)
  return checkApiContract(session, {
    writes,
    ...(sync !== undefined && { sync }),
    ...(resetPassword !== undefined && { resetSubscription: resetPassword }),
  })
}

async function check(
  session: Session,
  {
    sync,
    ...request
  }: { readonly sync: string | undefined; readonly writes: boolean; readonly samples: boolean },
): Promise<number> {
  const { compose, config, log, signal, columns } = session
  selectSyncs(config, sync)
  const counted = { failed: 0, warnings: 0 }
  let heading = ''
  const wanted = { ...request, ...(sync !== undefined && { sync }) }
  for await (const item of compose.runCheck(config, log, wanted, signal)) {
    const level = 'level' in item ? item.level : 'info'
    if (level === 'fail') counted.failed += 1
    if (level === 'warn') counted.warnings += 1
    if (session.json) session.printJson(item)
    else {
      const next = headingOf(item)
      if (next !== heading) session.print(...(heading === '' ? [] : ['']), next)
      heading = next
      session.print(...renderCheckItem(item, columns))
    }
  }
  if (!session.json) session.print('', renderVerdict(counted))
  return counted.failed > 0 ? EXIT.error : EXIT.done
}
