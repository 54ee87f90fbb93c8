import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import type { Env } from '../../base/secrets/secret.ts'

/** What {@link whoAmI} asks the system. */
export interface Account {
  readonly uid: number | undefined
  /** The name of the account of this process. Throws where it has none, as in a container. */
  readonly name: () => string
  /** The account that logged in, which neither `sudo` nor `su` changes; undefined outside of a login. */
  readonly loginUid: () => number | undefined
  /** Throws where the account is unknown. */
  readonly nameOf: (uid: number) => string
}

/**
 * The name that is recorded with an operator's decision: the account of the login, also behind `sudo` and `su`. `SUDO_USER` counts for root only: everybody can set it.
 */
export function whoAmI(env: Env, account: Account = THIS_ACCOUNT): string {
  const sudoer = env['SUDO_USER']
  if (account.uid === 0 && sudoer) return sudoer
  const login = account.loginUid()
  const isOther = login !== undefined && login !== account.uid
  try {
    return isOther ? account.nameOf(login) : account.name()
  } catch {
    return `uid ${(isOther ? login : account.uid) ?? 'unknown'}`
  }
}

const THIS_ACCOUNT: Account = {
  uid: process.getuid?.(),
  name: () => userInfo().username,
  loginUid,
  nameOf: (uid) => execFileSync('id', ['-nu', String(uid)], { encoding: 'utf8', stdio: 'pipe' }).trim(),
}

/** What the kernel shows of a process outside of a login: -1 as an unsigned number. */
const NO_LOGIN = 4_294_967_295

function loginUid(): number | undefined {
  try {
    const uid = Number.parseInt(readFileSync('/proc/self/loginuid', 'utf8'), 10)
    return Number.isNaN(uid) || uid === NO_LOGIN ? undefined : uid
  } catch {
    return undefined
  }
}
