import type { Command } from 'commander'
import { amount } from '../../base/wording.ts'
import { named } from '../../base/terminal/arguments.ts'
import type { BareSession, Runner } from './context.ts'
import { writeNewFile } from '../../base/terminal/new-file.ts'

const HELP = `
The file has versions, the configuration without secrets, the last 20 runs of each sync with counts and errors, what is
in quarantine, and the sizes of tables. Hashes stand for ids, names and e-mail addresses. Read it before you send it: a
sentence of another program, such as the API or the LDAP server, may hold what no rule expects.

Examples:
  dirsyncd bundle
  dirsyncd bundle /tmp/for-support.json
  dirsyncd bundle - | less`

export function addBundle(program: Command, run: Runner): void {
  program
    .command('bundle')
    .description('Write diagnostics for a support request into one file, without secrets and people.')
    .argument(
      '[file]',
      'The new file, or - for standard output (default: dirsyncd-bundle-YYYYMMDD-HHMMSS.json).',
      named,
    )
    .addHelpText('after', HELP)
    .action((file: string | undefined) =>
      run((session) => writeBundle(session, file), { needsConfig: false }),
    )
}

async function writeBundle(session: BareSession, asked: string | undefined): Promise<number> {
  const { bundle, missing } = await session.compose.collectBundle(session.configPlace, session.log)
  const text = `${JSON.stringify(bundle, null, 2)}\n`
  if (asked === '-') {
    session.print(text.trimEnd())
    return 0
  }
  const path = asked ?? defaultName(new Date())
  const file = { path, what: `The bundle cannot be written into ${path}` }
  await writeNewFile(file, () => Promise.resolve(text), String)
  const bytes = Buffer.byteLength(text)
  if (session.json) session.printJson({ file: path, bytes, missing })
  else
    session.print(
      `Wrote ${path} (${amount(Math.ceil(bytes / 1024), 'kilobyte')}). Read it before you send it.`,
      ...missing.map((sentence) => `It lacks a part: ${sentence}`),
    )
  return 0
}

/** In UTC. */
function defaultName(now: Date): string {
  const [day, time] = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').split('T')
  return `dirsyncd-bundle-${day}-${time}.json`
}
