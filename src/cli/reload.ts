import type { Command } from 'commander'
import type { Runner, Session } from './context.ts'
import { renderReload } from './render/reload.ts'

const HELP = `
A wrong file changes nothing: the command says what is wrong (exit code 78), and the daemon goes on as before. Syncs that
are the same as before go on with what they do. A sync that was changed or removed ends its requests in flight; what it
was doing goes on from what both sides say then, with the new configuration. Workers on other machines read theirs at
SIGHUP.

Examples:
  dirsyncd reload
  dirsyncd reload --config /etc/dirsyncd/dirsyncd.yaml --json`

export function addReload(program: Command, run: Runner): void {
  program
    .command('reload')
    .description('Have the running daemon read the configuration again.')
    .addHelpText('after', HELP)
    .action(() => run(reload))
}

async function reload({ compose, config, json, print, printJson }: Session): Promise<number> {
  const report = await compose.reload(config)
  if (json) printJson(report ?? null)
  else print(...renderReload(report, config.file))
  return 0
}
