import type { Command } from 'commander'
import { notReleasedText } from '../../operations/released.ts'
import { DirsyncdError } from '../../base/errors.ts'
import { named, repeatedName } from '../../base/terminal/arguments.ts'
import type { Runner, Session } from './context.ts'
import { openControl, readStores } from './open-control.ts'
import { renderQuarantine, renderReleased } from './render/quarantine.ts'
import { printLines } from './print-lines.ts'
import { selectSyncs } from './select-syncs.ts'
import { whoAmI } from './who-am-i.ts'

const HELP = `
A change that the service refused for its own content, or accepted twice without effect, is in quarantine: it is tried
again when the entry changes, or a day later. Released changes are tried again by the next run.

Examples:
  dirsyncd quarantine list
  dirsyncd quarantine release --sync corp`

const LIST_HELP = `
Examples:
  dirsyncd quarantine list
  dirsyncd quarantine list --sync corp
  dirsyncd quarantine list --json | jq '{sync, id, detail}'`

const RELEASE_HELP = `
The next run tries the released changes again; what the service still refuses is quarantined again. Without an option,
everything is released. Exit code 1: a user or group that was named is not in quarantine.

Examples:
  dirsyncd quarantine release
  dirsyncd quarantine release --sync corp
  dirsyncd quarantine release --user 7b1c6d0a-52f4-103e-9a53-2f7c0e4d8c11
  dirsyncd quarantine release --sync corp --group sales --group finance`

interface ListOptions {
  readonly sync?: string
}

interface ReleaseOptions extends ListOptions {
  readonly user?: readonly string[]
  readonly group?: readonly string[]
}

export function addQuarantine(program: Command, run: Runner): void {
  const quarantine = program
    .command('quarantine')
    .description('List or release the changes that the service refused or did not carry out.')
    .addHelpText('after', HELP)
  quarantine
    .command('list')
    .description('List what is in quarantine: since when, why, and when it is tried again.')
    .option('--sync <sync>', 'Only changes of this sync.', named)
    .addHelpText('after', LIST_HELP)
    .action((options: ListOptions) => run((session) => list(session, options)))
  quarantine
    .command('release')
    .description('Release changes from quarantine, so that the next run tries them again.')
    .option('--sync <sync>', 'Only changes of this sync.', named)
    .option('--user <id>', 'Only this user, by external id; may be given several times.', repeatedName)
    .option('--group <id>', 'Only this group, by external id; may be given several times.', repeatedName)
    .addHelpText('after', RELEASE_HELP)
    .action((options: ReleaseOptions) => run((session) => release(session, options)))
}

async function list(session: Session, { sync }: ListOptions): Promise<number> {
  if (sync !== undefined) selectSyncs(session.config, sync)
  const changes = await readStores(session, [], (control) =>
    control.quarantine(sync === undefined ? {} : { sync }),
  )
  if (session.json) for (const change of changes) session.printJson(change)
  else printLines(session, renderQuarantine(changes, new Date().toISOString()))
  return 0
}

async function release(session: Session, { sync, user = [], group = [] }: ReleaseOptions): Promise<number> {
  if (sync !== undefined) selectSyncs(session.config, sync)
  const scope = user.length + group.length === 0 ? undefined : { users: user, groups: group }
  await using control = await openControl(session, { tables: 'keep' })
  const by = whoAmI(session.configPlace.env)
  const request = { by, ...(sync !== undefined && { sync }), ...(scope !== undefined && { scope }) }
  const released = await control.release(request)
  const missing = notReleasedText(request, released)
  if (session.json) session.printJson({ released: released.length, changes: released })
  else if (released.length > 0 || missing === undefined) session.print(renderReleased(released))
  if (missing === undefined) return 0
  throw new DirsyncdError('id-unknown', missing)
}
