/**
 * Windows logon errors (winerror.h, in hexadecimal) with remedies. 52e is not among them, because Samba gives it for a
 * wrong password as well as for an account that does not exist.
 */
const PROBLEMS = new Map([
  ['525', 'there is no account of this name; correct bind.dn'],
  ['530', 'the account may not log on at this time; let its administrator change its logon hours'],
  [
    '531',
    'the account may not log on from this machine; let its administrator change its list of workstations',
  ],
  ['532', 'the password has expired; set a new one'],
  ['533', 'the account is disabled; have it enabled, or use another one'],
  ['701', 'the account has expired; have its end moved, or use another one'],
  ['773', 'the password must be changed before the account can be used; set a new one'],
  ['775', 'the account is locked after too many wrong passwords; have it unlocked'],
])

/** From the code behind "data" in Active Directory's result 49. `undefined` for other servers and reasons. */
export function logonProblem(diagnostic: string): string | undefined {
  const code = /AcceptSecurityContext error, data ([0-9a-f]+)/i.exec(diagnostic)?.[1]
  return code && PROBLEMS.get(code.toLowerCase())
}
