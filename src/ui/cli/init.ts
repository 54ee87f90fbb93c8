import { requireNewFile } from '../../operations/init/stage.ts'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { InitSteps } from '../../operations/init/init.ts'
import type { RawConfiguration } from '../../operations/init/yaml.ts'
import { usualFile } from '../../config/load.ts'
import type { RunView } from '../../operations/control.ts'
import { DirsyncdError } from '../../base/errors.ts'
import { exitCodeAfter, onHangup, onQuit } from '../../base/process/shutdown.ts'
import { named, repeated, wholeNumber } from '../../base/terminal/arguments.ts'
import type { BareSession, Runner } from './context.ts'
import { isAsked } from '../messages/ends.ts'
import { EXIT } from './exit-code.ts'
import { Answers } from './init/answers.ts'
import type { Init, InitOptions } from './init/context.ts'
import { checkGiven, refuseSecrets, requireGiven } from './init/given.ts'
import { agreeOn } from './init/agree.ts'
import { renderEnd } from './init/end.ts'
import { fold } from '../../base/terminal/wrap.ts'

const HELP = `
Asks for the source (an LDAP server, Active Directory or CSV files) and for the directory, looks what is there, proposes
a mapping and shows ten people, makes a first plan, and writes a commented configuration. Secrets get files of their own
that only this user may read. Nothing is changed in the source or in the directory, except that --membership find-out,
and "Find out now" at a terminal, make a user and a group of their own and delete both again, and that what an earlier
one left is deleted where you agree. To find out whether the token may write, one update of a user that cannot exist is
sent, as dirsyncd check --writes does.

Each option answers one question, and what is left is asked. Without a terminal, and with --json, everything that is
needed must be there; --yes takes what is proposed. Nothing is written before the last question, and nothing is left
behind when the command ends before. A configuration that exists is never overwritten.

Examples:
  dirsyncd init
  dirsyncd init --file /etc/dirsyncd/dirsyncd.yaml --source ldap --url ldaps://dc1.example.org
  dirsyncd init --yes --source ldap --url ldaps://ldap.example.org --trust 9F:86:D0:… \\
    --bind-dn cn=reader,dc=example,dc=org --bind-password-file ldap-password \\
    --api-url https://access.example.com --organization 1 --directory 7 --token-env DIRSYNCD_TOKEN
  dirsyncd init --yes --source csv --csv-users users.csv --csv-groups groups.csv --csv-members members.csv \\
    --api-url https://access.example.com --organization 1 --token-file token --json`

export function addInit(program: Command, run: Runner): void {
  const init = program
    .command('init')
    .description('Find out what is needed and write a first configuration.')
    .option(
      '--file <file>',
      'The new configuration (default: --config, $DIRSYNCD_CONFIG, then config/dirsyncd.yaml of a checkout, or /etc/dirsyncd/dirsyncd.yaml).',
      named,
    )
    .addOption(new Option('--source <kind>', 'Where users and groups are read.').choices(['ldap', 'csv']))
  addLdapOptions(init)
  addCsvOptions(init)
  init
    .option('--map-id <attribute>', 'The attribute or column of the id.')
    .option('--map-email <expression>', 'Where the e-mail address comes from.')
    .option('--map-name <expression>', 'Where the full name comes from.')
    .option('--map-employee-id <expression>', 'Where the employee id comes from.')
    .option('--api-url <url>', 'Address of the access-management service, without /api/v2.')
    .option('--api-ca <file>', 'PEM file with the CA of the service.', named)
    .option('--organization <number>', 'Number of the organization.', wholeNumber)
    .option('--directory <number>', 'Number of the directory.', wholeNumber)
    .option('--token-file <file>', 'File with the access token.', named)
    .option('--token-env <name>', 'Environment variable with the access token.', named)
    .option(
      '--allowed-domain <domain>',
      'E-mail domain that the service takes; may be given several times (left out: every domain).',
      repeated,
    )
    .addOption(
      new Option(
        '--bad-emails <how>',
        'Whether e-mails that are no address, or of another domain, are dropped, or kept and their people perhaps refused.',
      ).choices(['drop', 'keep']),
    )
    .addOption(
      new Option(
        '--membership <how>',
        'Whether members of groups are written, or only compared; find-out tries it with a user and a group of its own.',
      ).choices(['report', 'write', 'find-out']),
    )
    .option('--sync <name>', 'Name of the sync (proposed: corp).', named)
    .option('--schedule <when>', 'An interval, a cron expression or never (proposed: 15m).')
    .option('--data-dir <folder>', 'Folder for the data.', named)
    .option('--yes', 'Take what is proposed, and write without asking.')
    .addHelpText('after', HELP)
    .action((_options: object, command: Command) => {
      // `--config` names the new file here.
      const options: InitOptions & { readonly config?: string } = command.optsWithGlobals()
      return run((session) => initQuietly(session, options), { needsConfig: false })
    })
}

