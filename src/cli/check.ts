import type { Command } from 'commander'
import { DirsyncdError } from '../errors.ts'
import { checkApiContract } from './api-contract.ts'
import { wholeNumber } from './arguments.ts'
import type { CheckLine, Runner, Session } from './context.ts'
import { EXIT } from './exit-code.ts'
import { printable } from './render/text.ts'
import { selectSyncs } from './select-syncs.ts'

const HELP = `
Without --writes nothing but reading requests are sent. --writes proves the token's writing scope with an update of a
user that cannot exist: the service refuses it, and the way it does tells.

--api-contract compares the service itself with the description of its API: every endpoint with good, forbidden, unknown,
malformed and oversized requests, a few hundred in all. With --writes it makes users and groups of its own in the directory
and removes them again, changes the token's first subscription and puts it back, and reads credentials, which the service
records; without it only GET is sent. A password is reset only with --reset-password, and stays reset.

Examples:
  dirsyncd check
  dirsyncd check corp --writes
  dirsyncd check corp --api-contract
  dirsyncd check corp --api-contract --writes --json`

export function addCheck(program: Command, run: Runner): void {
  program
    .command('check')
    .description('Prove that configuration, source, token and directory work, and show a few mapped entries.')
    .argument('[sync]', 'Check this sync only.')
    .option('--writes', 'Prove that the token may write, too.')
    .option('--api-contract', 'Compare the service with the description of its API instead.')
    .option(
      '--reset-password <subscription>',
      'With --api-contract --writes: reset the password of this subscription, too.',
      wholeNumber,
    )
    .addHelpText('after', HELP)
    .action((sync: string | undefined, options: CheckOptions) =>
      run((session) =>
        options.apiContract === true
          ? apiContract(session, sync, options)
          : check(session, sync, requireNoReset(options)),
      ),
    )
}

interface CheckOptions {
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

async function check(session: Session, sync: string | undefined, writes: boolean): Promise<number> {
  const { compose, config, log, signal } = session
  selectSyncs(config, sync)
  let failed = false
  for await (const line of compose.runCheck(
    config,
    log,
    { writes, ...(sync !== undefined && { sync }) },
    signal,
  )) {
    failed ||= line.ok === false
    if (session.json) session.printJson(line)
    else session.print(renderCheckLine(line))
  }
  return failed ? EXIT.error : EXIT.done
}

/** `FAIL  corp token: …`; what is only told has no mark. */
export function renderCheckLine({ sync, label, ok, detail }: CheckLine): string {
  const mark = ok === null ? '    ' : ok ? 'ok  ' : 'FAIL'
  return `${mark}  ${sync === '' ? '' : `${sync} `}${label}: ${printable(detail)}`
}
