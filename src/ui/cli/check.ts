import type { Command } from 'commander'
import type { Runner, Session } from './context.ts'
import { EXIT } from './exit-code.ts'
import { headingOf, renderCheckItem, renderVerdict } from './render/check.ts'
import { selectSyncs } from './select-syncs.ts'

const HELP = `
Reads each source as a run would, and changes nothing. Shows server, vendor, TLS, bind user and limits, counts, ten
mapped entries, how one of them was mapped, and warnings. --no-samples shows counts and warnings only, and no entry by
name. Without --writes, only reading requests are sent. --writes tests whether the token may write, with an update of a
user that cannot exist: the service answers 404 when the token may, and 403 when it may not.

Examples:
  dirsyncd check
  dirsyncd check corp --writes
  dirsyncd check corp --no-samples --json`

export function addCheck(program: Command, run: Runner): void {
  program
    .command('check')
    .description('Test that configuration, source, token and directory work, and show a few mapped entries.')
    .argument('[sync]', 'Check this sync only.')
    .option('--no-samples', 'Show no entries by name, only counts and warnings.')
    .option('--writes', 'Also test that the token may write.')
    .addHelpText('after', HELP)
    .action((sync: string | undefined, options: CheckOptions) =>
      run((session) => check(session, { sync, writes: options.writes === true, samples: options.samples })),
    )
}

interface CheckOptions {
  readonly samples: boolean
  readonly writes?: boolean
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
