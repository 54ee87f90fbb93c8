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
