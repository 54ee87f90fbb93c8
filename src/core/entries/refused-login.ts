/** A refused bind. The secret cannot be derived from it. */
export interface RefusedLogin {
  /** The bind account and its server. */
  readonly reader: string
  readonly message: string
  readonly salt: string
  /** Of the secret, made with the salt. */
  readonly hash: string
  /** Refused binds in a row. */
  readonly times: number
  /** Refused secrets in a row. */
  readonly secrets: number
  readonly at: Date
}

/** The last refused bind of each account, for all syncs and later processes. */
export interface RefusedLogins {
  find(readers: readonly string[]): Promise<readonly RefusedLogin[]>
  /** Replaces the record of the bind account. */
  keep(refused: RefusedLogin): Promise<void>
  forget(readers: readonly string[]): Promise<void>
}
