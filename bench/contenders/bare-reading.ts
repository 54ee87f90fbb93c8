import { Pool } from 'undici'
import { type Item, readList } from '../read-list.ts'
import { serveContender } from '../contender.ts'
import type { DirectoryApi } from '../directory-api.ts'
import { type LdapServer, readBareLdap } from '../read-bare-ldap.ts'

export interface BareReadingTask extends DirectoryApi {
  readonly ldap: LdapServer
  /** Pages read at once. */
  readonly concurrency: number
}

/**
 * The minimum for comparing both sides: reads the pages of the directory with undici and the same entries with ldapts,
 * both at once, and stores them by id.
 */
serveContender(async (task: BareReadingTask) => {
  const http = new Pool(task.baseUrl, { connections: task.concurrency })
  return {
    async run() {
      await Promise.all([readDirectory(http, task), readBareLdap(task.ldap, { groups: true })])
    },
    close: () => http.close(),
  }
})

async function readDirectory(http: Pool, task: BareReadingTask): Promise<Map<string, Item>[]> {
  const read = (list: string) => readList(http, task.headers, list, task.concurrency)
  return [await read(task.usersPath), await read(task.groupsPath)]
}
