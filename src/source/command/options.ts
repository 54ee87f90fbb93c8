import type { GroupMap, UserMap } from '../mapping.ts'

export interface CommandSourceOptions {
  /** Of several values of an attribute, one in these domains goes first. */
  readonly allowedDomains?: readonly string[]
  /** The program and its arguments; run without a shell. */
  readonly command: readonly string[]
  readonly folder: string
  /** In milliseconds. */
  readonly timeoutMs: number
  /**
   * The whole environment of the program. A function, so that a printed configuration shows no secrets. Throws
   * `secret-unavailable` for an unset variable, and `config-invalid` where the program must not run.
   */
  readonly environment: () => Readonly<Record<string, string>>
  /** Variables whose values no message may show. */
  readonly secretNames: readonly string[]
  /** In bytes. */
  readonly maxOutput: number
  /** Users and groups together. */
  readonly maxEntries: number
  readonly users: { readonly map: UserMap }
  readonly groups?: { readonly map: GroupMap }
}
