import type { GroupMap, UserMap } from '../mapping.ts'

export interface CommandSourceOptions {
  /** The program and its arguments; run without a shell. */
  readonly command: readonly string[]
  /** In which folder it runs. */
  readonly folder: string
  /** How long it may take from start to end, in milliseconds. */
  readonly timeoutMs: number
  /**
   * Everything that the program finds in its environment. A function, because values may be secrets: a configuration
   * that is printed shows none. Throws `secret-unavailable` where a variable is not set.
   */
  readonly environment: () => Readonly<Record<string, string>>
  /** The variables of the environment whose values no sentence may show. */
  readonly secretNames: readonly string[]
  /** The most that it may print, in bytes. */
  readonly maxOutput: number
  /** The most users and groups together that it may print. */
  readonly maxEntries: number
  readonly users: { readonly map: UserMap }
  readonly groups?: { readonly map: GroupMap }
}
