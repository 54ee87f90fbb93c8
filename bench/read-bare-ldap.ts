import { Client } from 'ldapts'

export interface LdapServer {
  readonly url: string
  readonly dn: string
  readonly password: string
  readonly base: string
}

type ById = ReadonlyMap<string, object>

/** Reads the people of the test slapd, and the groups where they are wanted, with ldapts. */
export async function readBareLdap(
  { url, dn, password, base }: LdapServer,
  wanted: { readonly groups: boolean },
): Promise<readonly [users: ById, groups: ById]> {
  const client = new Client({ url })
  await client.bind(dn, password)
  const read = async (place: string, filter: string, attributes: string[]) => {
    const entries = new Map<string, object>()
    const pages = client.searchPaginated(place, {
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
  const users = await read(`ou=people,${base}`, '(objectClass=inetOrgPerson)', person)
  const group = ['entryUUID', 'cn', 'member']
  const groups = wanted.groups
    ? await read(`ou=groups,${base}`, '(objectClass=groupOfNames)', group)
    : new Map<string, object>()
  await client.unbind()
  return [users, groups]
}
