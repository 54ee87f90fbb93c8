import { execFileSync } from 'node:child_process'
import { userInfo } from 'node:os'

/** Without ids it is the user that runs the test. */
export interface User {
  readonly name: string
  readonly uid?: number
  readonly gid?: number
}

/** Whom a server runs as: the first of these users that there is, where root runs the test. */
export function unprivileged(...names: readonly string[]): User {
  if (process.getuid?.() !== 0) return { name: userInfo().username }
  for (const name of names) {
    try {
      const id = (flag: string) =>
        Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }))
      return { name, uid: id('-u'), gid: id('-g') }
    } catch {
      // Try the next one.
    }
  }
  throw new Error(`There is no user to run a server as: add the user "${names[0]}".`)
}
