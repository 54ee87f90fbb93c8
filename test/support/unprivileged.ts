import { execFileSync } from 'node:child_process'
import { userInfo } from 'node:os'

/** A user of this machine; without `uid` and `gid`, the user who runs the test. */
export interface User {
  readonly name: string
  readonly uid?: number
  readonly gid?: number
}

/** The user to run a server as: the first existing user of `names` when root runs the test, else the current user. */
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
  throw new Error(`No unprivileged user to run a server as: add the user "${names[0]}".`)
}
