/** A login at a source that was refused. The secret itself cannot be found from it. */
export interface RefusedLogin {
  /** Whose it was, and at which server. */
  readonly reader: string
  /** What the server said, as a sentence. */
  readonly message: string
  readonly salt: string
  /** Of the secret, made with the salt. */
  readonly hash: string
  /** How many there were in a row. */
  readonly times: number
  /** How many secrets were refused in a row. */
  readonly secrets: number
  readonly at: Date
}

/** Remembers the last refused login of each reader, for all syncs and for processes that start anew. */
export interface RefusedLogins {
  find(readers: readonly string[]): Promise<readonly RefusedLogin[]>
  /** Instead of what was remembered of the reader. */
  keep(refused: RefusedLogin): Promise<void>
  forget(readers: readonly string[]): Promise<void>
}
