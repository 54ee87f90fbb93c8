import type { Command } from 'commander'
import type { OwnerInWords } from '../../base/database/owner.ts'
import type { Runner, Session } from './context.ts'
import { renderReload } from './render/reload.ts'

const HELP = `
A wrong file changes nothing: the command says what is wrong (exit code 78), and the daemon goes on as before. Syncs that
are the same as before go on with what they do. A sync that was changed or removed ends its requests in flight; what it
was doing goes on from what both sides say then, with the new configuration. Workers on other machines read theirs at
SIGHUP. A daemon that is starting is waited for. Where no daemon runs with the data directory of the file, the exit code
is 1.

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

async function reload({ compose, config, signal, stderr, json, print, printJson }: Session): Promise<number> {
  const onWait = ({ who }: OwnerInWords) => {
    stderr.write(`Waiting for ${who}, which is starting.\n`)
  }
  const report = await compose.reload(config.dataDir, { signal, onWait })
  if (json) printJson(report)
  else print(...renderReload(report, config.file))
  return 0
}
