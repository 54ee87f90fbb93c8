import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import type { Env } from '../../base/secrets/secret.ts'

export interface Account {
  readonly uid: number | undefined
  /** Throws where the process has no account name, as in a container. */
  readonly name: () => string
  /** The login account, which neither `sudo` nor `su` changes; undefined outside of a login. */
  readonly loginUid: () => number | undefined
  /** Throws where the account is unknown. */
  readonly nameOf: (uid: number) => string
}

/**
 * The operator's recorded name: the login account, also behind `sudo` and `su`. `SUDO_USER` counts for root only,
 * because every user can set it.
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

/** The kernel's value outside of a login: -1 as an unsigned number. */
const NO_LOGIN = 4_294_967_295

function loginUid(): number | undefined {
  try {
    const uid = Number.parseInt(readFileSync('/proc/self/loginuid', 'utf8'), 10)
    return Number.isNaN(uid) || uid === NO_LOGIN ? undefined : uid
  } catch {
    return undefined
  }
}
