import { orAbort } from './wait.ts'

/** Returns the access token. `reload` is true after the service refused the previous one: load it afresh. */
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
