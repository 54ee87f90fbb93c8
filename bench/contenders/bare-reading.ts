import { Client } from 'ldapts'
import { Pool } from 'undici'
import { type Item, readList } from '../read-list.ts'
import { serveContender } from '../contender.ts'
import type { DirectoryApi } from '../directory-api.ts'

export interface BareReadingTask extends DirectoryApi {
  readonly ldap: {
    readonly url: string
    readonly dn: string
    readonly password: string
    readonly base: string
  }
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
      await Promise.all([readDirectory(http, task), readLdap(task)])
    },
    close: () => http.close(),
  }
})

async function readDirectory(http: Pool, task: BareReadingTask): Promise<Map<string, Item>[]> {
  const read = (list: string) => readList(http, task.headers, list, task.concurrency)
  return [await read(task.usersPath), await read(task.groupsPath)]
}

async function readLdap({ ldap }: BareReadingTask): Promise<Map<string, object>[]> {
  const client = new Client({ url: ldap.url })
  await client.bind(ldap.dn, ldap.password)
  const read = async (base: string, filter: string, attributes: string[]) => {
    const entries = new Map<string, object>()
    const pages = client.searchPaginated(base, {
      filter,
      attributes,
      scope: 'sub',
      paged: { pageSize: 1000 },
    })
    for await (const { searchEntries } of pages) {
      for (const entry of searchEntries) entries.set(String(entry['entryUUID']), entry)
    }
    return entries
  }
  const person = ['entryUUID', 'mail', 'givenName', 'sn', 'employeeNumber']
  const users = await read(`ou=people,${ldap.base}`, '(objectClass=inetOrgPerson)', person)
  const groups = await read(`ou=groups,${ldap.base}`, '(objectClass=groupOfNames)', [
    'entryUUID',
    'cn',
    'member',
  ])
  await client.unbind()
  return [users, groups]
}
