import { resolve } from 'node:path'
import type { RawServer } from '../../../operations/init/draft.ts'
import type { ServerCertificate } from '../../../source/ldap/connection/certificate.ts'
import type { ServerLook } from '../../../source/ldap/discover/server.ts'
import { ldapUrl } from '../../../config/source-schema.ts'
import { DirsyncdError } from '../../../base/errors.ts'
import { printable } from '../../../base/printable.ts'
import { hang, wrap } from '../../../base/terminal/wrap.ts'
import { checkWith } from './check.ts'
import { type Init, isAsked, tellSlow } from './context.ts'
import { fingerprintDigits } from './fingerprint.ts'
import type { Check } from './prompts.ts'
import { askSecret } from './secret.ts'

type Facts = Extract<ServerLook, { facts: unknown }>['facts']

export interface ReachedServer {
  readonly server: RawServer
  readonly facts: Facts
}

export const SERVER_FLAGS = ['--url', '--start-tls', '--trust']
export const READER_FLAGS = ['--bind-dn', '--bind-dn (kind)', '--bind-password-file']

/** Asks until the server is reachable and accepts the bind account. `before`: answers that stay. */
export async function askServer(init: Init, before?: ReachedServer): Promise<ReachedServer> {
  const { answers } = init
  const isSameServer = before !== undefined && !SERVER_FLAGS.some((flag) => answers.isAskedAgain(flag))
  const isSameReader = !READER_FLAGS.some((flag) => answers.isAskedAgain(flag))
  if (isSameServer && isSameReader) return before
  const { server } = isSameServer ? before : await askFirst(init)
  const { bind: _, ...anonymous } = server
  return answers.untilItWorks(
    () => READER_FLAGS,
    () => logIn(init, anonymous),
  )
}

async function askFirst(init: Init): Promise<ReachedServer> {
  const { answers, say } = init
  const first = await answers.untilItWorks(
    () => SERVER_FLAGS,
    () => reach(init),
  )
  const { vendor, calledItself, url } = first.facts
  say(`  ${url} is of the vendor ${vendor}${calledItself === '' ? '' : ` (${printable(calledItself)})`}`)
  return first
}

async function reach(init: Init): Promise<ReachedServer> {
  const { answers, options, steps, files, say, place } = init
  const url = await answers.text({
    flag: '--url',
    given: options.url,
    what: 'the address of the LDAP server',
    message: 'LDAP server (such as ldaps://dc1.example.org):',
    check: checkWith(ldapUrl),
  })
  files.delete('ca')
  const startTls = await askStartTls(init, url)
  const ca = options.ca === undefined ? undefined : resolve(options.ca)
  const tls = { ...(ca !== undefined && { ca }), ...(startTls && { startTls }) }
  const server = { type: 'ldap', url, ...(Object.keys(tls).length > 0 && { tls }) } as const
  say(`Connecting to ${url} …`)
  const look = await tellSlow(init, steps.lookAtServer(server, place()))
  if ('facts' in look) return { server, facts: look.facts }
  await requireTrust(init, url, look.untrusted)
  const file = await steps.newCertificate(look.untrusted.anchor.pem, place())
  files.set('ca', file)
  const trusting = { ...server, tls: { ...tls, ca: file.path } }
  const again = await steps.lookAtServer(trusting, place())
  if ('facts' in again) return { server: trusting, facts: again.facts }
  throw new Error('a server that is trusted shows its facts')
}

async function askStartTls({ answers, options, steps, say }: Init, url: string): Promise<boolean> {
  const isPlain = /^ldap:/i.test(url)
  if (!isPlain) return false
  if (!answers.hasPerson || !steps.crossesNetwork(url)) return options.startTls === true
  const isEncrypted = await answers.confirm({
    flag: '--start-tls',
    given: options.startTls,
    what: 'encryption',
    message: 'Encrypt the connection (StartTLS)?',
    proposed: true,
  })
  if (!isEncrypted)
    say(
      'Without TLS everything crosses the network in the clear. dirsyncd sends no password that way, so only a server that shows the people to everybody can be read.',
    )
  return isEncrypted
}

