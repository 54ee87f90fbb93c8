import type { Command } from 'commander'
import { amount } from '../../base/wording.ts'
import { named } from '../../base/terminal/arguments.ts'
import type { BareSession, Runner } from './context.ts'
import { writeNewFile } from '../../base/terminal/new-file.ts'

const HELP = `
The file has versions, the configuration without secrets, the last 20 runs of each sync with counts and codes of errors,
what is in quarantine, and the sizes of tables. Hashes stand for ids, names, e-mail addresses and sentences. With
--with-texts the sentences of errors and of the API's answers are in it as they are: they may name users, with their
e-mail addresses. Read the file before you send it.

Examples:
  dirsyncd bundle
  dirsyncd bundle --with-texts
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
    .option(
      '--with-texts',
      'Add the sentences of errors and answers, which may have names and e-mails of users.',
    )
    .addHelpText('after', HELP)
    .action((file: string | undefined, { withTexts = false }: { withTexts?: boolean }) =>
      run((session) => writeBundle(session, file, withTexts), { needsConfig: false }),
    )
}

async function writeBundle(
  session: BareSession,
  asked: string | undefined,
  withTexts: boolean,
): Promise<number> {
  const { configPlace: place, log } = session
  const { bundle, missing } = await session.compose.collectBundle({ place, log, withTexts })
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
      `Wrote ${path} (${amount(Math.ceil(bytes / 1024), 'kilobyte')}). ${withTexts ? WITH_TEXTS : READ_IT}`,
      ...missing.map((sentence) => `It lacks a part: ${sentence}`),
    )
  return 0
}

const READ_IT = 'Read it before you send it.'
const WITH_TEXTS = 'It may have names and e-mail addresses of users: read it before you send it.'

function defaultName(now: Date): string {
  const [day, time] = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').split('T')
  return `dirsyncd-bundle-${day}-${time}.json`
}
