import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/**
 * The expected content of a directory, computed from the LDIF that ldapsearch prints. To check the product
 * independently, this file uses nothing from `src/`.
 */
export interface Truth {
  /** entryUUID → the name and the e-mail of a person. */
  readonly users: ReadonlyMap<string, { readonly name: string | null; readonly email: string | null }>
  /** entryUUID → the name of a group and the sorted ids of its members. */
  readonly groups: ReadonlyMap<string, { readonly name: string; readonly members: readonly string[] }>
}

/** A server and a bind user who can read all of it. */
interface LdifServer {
  readonly url: string
  readonly base: string
  readonly admin: { readonly dn: string; readonly password: string }
}

/** Computes the expected content from all current entries of the server, or from those that match the filter. */
export async function readTruth(
  { url, base, admin }: LdifServer,
  filter = '(objectClass=*)',
): Promise<Truth> {
  const login = ['-x', '-H', url, '-D', admin.dn, '-w', admin.password]
  const search = ['-LLL', '-o', 'ldif-wrap=no', '-b', base, filter, '*', 'entryUUID']
  const { stdout } = await promisify(execFile)('ldapsearch', [...login, ...search], { maxBuffer: 2 ** 28 })
  return truthOf(stdout)
}

/** The people (inetOrgPerson) and groups (groupOfNames) of an LDIF without folded lines. */
function truthOf(ldif: string): Truth {
  const entries = ldif
    .split(/\n\n+/)
    .map(parseEntry)
    .filter((entry) => entry.has('dn'))
  const people = entries.filter((entry) => has(entry, 'inetOrgPerson'))
  const idOfDn = new Map(people.map((entry) => [plainDn(first(entry, 'dn') ?? ''), idOf(entry)]))
  const users = people.map((entry) => [idOf(entry), userOf(entry)] as const)
  const groups = entries
    .filter((entry) => has(entry, 'groupOfNames'))
    .map((entry) => [idOf(entry), groupOf(entry, idOfDn)] as const)
  return { users: new Map(users), groups: new Map(groups) }
}

/**
 * The changes from one content to another: sorted lines such as `update-user <id>`. Deleting a user also removes it
 * from the groups, so it needs no `set-members`.
 */
export function changesBetween(before: Truth, after: Truth): string[] {
  const changes: string[] = []
  for (const [id, user] of after.users) {
    const old = before.users.get(id)
    if (old === undefined) changes.push(`create-user ${id}`)
    else if (old.name !== user.name || old.email !== user.email) changes.push(`update-user ${id}`)
  }
  for (const [id, group] of after.groups) {
    const old = before.groups.get(id)
    if (old === undefined) changes.push(`create-group ${id}`)
    else if (old.name !== group.name) changes.push(`update-group ${id}`)
    const remaining = old?.members.filter((member) => after.users.has(member)) ?? []
    if (remaining.join() !== group.members.join()) changes.push(`set-members ${id}`)
  }
  for (const id of before.users.keys()) if (!after.users.has(id)) changes.push(`delete-user ${id}`)
  for (const id of before.groups.keys()) if (!after.groups.has(id)) changes.push(`delete-group ${id}`)
  return changes.toSorted()
}

/** Lower-cased attribute → its values; the DN is the attribute `dn`. */
type Entry = ReadonlyMap<string, readonly string[]>

function parseEntry(text: string): Entry {
  const entry = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const parts = /^([^#:\s][^:]*):(:?) ?(.*)$/.exec(line)
    if (parts === null) continue
    const [, name = '', coded, raw = ''] = parts
    const value = coded === ':' ? Buffer.from(raw, 'base64').toString('utf8') : raw
    const values = entry.get(name.toLowerCase())
    if (values === undefined) entry.set(name.toLowerCase(), [value])
    else values.push(value)
  }
  return entry
}

function userOf(entry: Entry): { name: string | null; email: string | null } {
  const [given, surname] = [first(entry, 'givenName'), first(entry, 'sn')]
  const name = given === undefined || surname === undefined ? null : `${given} ${surname}`
  return { name, email: first(entry, 'mail') ?? null }
}

function groupOf(entry: Entry, idOfDn: ReadonlyMap<string, string>): { name: string; members: string[] } {
  const ids = (entry.get('member') ?? []).map((dn) => idOfDn.get(plainDn(dn)))
  const members = ids.filter((id) => id !== undefined)
  return { name: first(entry, 'cn') ?? '', members: [...new Set(members)].toSorted() }
}

/** A DN for comparison: unescaped, lower case, the parts of each RDN sorted. */
function plainDn(dn: string): string {
  const rdns = dn.split(/(?<!\\),/).map((rdn) =>
    rdn
      .split(/(?<!\\)\+/)
      .map(unescaped)
      .toSorted(),
  )
  return JSON.stringify(rdns)
}

function unescaped(part: string): string {
  const bytes = part.replace(/(?:\\[0-9a-f]{2})+/gi, (codes) =>
    Buffer.from(codes.replaceAll('\\', ''), 'hex').toString('utf8'),
  )
  return bytes.replace(/\\(.)/g, '$1').toLowerCase()
}

function has(entry: Entry, objectClass: string): boolean {
  return entry.get('objectclass')?.includes(objectClass) ?? false
}

function first(entry: Entry, attribute: string): string | undefined {
  return entry.get(attribute.toLowerCase())?.[0]
}

function idOf(entry: Entry): string {
  return first(entry, 'entryUUID') ?? ''
}
