import { randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { DirsyncdError } from '../../../base/errors.ts'
import { type Credentials, loadCredentials, LoginRefused } from './bind.ts'
import type { Endpoint } from './endpoint.ts'
import type { LdapSourceOptions } from '../options.ts'

const MINUTE_MS = 60_000

/** After each refusal in a row. Servers lock an account after a few of them within half an hour or so. */
const PAUSES_MS = [15 * MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS] as const

/** For commands: one command may read many sources with the same account, one after the other. */
const ASKED_PAUSE_MS = 10_000

/** After so many different secrets in a row, another one has to wait too: some sources give a new one each time. */
const MOST_SECRETS = 3

interface Login {
  readonly options: Pick<LdapSourceOptions, 'bind' | 'tls'>
  readonly endpoints: readonly Pick<Endpoint, 'url'>[]
  readonly isAsked: boolean
}

/** A refused bind. The secret cannot be derived from it. */
export interface RefusedLogin {
  readonly reader: string
  readonly message: string
  readonly salt: string
  /** Of the secret, made with the salt. */
  readonly hash: string
  readonly times: number
  readonly secrets: number
  readonly at: Date
}

/** The last refused bind of each account, for all syncs and later processes. */
export interface RefusedLogins {
  find(readers: readonly string[]): Promise<readonly RefusedLogin[]>
  keep(refused: RefusedLogin): Promise<void>
  forget(readers: readonly string[]): Promise<void>
}

/** Prevents account lock-outs. One instance for all sources of a process. */
export class Logins {
  readonly #refused: RefusedLogins
  /** By bind account; they never reject. */
  readonly #underWay = new Map<string, Promise<unknown>>()

  constructor(refused = createRefusedLogins()) {
    this.#refused = refused
  }

  /**
   * Connects with the account's credentials, but not while the same ones were refused a short time ago. A login of the
   * same account that is in progress is awaited first. Rejects like `loadCredentials` and `connect`, and with
   * `source-refused` in the pause.
   */
  async attempt<T>(login: Login, connect: (credentials: Credentials) => Promise<T>): Promise<T> {
    const { bind } = login.options
    if (bind === undefined) return connect(await loadCredentials(login.options))
    const who = bind.dn?.toLowerCase() ?? 'the client certificate'
    const other = this.#underWay.get(who)
    if (other !== undefined) await other
    const attempt = this.#attempt(who, login, connect)
    const ended = attempt.then(nothing, nothing)
    this.#underWay.set(who, ended)
    return attempt.finally(() => {
      if (this.#underWay.get(who) === ended) this.#underWay.delete(who)
    })
  }

  async #attempt<T>(
    who: string,
    { options, endpoints, isAsked }: Login,
    connect: (credentials: Credentials) => Promise<T>,
  ): Promise<T> {
    const readerAt = (url: string) => `${who} at ${url}`
    const readers = [...new Set(endpoints.map(({ url }) => readerAt(url)))]
    const [last] = (await this.#refused.find(readers)).toSorted((a, b) => b.at.getTime() - a.at.getTime())
    const credentials = await loadCredentials(options, last !== undefined)
    if (last !== undefined) await requireEnd(last, credentials, isAsked)
    try {
      const connection = await connect(credentials)
      if (last !== undefined) await this.#refused.forget(readers)
      return connection
    } catch (error) {
      if (!(error instanceof LoginRefused)) throw error
      // The secret may have been read again, so the current one was refused.
      const refused = await loadCredentials(options).catch(() => credentials)
      await this.#refused.keep(await refusalOf(error, readerAt(error.url), refused, last))
      throw error
    }
  }
}

function createRefusedLogins(): RefusedLogins {
  const last = new Map<string, RefusedLogin>()
  return {
    find: async (readers) => readers.flatMap((reader) => last.get(reader) ?? []),
    keep: async (refused) => void last.set(refused.reader, refused),
    async forget(readers) {
      for (const reader of readers) last.delete(reader)
    },
  }
}

/** Throws the server's refusal, unless enough time has passed or these are other credentials. */
async function requireEnd(last: RefusedLogin, credentials: Credentials, isAsked: boolean): Promise<void> {
  const pause = isAsked ? ASKED_PAUSE_MS : PAUSES_MS[Math.min(last.times, PAUSES_MS.length) - 1]
  const passed = Date.now() - last.at.getTime()
  // A clock that was set back makes no pause longer.
  if (pause === undefined || passed < 0 || passed >= pause) return
  const isNewTried = isAsked || last.secrets < MOST_SECRETS
  if (isNewTried && (await hashOf(credentials, last.salt)) !== last.hash) return
  const left = inWords(pause - passed)
  const asked = `the same secret is not tried again for ${left}`
  const scheduled = isNewTried
    ? `no schedule tries it again for ${left}, unless the secret changes`
    : `${last.secrets} different secrets were refused, and no schedule tries another one for ${left}`
  const what = isAsked ? asked : `${scheduled}; dirsyncd sync does so at once`
  throw new DirsyncdError('source-refused', `${last.message}; because refused logins lock accounts, ${what}`)
}

function inWords(ms: number): string {
  const [count, unit] =
    ms < MINUTE_MS / 4 ? [Math.ceil(ms / 1000), 'second'] : [Math.ceil(ms / MINUTE_MS), 'minute']
  return `${count} more ${unit}${count === 1 ? '' : 's'}`
}

async function refusalOf(
  { message }: LoginRefused,
  reader: string,
  credentials: Credentials,
  last: RefusedLogin | undefined,
): Promise<RefusedLogin> {
  const isSame = last !== undefined && (await hashOf(credentials, last.salt)) === last.hash
  // A secret that is written in steps is no reason for the longest pause.
  const isRepeated = last === undefined || isSame || last.secrets >= MOST_SECRETS
  const salt = isSame ? last.salt : randomBytes(16).toString('hex')
  return {
    reader,
    message,
    salt,
    hash: await hashOf(credentials, salt),
    times: (last?.times ?? 0) + (isRepeated ? 1 : 0),
    secrets: (last?.secrets ?? 0) + (isSame ? 0 : 1),
    at: new Date(),
  }
}

/** Slow by intention: readers of the store must not find the secret by trying. */
async function hashOf({ password, client }: Credentials, salt: string): Promise<string> {
  const secret = JSON.stringify([password, client.cert, client.key])
  const hash = (await promisify(scrypt)(secret, salt, 32)) as Buffer
  return hash.toString('hex')
}

function nothing(): void {}
