import { z } from 'zod'
import { DURATION, parseDuration } from '../duration.ts'

const DURATION_HELP = 'must be a duration with a unit, such as 500ms, 30s, 15m or 2h'

/** In milliseconds. */
export const duration = z
  .string({ error: DURATION_HELP })
  .regex(DURATION, { error: DURATION_HELP, abort: true })
  .refine((text) => parseDuration(text) !== 0, { error: 'must be longer than 0' })
  .transform((text) => parseDuration(text) ?? 0)
  .meta({ title: 'duration' })

/** A Node timer with a longer delay fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A duration that a timer can wait. */
export const timeout = duration.refine((milliseconds) => milliseconds <= LONGEST_TIMER_MS, {
  error: 'must be 24 days at most',
})

const DAY_MS = 86_400_000

/** A hundred years; the store has no times that are thousands of years ago. */
const LONGEST_RETENTION_MS = 36_500 * DAY_MS

/** At least a day, because the guards count the deletes of a day. */
export function retentionTime(orElse: string = '') {
  const error = `must be a duration from 1d to 36500d${orElse}`
  return z
    .string({ error })
    .regex(DURATION, { error, abort: true })
    .transform((text) => parseDuration(text) ?? 0)
    .refine((milliseconds) => milliseconds >= DAY_MS && milliseconds <= LONGEST_RETENTION_MS, { error })
    .meta({ title: 'duration, 1d to 36500d' })
}

/** The address or the network of a proxy, such as `10.0.0.0/8`. */
export const network = z
  .union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: 'must be an IP address or a network' })
  .refine((text) => !isTooWide(text), {
    error: 'must have a prefix of 96 or more, because it is an IPv4 network in IPv6 form',
  })
  .meta({ title: 'IP address or network' })

/** An IPv4 network in IPv6 form whose prefix covers addresses that are not IPv4. */
function isTooWide(text: string): boolean {
  const [address, prefix] = text.split('/')
  const hostname = URL.parse(`http://[${address}]`)?.hostname ?? ''
  return Number(prefix) < 96 && /^\[::ffff:[^:]+:[^:]+\]$/.test(hostname)
}

const SIZES: ReadonlyMap<string | undefined, number> = new Map([
  ['KiB', 1024],
  ['MiB', 1024 ** 2],
  ['GiB', 1024 ** 3],
])

const SIZE = /^(\d{1,6})(KiB|MiB|GiB)$/

const SIZE_HELP = 'must be a size with a unit, such as 512KiB, 100MiB or 2GiB'

/** In bytes. */
export const size = z
  .string({ error: SIZE_HELP })
  .regex(SIZE, { error: SIZE_HELP, abort: true })
  .refine((text) => parseSize(text) > 0, { error: 'must be more than 0' })
  .transform(parseSize)
  .meta({ title: 'size' })

function parseSize(text: string): number {
  const match = SIZE.exec(text)
  return Number(match?.[1]) * (SIZES.get(match?.[2]) ?? Number.NaN)
}

/** The secret itself is never in the configuration. */
export type SecretSource =
  | { readonly env: string }
  | { readonly file: string }
  | { readonly credential: string }
  | { readonly command: readonly string[] }

/** The message never quotes the value, which may be the secret. */
function secretSentence({ input }: { readonly input?: unknown }): string {
  const remedy =
    'write { env: NAME }, { file: PATH }, { credential: NAME } or { command: [program, argument] }'
  if (input === undefined || input === null) return `is missing; ${remedy}`
  if (hasNoTextsAsCommand(input))
    return 'has a command with a part that is no text; put it in quotes, as in "100"'
  return `must say where the secret is, not the secret itself; ${remedy}`
}

function hasNoTextsAsCommand(input: unknown): boolean {
  if (typeof input !== 'object' || input === null || !('command' in input)) return false
  return Array.isArray(input.command) && input.command.some((part) => typeof part !== 'string')
}

const CREDENTIAL_HELP = 'must be the plain name of a file, such as ldap-password'

const ENV_HELP = 'must be the name of an environment variable, not the secret itself'

/** The message never quotes the name: it may be the secret. */
export const envName = z
  .string({ error: ENV_HELP })
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, { error: ENV_HELP })
  .describe('Name of an environment variable.')

export const secret = z
  .union(
    [
      z.strictObject({ env: envName }),
      z.strictObject({
        file: z.string().min(1).describe('Path of a file; it is read again when it changes.'),
      }),
      z.strictObject({
        credential: z
          .string({ error: CREDENTIAL_HELP })
          .regex(/^(?!\.{1,2}$)[\w.-]{1,255}$/, { error: CREDENTIAL_HELP })
          .describe(
            'A credential of systemd: the name of a file in $CREDENTIALS_DIRECTORY, else in /etc/credstore.',
          ),
      }),
      z.strictObject({
        command: z
          .array(z.string().min(1))
          .min(1)
          .describe('A program and its arguments, run without a shell; it prints the secret.'),
      }),
    ],
    { error: secretSentence },
  )
  .meta({ id: 'secret' })

export const text = z.string().min(1, { error: 'must not be empty' })

/** Relative paths start in the configuration file's folder. */
export const path = z.string().min(1, { error: 'must be a path' }).meta({ title: 'path' })

export interface Address {
  readonly host: string
  readonly port: number
}

/** `host:port` or `[::1]:port`; port 0 takes a free one. */
export function parseAddress(address: string): Address | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(address)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  return host === undefined || port > 65_535 ? undefined : { host, port }
}

export const ADDRESS_HELP = 'must be an address with a port, such as 127.0.0.1:8080 or [::1]:8080'

export const address = z
  .string()
  .refine((value) => parseAddress(value) !== undefined, { error: ADDRESS_HELP })
  .meta({ title: 'address' })

/**
 * Without a password, and without a user unless `user` is true. Messages never quote the URL, which may hold a
 * password.
 */
export function url(schemes: readonly string[], options: { user?: boolean; password: string }) {
  const example = schemes.map((scheme) => `${scheme}://…`).join(' or ')
  const checked = z.string().check((context) => {
    const parsed = URL.parse(context.value)
    const known = parsed !== null && schemes.includes(parsed.protocol.slice(0, -1)) && parsed.host !== ''
    let message: string | undefined
    if (!known) {
      message = `must be a URL that begins with ${example}`
    } else if (parsed.password !== '' || parsed.searchParams.has('password')) {
      message = `must not hold a password; ${options.password}`
    } else if (parsed.username !== '' && options.user !== true) {
      message = `must not hold a user name; ${options.password}`
    }
    // An unknown scheme ends the check, so that a union with another form can name both forms.
    if (message !== undefined) {
      context.issues.push({ code: 'custom', message, input: context.value, continue: known })
    }
  })
  return checked.meta({ title: `${schemes.map((scheme) => `${scheme}://`).join(' or ')} URL` })
}

export const baseUrl = url(['http', 'https'], { password: 'the token goes into a file of its own' })
  .refine((value) => !/[?#]/.test(value), { error: 'must end with a host or a path, without ? and #' })
  .refine((value) => !/\/api\/v2(\/|$)/.test(value), {
    error: 'must not have /api/v2, which is added to it; leave that out, and what is behind it',
  })
  .describe('Address of the access-management service, without /api/v2.')
