import { userInfo } from 'node:os'

/** The user name that is recorded with what a person decides. */
export function whoAmI(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run as a user without a name.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
