import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { type Kysely, sql } from 'kysely'
import { sentence } from '../errors.ts'
import type { Log } from '../log.ts'
import { tokenSalt } from './settings.ts'
import type { Tables } from './tables.ts'

export interface TokenWatchDeps {
  readonly db: Kysely<Tables>
  readonly log: Log
}

const WEEK_SECONDS = 7 * 86_400

/** Between two looks at the store, while nothing changes. */
const LOOK_MS = 3_600_000

/**
 * Warns of an access token that expires soon: once a day for each token, whichever process sees it. The store knows the
 * longest remaining life that was ever reported for the token.
 */
export class TokenWatch {
  readonly #deps: TokenWatchDeps
  #token = ''
  #hash: Promise<string> | undefined
  #longest = 0
  #isKnown = false
  #isSoon = false
  /** By `performance.now()`. */
  #nextLook = Number.NEGATIVE_INFINITY
  #looking = Promise.resolve()

  constructor(deps: TokenWatchDeps) {
    this.#deps = deps
  }

  /** Takes note of what the service says of a token, and looks at the store in the background. */
  readonly see = (token: string, secondsLeft: number): void => {
    if (token !== this.#token) this.#begin(token)
    this.#longest = Math.max(this.#longest, secondsLeft)
    const wasSoon = this.#isSoon
    this.#isSoon = isSoon(secondsLeft, this.#longest)
    if (this.#isKnown && !this.#isSoon) return
    if (this.#isSoon === wasSoon && performance.now() < this.#nextLook) return
    this.#nextLook = performance.now() + LOOK_MS
    this.#looking = this.#looking.then(() => this.#look(token, secondsLeft))
  }

  /** Waits for the look that is under way. */
  async settle(): Promise<void> {
    await this.#looking
  }

  #begin(token: string): void {
    this.#token = token
    this.#hash = undefined
    this.#longest = 0
    this.#isKnown = false
    this.#isSoon = false
    this.#nextLook = Number.NEGATIVE_INFINITY
  }

  async #look(token: string, secondsLeft: number): Promise<void> {
    // Another token came meanwhile; a look for it follows.
    if (token !== this.#token) return
    const { db, log } = this.#deps
    try {
      const hash = await (this.#hash ??= hashOf(db, token))
      const longest = await remember(db, { hash, longest: this.#longest, secondsLeft })
      if (token === this.#token) {
        this.#longest = Math.max(this.#longest, longest)
        this.#isKnown = true
      }
      if (!isSoon(secondsLeft, longest) || !(await claimWarning(db, hash))) return
      const expiresAt = new Date(Date.now() + secondsLeft * 1000).toISOString()
      const what = secondsLeft > 0 ? 'expires soon' : 'has expired, as the service says'
      log.warn({ secondsLeft, expiresAt }, `access token ${what}`)
    } catch (error) {
      log.debug({ error: sentence(error) }, 'the life of the access token could not be stored')
    }
  }
}

/** Whoever renews tokens does so after two thirds or four fifths of their life, so a tenth is left only of others. */
function isSoon(secondsLeft: number, longest: number): boolean {
  return secondsLeft <= 0 || secondsLeft < Math.min(WEEK_SECONDS, longest / 10)
}

/** Slow by intention: whoever reads the store must not find the token by trying. */
async function hashOf(db: Kysely<Tables>, token: string): Promise<string> {
  const hash = (await promisify(scrypt)(token, await tokenSalt(db), 32)) as Buffer
  return hash.toString('hex')
}

/** Stores what was reported, forgets tokens that expired, and resolves with the token's longest life in seconds. */
async function remember(
  db: Kysely<Tables>,
  { hash, longest, secondsLeft }: { hash: string; longest: number; secondsLeft: number },
): Promise<number> {
  await db
    .deleteFrom('dirsyncd.token_lives')
    .where('expires_at', '<', sql<Date>`now() - interval '2 days'`)
    .execute()
  const expiresAt = sql<Date>`now() + make_interval(secs => ${secondsLeft})`
  const row = await db
    .insertInto('dirsyncd.token_lives')
    .values({ hash, longest_seconds: longest, expires_at: expiresAt, warned_at: null })
    .onConflict((conflict) =>
      conflict.column('hash').doUpdateSet({
        longest_seconds: sql`greatest(token_lives.longest_seconds, excluded.longest_seconds)`,
        expires_at: sql`excluded.expires_at`,
      }),
    )
    .returning('longest_seconds')
    .executeTakeFirstOrThrow()
  return row.longest_seconds
}

/** Whether nobody has warned of the token for a day; an hour less, because a daily run never begins to the second. */
async function claimWarning(db: Kysely<Tables>, hash: string): Promise<boolean> {
  const claimed = await db
    .updateTable('dirsyncd.token_lives')
    .set({ warned_at: sql`now()` })
    .where('hash', '=', hash)
    .where((where) =>
      where.or([
        where('warned_at', 'is', null),
        where('warned_at', '<', sql<Date>`now() - interval '23 hours'`),
      ]),
    )
    .returning('hash')
    .execute()
  return claimed.length > 0
}
