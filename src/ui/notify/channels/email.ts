import { createTransport } from 'nodemailer'
import { networkReason, sentence } from '../../../base/errors.ts'
import { type Channel, Undelivered } from '../channel.ts'

export interface EmailOptions {
  readonly host: string
  readonly port: number
  /** `tls` from the first byte, `starttls` before the first command, or `none`. */
  readonly security: 'tls' | 'starttls' | 'none'
  /** PEM, instead of Node's defaults. */
  readonly ca: string | undefined
  readonly user: string | undefined
  readonly password: (() => Promise<string>) | undefined
  readonly from: string
  readonly to: readonly string[]
}

/** A mail server may check a mail for minutes before it accepts it (RFC 5321, 4.5.3.2). */
const PATIENCE = { connectionTimeout: 20_000, greetingTimeout: 60_000, socketTimeout: 600_000 }

/**
 * Sends to one recipient, because a server may refuse one and accept the mail for the others.
 *
 * @param recipient an address without a name
 */
export function createEmail(options: EmailOptions, recipient: string): Channel {
  const { host, port, security, ca, user, from, to } = options
  return {
    async send({ id, subject, text, createdAt }) {
      const password = await options.password?.()
      const transport = createTransport({
        host,
        port,
        secure: security === 'tls',
        requireTLS: security === 'starttls',
        ignoreTLS: security === 'none',
        ...PATIENCE,
        // Set here, because NODE_TLS_REJECT_UNAUTHORIZED=0 would disable the check.
        tls: { rejectUnauthorized: true, ...(ca !== undefined && { ca }) },
        ...(user !== undefined && password !== undefined && { auth: { user, pass: password } }),
      })
      try {
        await transport.sendMail({
          from,
          to: [...to],
          envelope: { from: addressOf(from), to: [recipient] },
          subject: `[dirsyncd] ${subject}`,
          text,
          // The same at every attempt, so that the server can drop duplicates.
          messageId: `<${id}@${addressOf(from).split('@').at(-1) ?? 'dirsyncd'}>`,
          date: createdAt,
          headers: { 'Auto-Submitted': 'auto-generated' },
        })
      } catch (error) {
        throw undelivered(error, host, (said) => withoutLogin(said, user, password))
      } finally {
        transport.close()
      }
    },
    async [Symbol.asyncDispose]() {},
  }
}

/** `ops@example.org` of `Operations <ops@example.org>`. */
export function addressOf(mailbox: string): string {
  return /<([^<>]+)>$/.exec(mailbox)?.[1] ?? mailbox
}

interface MailFault {
  readonly code?: unknown
  readonly originalCode?: unknown
  readonly cert?: unknown
  readonly responseCode?: unknown
}

function undelivered(error: unknown, host: string, withoutSecrets: (said: string) => string): Undelivered {
  const { code, originalCode, cert, responseCode } = (error instanceof Error ? error : {}) as MailFault
  const isRefused = typeof responseCode === 'number' && responseCode >= 500
  const reason = networkReason(Object.assign(new Error(), { code: originalCode, cert }))
  // A server may repeat the password in another encoding.
  if (code === 'EAUTH')
    return new Undelivered(`${host}: the login is refused${status(responseCode)}`, { isRefused })
  if (reason !== undefined) return new Undelivered(`${host} does not answer: ${reason}`)
  const said = withoutSecrets(sentence(error)).split('\n')[0] ?? ''
  return new Undelivered(`${host}: ${said}`, { isRefused })
}

function status(responseCode: unknown): string {
  return typeof responseCode === 'number' ? ` (${responseCode})` : ''
}

/** Removes the password in the encodings of AUTH PLAIN and LOGIN. */
function withoutLogin(said: string, user: string | undefined, password: string | undefined): string {
  if (user === undefined || password === undefined || password === '') return said
  const forms = [base64(`\0${user}\0${password}`), base64(password), password]
  return forms.reduce((text, form) => text.replaceAll(form, '<masked>'), said)
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
