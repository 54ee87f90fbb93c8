import { serveContender } from '../contender.ts'
import { type LdapServer, readBareLdap } from '../read-bare-ldap.ts'

/** ldapts reads the entries, which are stored by id. */
serveContender(async (task: LdapTask) => ({
  async run() {
    const [users, groups] = await readBareLdap(task, { groups: task.groups > 0 })
    if (users.size !== task.people || groups.size !== task.groups)
      throw new Error(`${users.size} users and ${groups.size} groups were read`)
  },
  close: () => Promise.resolve(),
}))

/** What both sides read. */
export interface LdapTask extends LdapServer {
  readonly people: number
  readonly groups: number
}
