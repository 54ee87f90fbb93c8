import { type Command, InvalidArgumentError } from 'commander'
import { parseDuration } from '../../base/duration.ts'
import { isTimeOrDuration } from '../resources/values.ts'
import { named, repeated, wholeNumber } from '../../base/terminal/arguments.ts'
import type { Runner, Session } from './context.ts'
import { printable } from '../../base/printable.ts'
import { pointInTime } from '../../base/wording.ts'
import { writeNewFile } from '../../base/terminal/new-file.ts'
import { printResult, printRows, withService } from './admin.ts'

const CREATE_HELP = `
No scope implies another:
  ORG_READ    directories, organization groups and events: read
  ORG         directories: write
  USER_READ   the contact's own subscriptions and credentials: read
  USER        the contact's own subscriptions: write

The token is shown now and never again: the service keeps its hash only.

Examples:
  access-service token create --contact 11 --scope ORG_READ --scope ORG
  access-service token create --contact 11 --scope ORG_READ --expires 30d --file /run/secrets/token
  access-service token create --contact 11 --scope USER_READ --expires 2030-01-31T00:00:00Z --json | jq -r .token`

const LIST_HELP = `
Examples:
  access-service token list
  access-service token list --contact 11 --json | jq 'select(.expired) | .id'`

const REVOKE_HELP = `
The next request with the token is refused.

Examples:
  access-service token revoke 3f79bb7b435b`

interface CreateOptions {
  readonly contact: number
  readonly scope: readonly string[]
  /** ISO. */
  readonly expires?: string
  readonly file?: string
}

export function addToken(service: Command, run: Runner): void {
  const group = service.command('token').description('Access tokens of the contacts.')
  group
    .command('create')
    .description('Create a token and show it once.')
    .requiredOption('--contact <number>', 'Whose token it is.', wholeNumber)
    .requiredOption('--scope <scope>', 'What it allows; once for each.', repeated)
    .option('--expires <when>', 'How long it is valid, or until when (default: 365d).', expiryOf)
    .option('--file <path>', 'Write it into this new file, of mode 0600, instead of showing it.', named)
    .addHelpText('after', CREATE_HELP)
    .action((options: CreateOptions) => run((session) => create(session, options)))
  group
    .command('list')
    .description('List the tokens: whose they are and what they allow, never the tokens themselves.')
    .option('--contact <number>', 'Only those of this contact.', wholeNumber)
    .addHelpText('after', LIST_HELP)
    .action((options: { contact?: number }) => run((session) => list(session, options.contact)))
  group
    .command('revoke')
    .description('Revoke a token.')
    .argument('<id>', 'Its id as the list shows it, or the first characters of that.')
    .addHelpText('after', REVOKE_HELP)
    .action((id: string) => run((session) => revoke(session, id)))
}

/** From a duration from now or a time; ISO text. */
function expiryOf(value: string): string {
  const time = isDate(value) ? `${value}T00:00:00Z` : value
  if (!isTimeOrDuration(time))
    throw new InvalidArgumentError(
      'It must be a duration such as 30d, 36500d at most, or a time such as 2030-01-31T00:00:00Z.',
    )
  const duration = parseDuration(time)
  return (duration === undefined ? new Date(time) : new Date(Date.now() + duration)).toISOString()
}

function isDate(value: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(value)
}

async function create(session: Session, options: CreateOptions): Promise<number> {
  const { file } = options
  if (file === undefined) {
    const { token, ...view } = await createToken(session, options)
    printResult(session, { ...view, token }, token)
    if (!session.json) session.stderr.write(`${describe(view)} It is not shown again.\n`)
    return 0
  }
  const { token: _, ...view } = await writeNewFile(
    { path: file, what: `The token cannot be written into ${file}` },
    () => createToken(session, options),
    ({ token }) => `${token}\n`,
  )
  printResult(session, { ...view, file }, `${describe(view)} It is in ${file}.`)
  return 0
}

type Created = Awaited<ReturnType<typeof createToken>>

async function createToken(session: Session, { contact, scope, expires = expiryOf('365d') }: CreateOptions) {
  // The service checks the scopes.
  const scopes = [...scope] as ('ORG' | 'ORG_READ' | 'USER' | 'USER_READ')[]
  return withService(session, (admin) =>
    admin.createToken({ contactId: contact, scopes, expiresAt: expires }),
  )
}

function describe({ id, contactId, scopes, expiresAt }: Omit<Created, 'token'>): string {
  return `Token ${id} of contact ${contactId} allows ${scopes.join(', ')} until ${pointInTime(expiresAt)}.`
}

async function list(session: Session, contactId: number | undefined): Promise<number> {
  const rows = await withService(session, (admin) => admin.perform('listTokens', { contactId }))
  printRows(session, rows, {
    head: ['ID', 'CONTACT', 'NAME', 'ORGANIZATION', 'SCOPES', 'EXPIRES'],
    cells: (row) => [
      row.id,
      String(row.contactId),
      printable(row.contact),
      String(row.organizationId),
      row.scopes.join(', '),
      row.expired ? `expired ${pointInTime(row.expiresAt)}` : pointInTime(row.expiresAt),
    ],
    none: 'There are no tokens; access-service token create makes one.',
  })
  return 0
}

async function revoke(session: Session, id: string): Promise<number> {
  const revoked = await withService(session, (admin) => admin.perform('revokeToken', { id }))
  printResult(session, revoked, `Token ${revoked.id} of contact ${revoked.contactId} is revoked.`)
  return 0
}