function addLdapOptions(init: Command): void {
  init
    .option('--url <url>', 'LDAP: address of the server, such as ldaps://dc1.example.org.')
    .option('--start-tls', 'LDAP: encrypt an ldap:// connection.')
    .option('--ca <file>', 'LDAP: PEM file with the CA of the server.', named)
    .option('--trust <sha256>', "LDAP: fingerprint of the server's certificate, or of its CA, to be trusted.")
    .option('--bind-dn <dn>', 'LDAP: the user that reads; an empty text reads anonymously.')
    .option('--bind-password-file <file>', 'LDAP: file with the password of this user.', named)
    .option('--bind-password-env <name>', 'LDAP: environment variable with this password.', named)
    .option('--users-base <dn>', 'LDAP: where the people are; may be given several times.', repeated)
    .option(
      '--users-filter <filter>',
      'LDAP: filter of the people; of the usual kind, unless it names an objectClass.',
    )
    .addOption(
      new Option('--disabled <how>', 'LDAP: what disabled accounts are.').choices(['skip', 'delete', 'keep']),
    )
    .option('--groups-base <dn>', 'LDAP: where the groups are; may be given several times.', repeated)
    .option(
      '--groups-filter <filter>',
      'LDAP: filter of the groups; of the usual kind, unless it names an objectClass.',
    )
    .addOption(
      new Option('--nested <how>', 'LDAP: whether members of groups within groups count.').choices([
        'direct',
        'flatten',
      ]),
    )
    .option('--no-groups', 'Sync no groups.')
}

function addCsvOptions(init: Command): void {
  init
    .option('--csv-users <file>', 'CSV: the file with the users.', named)
    .option('--csv-groups <file>', 'CSV: the file with the groups.', named)
    .option('--csv-members <file>', 'CSV: the file with the members.', named)
    .option('--map-member-group <column>', "CSV: the column of the file of members with the group's id.")
    .option('--map-member-user <column>', "CSV: the column of the file of members with the user's id.")
    .option('--csv-delimiter <character>', 'CSV: the character between two columns (default: found).')
    .option('--csv-encoding <label>', 'CSV: the encoding, such as windows-1252 (default: found).')
}

/** The operator who presses Ctrl-C needs no error message; what is left in the directory was printed. */
async function initQuietly(
  session: BareSession,
  options: InitOptions & { readonly config?: string },
): Promise<number> {
  // A closed terminal would end the process before it removes its files.
  using _hangup = onHangup(() => {
    if (!session.signal.aborted) process.kill(process.pid, 'SIGTERM')
  })
  using _quit = onQuit(() => process.kill(process.pid, 'SIGINT'))
  try {
    return await runInit(session, options)
  } catch (error) {
    const isDirsyncdError = error instanceof DirsyncdError
    if (session.signal.aborted || (isDirsyncdError && error.code === 'interrupted'))
      return exitCodeAfter(session.signal)
    if (!isDirsyncdError) throw error
    // What is wrong with an answer is wrong usage here, although the checks are those of the configuration.
    throw error.code === 'config-invalid'
      ? new DirsyncdError('usage', error.message, { cause: error })
      : error
  }
}

async function runInit(
  session: BareSession,
  given: InitOptions & { readonly config?: string },
): Promise<number> {
  const { configPlace, compose, log, signal, json } = session
  const usual = usualFile(configPlace.env)
  const file = resolve(given.file ?? given.config ?? usual)
  const steps = await compose.openInit(log, signal)
  await requireNewFile(file)
  checkGiven(given, steps)
  refuseSecrets(given, configPlace.env)
  const options = { ...given, ...outermostBases(given, steps) }
  const say = (...lines: readonly string[]) =>
    json ? undefined : session.print(...fold(lines, session.columns))
  const files: Init['files'] = new Map()
  const init: Init = {
    options,
    steps,
    say,
    tell: json ? (sentence) => session.stderr.write(`${sentence}\n`) : say,
    warnings: [],
    left: [],
    compared: new Set(),
    emails: { found: undefined },
    rights: { mayWrite: true },
    file,
    files,
    columns: session.columns,
    place: () => ({ file, env: configPlace.env, files: [...files.values()] }),
    answers: new Answers({
      prompts: session.prompts,
      yes: options.yes === true,
      isJson: json,
      signal,
      onProblem: (problem) => say('', ...problem.split('\n'), ''),
    }),
  }
  if (session.prompts !== undefined)
    say(
      `This writes ${file} after the last question; what was wrong can be asked again before that. Ctrl-C ends it and leaves nothing behind.`,
      '',
    )
  if (!init.answers.hasPerson) requireGiven(init)
  const { configuration, stage, plan } = await agreeOn(session, init)
  await using _stage = stage
  const written = await stage.place()
  const isUsual = file === resolve(usual)
  if (json) session.printJson({ ...summaryOf(configuration, plan), warnings: init.warnings, written })
  else
    session.print(
      ...renderEnd(
        configuration,
        { file, isUsual, mayWrite: init.rights.mayWrite, left: init.left },
        written,
        session.columns,
      ),
    )
  return EXIT.done
}

function outermostBases({ usersBase, groupsBase }: InitOptions, steps: InitSteps): Partial<InitOptions> {
  return {
    ...(usersBase && { usersBase: steps.outermost(usersBase) }),
    ...(groupsBase && { groupsBase: steps.outermost(groupsBase) }),
  }
}

function summaryOf({ dataDir, syncs: [sync] }: RawConfiguration, { counts, blocks }: RunView): object {
  return { sync, dataDir, plan: { counts, asks: blocks.filter(isAsked).map(({ code }) => code) } }
}
