import { Client } from 'ldapts'
import { Pool } from 'undici'
import { serveContender } from '../contender.ts'
import type { DirectoryApi } from '../services.ts'

/** The people, and the groups unless there are none, of the test slapd. */
export interface LdapTask {
  readonly url: string
  readonly dn: string
  readonly password: string
  readonly base: string
  readonly people: number
  readonly groups: number
}

export interface BareReadingTask {
  readonly directory?: DirectoryApi
  readonly ldap?: LdapTask
  /** Pages of the directory that are read at once. */
  readonly concurrency: number
}

type ById = ReadonlyMap<string, object>

/**
 * The minimum for reading a directory, the entries of an LDAP server, or both at once to compare them: undici and
 * ldapts read, and the entries are stored by id.
 */
serveContender(async ({ directory, ldap, concurrency }: BareReadingTask) => {
  const http = new Pool(directory?.baseUrl ?? 'http://127.0.0.1', { connections: concurrency })
  return {
    async run() {
      await Promise.all([
        directory !== undefined && readDirectory(http, directory, concurrency),
        ldap !== undefined && readLdap(ldap),
      ])
    },
    close: () => http.close(),
  }
})

async function readDirectory(http: Pool, api: DirectoryApi, concurrency: number): Promise<readonly ById[]> {
  const read = (list: string) => readList(http, list, api.headers, concurrency)
  return [await read(api.usersPath), await read(api.groupsPath)]
}

async function readList(
  http: Pool,
  list: string,
  headers: DirectoryApi['headers'],
  concurrency: number,
): Promise<ById> {
  const items = new Map<string, object>()
  const read = async (page: number): Promise<number> => {
    const path = `${list}?page=${page}&per_page=100`
    const answer = await http.request({ path, method: 'GET', headers })
    for (const item of (await answer.body.json()) as { readonly external_id: string }[])
      items.set(item.external_id, item)
    return Number(answer.headers['total'])
  }
  const pages = Math.ceil((await read(1)) / 100)
  let next = 2
  const reader = async () => {
    while (next <= pages) await read(next++)
  }
  await Promise.all(Array.from({ length: concurrency }, reader))
  return items
}

async function readLdap({ url, dn, password, base, people, groups }: LdapTask): Promise<readonly ById[]> {
  const client = new Client({ url })
  await client.bind(dn, password)
  const read = async (place: string, filter: string, attributes: string[]) => {
    const entries = new Map<string, object>()
    const paged = { pageSize: 1000 }
    for await (const { searchEntries } of client.searchPaginated(`${place},${base}`, {
      filter,
      attributes,
      scope: 'sub',
      paged,
    })) {
      for (const entry of searchEntries) entries.set(String(entry['entryUUID']), entry)
    }
    return entries
  }
  const person = ['entryUUID', 'mail', 'givenName', 'sn', 'employeeNumber']
  const users = await read('ou=people', '(objectClass=inetOrgPerson)', person)
  const group = ['entryUUID', 'cn', 'member']
  const teams = groups > 0 ? await read('ou=groups', '(objectClass=groupOfNames)', group) : new Map()
  await client.unbind()
  if (users.size !== people || teams.size !== groups)
    throw new Error(`${users.size} users and ${teams.size} groups were read`)
  return [users, teams]
}
