import { orAbort } from './wait.ts'

/** Gives the access token; `reload` asks for a fresh read after the service refused the one that it gave before. */
export type TokenLoader = (reload: boolean) => Promise<string>

export interface Tokens {
  current(signal: AbortSignal | undefined): Promise<string>
  /** The token to use in place of a refused one; the refused one itself when no other is to be had. */
  renewed(refused: string, signal: AbortSignal | undefined): Promise<string>
}

/** Many requests that are refused at once cause one reload. */
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

/** Only visible ASCII may stand in the header; anything else is a wrong file or variable, not a token. */
export function isSendableToken(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token)
}
