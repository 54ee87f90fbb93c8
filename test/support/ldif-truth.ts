import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { dnKey, type Entry, parseLdif, type Truth, valuesOf } from './truth.ts'

export type { Truth }

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

/** The users (inetOrgPerson) and groups (groupOfNames) of an LDIF. */
function truthOf(ldif: string): Truth {
  const entries = parseLdif(ldif)
  const ofClass = (objectClass: string) =>
    entries.filter((entry) => valuesOf(entry, 'objectClass').includes(objectClass))
  const people = ofClass('inetOrgPerson')
  const idOfDn = new Map(people.map((entry) => [dnKey(first(entry, 'dn') ?? ''), idOf(entry)]))
  const users = people.map((entry) => [idOf(entry), userOf(entry)] as const)
  const groups = ofClass('groupOfNames').map((entry) => [idOf(entry), groupOf(entry, idOfDn)] as const)
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

function userOf(entry: Entry): { name: string | null; email: string | null } {
  const [given, surname] = [first(entry, 'givenName'), first(entry, 'sn')]
  const name = given === undefined || surname === undefined ? null : `${given} ${surname}`
  return { name, email: first(entry, 'mail') ?? null }
}

function groupOf(entry: Entry, idOfDn: ReadonlyMap<string, string>): { name: string; members: string[] } {
  const ids = valuesOf(entry, 'member').map((dn) => idOfDn.get(dnKey(dn)))
  const members = ids.filter((id) => id !== undefined)
  return { name: first(entry, 'cn') ?? '', members: [...new Set(members)].toSorted() }
}

function first(entry: Entry, attribute: string): string | undefined {
  return valuesOf(entry, attribute)[0]
}

function idOf(entry: Entry): string {
  return first(entry, 'entryUUID') ?? ''
}
