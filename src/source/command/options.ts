import type { GroupMap, UserMap } from '../mapping.ts'

export interface CommandSourceOptions {
  /** Where the directory allows e-mails: of several values of an attribute, one in these domains goes first. */
  readonly allowedDomains?: readonly string[]
  /** The program and its arguments; run without a shell. */
  readonly command: readonly string[]
  /** The folder in which it runs. */
  readonly folder: string
  /** How long it may run, in milliseconds. */
  readonly timeoutMs: number
  /**
   * The whole environment of the program. A function, so that a configuration that is printed shows no secrets. Throws
   * `secret-unavailable` where a variable is not set, and `config-invalid` where the program must not be run.
   */
  readonly environment: () => Readonly<Record<string, string>>
  /** The variables of the environment whose values no message may show. */
  readonly secretNames: readonly string[]
  /** The most that it may print, in bytes. */
  readonly maxOutput: number
  /** The most users and groups together that it may print. */
  readonly maxEntries: number
  readonly users: { readonly map: UserMap }
  readonly groups?: { readonly map: GroupMap }
}
