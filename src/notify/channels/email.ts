import { createTransport } from 'nodemailer'
import { sentence } from '../../errors.ts'
import { type Channel, Undelivered } from '../channel.ts'

export interface EmailOptions {
  readonly host: string
  readonly port: number
  /** `tls` from the first byte, `starttls` before anything is said, or `none`. */
  readonly security: 'tls' | 'starttls' | 'none'
  /** Certificate authorities (PEM) to trust instead of Node's defaults. */
  readonly ca: string | undefined
  readonly user: string | undefined
  readonly password: (() => Promise<string>) | undefined
  readonly from: string
  readonly to: readonly string[]
}

/** A mail server may look into a mail for minutes before it says that it has it (RFC 5321, 4.5.3.2). */
const PATIENCE = { connectionTimeout: 20_000, greetingTimeout: 60_000, socketTimeout: 600_000 }

export function createEmail(options: EmailOptions): Channel {
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
        // Set here, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would switch the check off.
        tls: { rejectUnauthorized: true, ...(ca !== undefined && { ca }) },
        ...(user !== undefined && password !== undefined && { auth: { user, pass: password } }),
      })
      try {
        await transport.sendMail({
          from,
          to: [...to],
          subject: `[dirsyncd] ${subject}`,
          text,
          // The same at every attempt: a server that took an earlier one can tell.
          messageId: `<${id}@${from.split('@').at(-1)?.replace(/>$/, '') ?? 'dirsyncd'}>`,
          date: createdAt,
          headers: { 'Auto-Submitted': 'auto-generated' },
        })
      } catch (error) {
        throw undelivered(error, host)
      } finally {
        transport.close()
      }
    },
    async [Symbol.asyncDispose]() {},
  }
}

function undelivered(error: unknown, host: string): Undelivered {
  const code =
    typeof error === 'object' && error !== null && 'responseCode' in error ? error.responseCode : undefined
  const isRefused = typeof code === 'number' && code >= 500
  return new Undelivered(`${host}: ${sentence(error).split('\n')[0] ?? ''}`, { isRefused, cause: error })
}
