import type { Command } from 'commander'
import type { CheckLine, Runner, Session } from './context.ts'
import { EXIT } from './exit-code.ts'
import { printable } from './render/text.ts'
import { selectSyncs } from './select-syncs.ts'

const HELP = `
Without --writes nothing but reading requests are sent. --writes proves the token's writing scope with an update of a
user that cannot exist: the service refuses it, and the way it does tells.

Examples:
  dirsyncd check
  dirsyncd check corp --writes`

export function addCheck(program: Command, run: Runner): void {
  program
    .command('check')
    .description('Prove that configuration, source, token and directory work, and show a few mapped entries.')
    .argument('[sync]', 'Check this sync only.')
    .option('--writes', 'Prove that the token may write, too.')
    .addHelpText('after', HELP)
    .action((sync: string | undefined, options: { writes?: boolean }) =>
      run((session) => check(session, sync, options.writes === true)),
    )
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
