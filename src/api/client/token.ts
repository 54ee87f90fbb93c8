import { orAbort } from './wait.ts'

/**
 * Returns the access token. The client keeps no token, so the function should keep it until it changes.
 *
 * - It is called with `false` before every request, also before a retry; concurrent calls each call it.
 * - After a 401 it is called with `false` again. If it returns the refused token, it is called with `true`: load the
 *   token again. Calls that are refused meanwhile wait for the same `true` call. A token that differs from the refused
 *   one is sent, once; after a second 401, or with the same token, the call rejects with kind `unauthorized`.
 * - If it rejects, the calls that wait for it reject with its error and are not retried. There is no time-out, but a
 *   call stops waiting when its signal is aborted or the client is closed.
 */
export type TokenLoader = (reload: boolean) => Promise<string>

export interface Tokens {
  current(signal: AbortSignal | undefined): Promise<string>
  /** The token to use instead of a refused one; the refused one itself if there is no other. */
  renewed(refused: string, signal: AbortSignal | undefined): Promise<string>
}

/** Requests that are refused at the same time share one reload. */
export function createTokens(token: string | TokenLoader): Tokens {
  const load: TokenLoader = typeof token === 'string' ? async () => token : token
  let reloading: Promise<string> | undefined

  async function reload(): Promise<string> {
    reloading ??= load(true).finally(() => {
      reloading = undefined
    })
    return reloading
  }

  async function renew(refused: string): Promise<string> {
    const known = await load(false)
    return known === refused ? reload() : known
  }

  return {
    current: (signal) => orAbort(load(false), signal),
    renewed: (refused, signal) => orAbort(renew(refused), signal),
  }
}

/** A header holds only visible ASCII; any other text comes from a wrong file or variable. */
export function isSendableToken(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token)
}