/** Throws `source-refused` where the certificate is not the expected one. */
async function requireTrust(init: Init, url: string, certificate: ServerCertificate): Promise<void> {
  const { answers, options, say, compared, columns } = init
  const { fingerprint, anchor } = certificate
  if (compared.has(fingerprint)) return
  const expected = answers.isAskedAgain('--trust') ? undefined : options.trust
  if (expected !== undefined) {
    if (
      [fingerprint, anchor.fingerprint].some(
        (known) => fingerprintDigits(known) === fingerprintDigits(expected),
      )
    )
      return
    throw new DirsyncdError(
      'source-refused',
      `${url} shows a certificate with the SHA-256 fingerprint ${fingerprint}, which is not that of --trust.`,
    )
  }
  if (!isAsked(init))
    throw new DirsyncdError(
      'usage',
      `Nobody whom this machine trusts has signed the certificate of ${url}: compare its SHA-256 fingerprint with that ` +
        `on the server and give it with --trust ${fingerprint}, or name the file of its CA with --ca.`,
    )
  say('', ...renderCertificate(url, certificate, columns), '')
  const isRight = await answers.confirm({
    flag: '--trust',
    given: undefined,
    what: 'the fingerprint',
    message: 'Is this the certificate of your server?',
    proposed: false,
  })
  if (!isRight)
    throw new DirsyncdError(
      'source-refused',
      `The certificate of ${url} is not trusted, so nothing was sent there.`,
    )
  compared.add(fingerprint)
}

function renderCertificate(
  url: string,
  { subject, issuer, validFrom, validTo, names, fingerprint, anchor }: ServerCertificate,
  columns: number | undefined,
): string[] {
  const rows = [
    ['subject', subject],
    ['issued by', subject === issuer ? 'itself' : issuer],
    ['valid', `${validFrom.slice(0, 10)} to ${validTo.slice(0, 10)}`],
    ['for', names.join(', ') || 'no host name'],
    ['SHA-256', inLines(fingerprint, columns)],
    ...(anchor.isAuthority
      ? [
          ['its CA', anchor.subject],
          ['SHA-256', inLines(anchor.fingerprint, columns)],
        ]
      : []),
  ]
  const what = anchor.isAuthority ? 'its CA' : 'it'
  return [
    ...wrap(`Nobody whom this machine trusts has signed the certificate of ${url}:`, columns),
    ...rows.flatMap(([label = '', text = '']) => hang(`  ${label.padEnd(11)}`, printable(text), columns)),
    ...wrap(
      'Compare the fingerprint with what the administrator of the server reads there, for instance with ' +
        'openssl x509 -noout -fingerprint -sha256 -in CERTIFICATE.pem',
      columns,
    ),
    ...wrap(
      `If it is the right one, ${what} is saved beside the configuration, and every connection is checked against it.`,
      columns,
    ),
  ]
}

/** A fingerprint broken within a byte cannot be compared. */
function inLines(fingerprint: string, columns = Infinity): string {
  return columns < 110 ? `${fingerprint.slice(0, 48)} ${fingerprint.slice(48)}` : fingerprint
}

async function logIn(init: Init, server: RawServer): Promise<ReachedServer> {
  const { options, steps, files, place } = init
  const dn = (await isAnonymous(init)) ? '' : await askDn(init)
  if (dn === '') {
    files.delete('password')
    return reached(server, await steps.lookAtServer(server, place()))
  }
  steps.requirePrivacy(server, dn)
  const password = await askSecret(init, {
    key: 'password',
    flag: '--bind-password',
    file: options.bindPasswordFile,
    env: options.bindPasswordEnv,
    what: 'the password of the user that reads',
    message: 'Password of this user:',
    name: 'ldap-password',
  })
  const bound = { ...server, bind: { dn, password } }
  return reached(bound, await tellSlow(init, steps.lookAtServer(bound, place())))
}

/** Asked at a terminal only: an option with an empty text says the same. */
async function isAnonymous({ answers, options }: Init): Promise<boolean> {
  const flag = '--bind-dn (kind)'
  if (!answers.hasPerson || (options.bindDn !== undefined && answers.isOpen(flag)))
    return options.bindDn === ''
  return answers.choose({
    flag,
    given: undefined,
    what: 'the user that reads',
    message: 'How does dirsyncd log in?',
    choices: [
      { value: false, name: 'As a user of the server, with a password' },
      { value: true, name: 'Not at all: the server shows the people to everybody' },
    ],
    hasProposal: false,
  })
}

function askDn({ answers, options }: Init): Promise<string> {
  return answers.text({
    flag: '--bind-dn',
    given: options.bindDn,
    what: 'the user that reads',
    message: 'DN of this user (for Active Directory also reader@example.org):',
    check: checkUser,
  })
}

/** Does not send a password as a name when it was typed too early. */
const checkUser: Check = (text) =>
  /=.|.@.|.\\./.test(text)
    ? undefined
    : 'must be a DN such as cn=reader,dc=example,dc=org, or reader@example.org'

function reached(server: RawServer, look: ServerLook): ReachedServer {
  if ('facts' in look) return { server, facts: look.facts }
  throw new DirsyncdError('source-refused', 'The server shows another certificate now; begin again.')
}
