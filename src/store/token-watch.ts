import { sql } from 'kysely'
import { sentence } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import type { Db } from './tables.ts'

/** An access token, by where it is: nothing that is derived from the token itself is stored. */
export interface TokenPlace {
  /** Scheme, host and port of the service. */
  readonly origin: string
  /** Such as `file /run/secrets/token`. */
  readonly place: string
}

interface TokenWatchDeps extends TokenPlace {
  readonly db: Db
  readonly log: Log
}

const WEEK_SECONDS = 7 * 86_400

/** Between two looks at the store, while nothing changes. */
const LOOK_MS = 3_600_000

/** A token whose end is further from the known one is another one. */
const SAME_SECONDS = 60

/**
 * Warns of an access token that expires soon: once a day for each token, whichever process sees it. The store knows the
 * longest remaining life that was ever reported for the token.
 */
export class TokenWatch {
  readonly #deps: TokenWatchDeps
  /** In milliseconds since 1970. */
  #expiresAt = Number.NaN
  #longest = 0
  #isKnown = false
  #isSoon = false
  /** By `performance.now()`. */
  #nextLook = Number.NEGATIVE_INFINITY
  #looking = Promise.resolve()

  constructor(deps: TokenWatchDeps) {
    this.#deps = deps
  }

  /** Takes note of what the service says of the token, and looks at the store in the background. */
  readonly see = (secondsLeft: number): void => {
    const expiresAt = Date.now() + secondsLeft * 1000
    const isSame = Math.abs(expiresAt - this.#expiresAt) <= SAME_SECONDS * 1000
    if (!isSame) this.#begin(expiresAt)
    this.#longest = Math.max(this.#longest, secondsLeft)
    const wasSoon = this.#isSoon
    this.#isSoon = isSoon(secondsLeft, this.#longest)
    if (this.#isKnown && !this.#isSoon) return
    if (this.#isSoon === wasSoon && performance.now() < this.#nextLook) return
    this.#nextLook = performance.now() + LOOK_MS
    this.#looking = this.#looking.then(() => this.#look(expiresAt, secondsLeft))
  }

  /** Waits for the look that is under way. */
  async settle(): Promise<void> {
    await this.#looking
  }

  #begin(expiresAt: number): void {
    this.#expiresAt = expiresAt
    this.#longest = 0
    this.#isKnown = false
    this.#isSoon = false
    this.#nextLook = Number.NEGATIVE_INFINITY
  }

  async #look(expiresAt: number, secondsLeft: number): Promise<void> {
    // Another token came meanwhile; a look for it follows.
    if (Math.abs(expiresAt - this.#expiresAt) > SAME_SECONDS * 1000) return
    const { log } = this.#deps
    try {
      const longest = await remember(this.#deps, { longest: this.#longest, secondsLeft })
      this.#longest = Math.max(this.#longest, longest)
      this.#isKnown = true
      if (!isSoon(secondsLeft, longest) || !(await claimWarning(this.#deps))) return
      const ends = new Date(expiresAt).toISOString()
      const what = secondsLeft > 0 ? 'expires soon' : 'has expired, as the service says'
      log.warn({ secondsLeft, expiresAt: ends }, `access token ${what}`)
    } catch (error) {
      log.debug({ error: sentence(error) }, 'the life of the access token could not be stored')
    }
  }
}

/** Whoever renews tokens does so after two thirds or four fifths of their life, so a tenth is left only of others. */
export function isSoon(secondsLeft: number, longest: number): boolean {
  return secondsLeft <= 0 || secondsLeft < Math.min(WEEK_SECONDS, longest / 10)
}

/** Stores what was reported, forgets tokens that expired, and resolves with the token's longest life in seconds. */
async function remember(
  { db, origin, place }: TokenWatchDeps,
  { longest, secondsLeft }: { longest: number; secondsLeft: number },
): Promise<number> {
  await sql`DELETE FROM dirsyncd.token_lives WHERE expires_at < now() - interval '2 days'`.execute(db)
  const isSame = sql`abs(extract(epoch FROM excluded.expires_at - t.expires_at)) <= ${SAME_SECONDS}`
  const { rows } = await sql<{ longest: number }>`
    INSERT INTO dirsyncd.token_lives AS t (origin, place, longest_seconds, expires_at)
    VALUES (${origin}, ${place}, ${longest}, now() + make_interval(secs => ${secondsLeft}))
    ON CONFLICT (origin, place) DO UPDATE SET expires_at = excluded.expires_at,
      longest_seconds = CASE WHEN ${isSame}
        THEN greatest(t.longest_seconds, excluded.longest_seconds) ELSE excluded.longest_seconds END,
      warned_at = CASE WHEN ${isSame} THEN t.warned_at END
    RETURNING longest_seconds AS longest`.execute(db)
  return rows[0]!.longest
}

/** Whether nobody has warned of the token for a day; an hour less, because a daily run never begins to the second. */
async function claimWarning({ db, origin, place }: TokenWatchDeps): Promise<boolean> {
  const { rows } = await sql`UPDATE dirsyncd.token_lives SET warned_at = now()
    WHERE origin = ${origin} AND place = ${place}
      AND (warned_at IS NULL OR warned_at < now() - interval '23 hours') RETURNING place`.execute(db)
  return rows.length > 0
}
