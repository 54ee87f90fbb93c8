import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type LdapProxy, startLdapProxy } from '../support/ldap-proxy.ts'
import { ldif } from '../support/people.ts'
import { BASE, type Slapd } from '../support/slapd.ts'
import type { Company, Person, Team } from './company-history.ts'

/** Where dirsyncd reads the company. */
export interface CompanySource {
  /** The `source` section of the configuration. */
  readonly section: object
  /** Makes the source say this. */
  write(company: Company): Promise<void>
}

/** Three files; each is replaced at once. */
export async function openCsvSource(dir: string): Promise<CompanySource> {
  const file = (name: string) => join(dir, name)
  const put = async (name: string, rows: readonly (readonly string[])[]) => {
    const text = rows.map((row) => `${row.map(cell).join(',')}\n`).join('')
    await writeFile(file(`${name}.new`), text)
    await rename(file(`${name}.new`), file(name))
  }
  return {
    section: {
      type: 'csv',
      users: { path: file('users.csv'), map: { external_id: 'id', email: 'mail', name: 'name' } },
      groups: { path: file('groups.csv'), map: { external_id: 'id', name: 'name' } },
      members: { path: file('members.csv'), map: { group: 'group', user: 'user' } },
    },
    write: async ({ users, groups }) => {
      const people = [...users].map(([id, { email = '', name }]) => [id, email, name])
      const members = [...groups].flatMap(([id, team]) => [...team.members].map((user) => [id, user]))
      await put('users.csv', [['id', 'mail', 'name'], ...people])
      await put('members.csv', [['group', 'user'], ...members])
      await put('groups.csv', [['id', 'name'], ...[...groups].map(([id, { name }]) => [id, name])])
    },
  }
}

function cell(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A unit of its own on the server, behind a proxy. */
export async function openLdapSource(
  stack: AsyncDisposableStack,
  slapd: Slapd,
  options: { readonly dir: string; readonly unit: string; readonly pageSize: number },
): Promise<CompanySource & { readonly proxy: LdapProxy }> {
  const proxy = stack.use(await startLdapProxy(slapd.port))
  const base = `${options.unit},${BASE}`
  const password = join(options.dir, 'ldap-password')
  await mkdir(options.dir, { recursive: true })
  await writeFile(password, slapd.readers.reader.password)
  const units = [base, `ou=people,${base}`, `ou=groups,${base}`]
  await slapd.modify(units.map((dn) => ldif(dn, { changetype: ['add'], ...unitOf(dn) })).join(''))
  let before: Company = { users: new Map(), groups: new Map() }
  return {
    proxy,
    section: {
      type: 'ldap',
      url: proxy.url,
      bind: { dn: slapd.readers.reader.dn, password: { file: password }, allowPlainText: true },
      pageSize: options.pageSize,
      timeouts: { connect: '2s', bind: '2s', firstAnswer: '2s', answer: '1s' },
      users: {
        base: `ou=people,${base}`,
        filter: '(objectClass=inetOrgPerson)',
        map: { external_id: 'employeeNumber', email: 'mail', name: 'displayName' },
      },
      groups: {
        base: `ou=groups,${base}`,
        filter: '(objectClass=groupOfNames)',
        map: { external_id: 'uid', name: 'description', members: 'member' },
      },
    },
    write: async (company) => {
      const changes = ldapChanges(base, before, company)
      before = company
      if (changes !== '') await slapd.modify(changes)
    },
  }
}

function unitOf(dn: string) {
  return { objectClass: ['organizationalUnit'], ou: [/^ou=([^,]+)/.exec(dn)![1]!] }
}

/** Newcomers first and leavers last, so that no group names somebody who is not there. */
function ldapChanges(base: string, before: Company, after: Company): string {
  const personDn = ({ number }: Person) => `uid=n${number},ou=people,${base}`
  const teamDn = ({ number }: Team) => `cn=t${number},ou=groups,${base}`
  const memberDns = ({ members }: Team, { users }: Company) =>
    [...members].map((id) => personDn(users.get(id)!))
  const changes: string[] = []
  const replace = (dn: string, name: string, values: readonly string[]) =>
    changes.push(ldif(dn, { changetype: ['modify'], replace: [name], [name]: values }))
  for (const [id, person] of after.users) {
    const old = before.users.get(id)
    if (old === undefined)
      changes.push(ldif(personDn(person), { changetype: ['add'], ...attributesOf(id, person) }))
    if (old === undefined) continue
    if (old.name !== person.name) replace(personDn(person), 'displayName', [person.name])
    if (old.email !== person.email) replace(personDn(person), 'mail', [person.email!])
  }
  for (const [id, team] of after.groups) {
    const old = before.groups.get(id)
    const member = memberDns(team, after)
    if (old === undefined) {
      const attributes = { objectClass: ['groupOfNames', 'uidObject'], cn: [`t${team.number}`], uid: [id] }
      changes.push(
        ldif(teamDn(team), { changetype: ['add'], ...attributes, description: [team.name], member }),
      )
      continue
    }
    if (old.name !== team.name) replace(teamDn(team), 'description', [team.name])
    if (memberDns(old, before).toSorted().join() !== member.toSorted().join())
      replace(teamDn(team), 'member', member)
  }
  for (const [id, team] of before.groups) {
    if (!after.groups.has(id)) changes.push(ldif(teamDn(team), { changetype: ['delete'] }))
  }
  for (const [id, person] of before.users) {
    if (!after.users.has(id)) changes.push(ldif(personDn(person), { changetype: ['delete'] }))
  }
  return changes.join('')
}

function attributesOf(id: string, { number, name, email }: Person) {
  return {
    objectClass: ['inetOrgPerson'],
    uid: [`n${number}`],
    cn: [`n${number}`],
    sn: [`n${number}`],
    displayName: [name],
    employeeNumber: [id],
    ...(email !== undefined && { mail: [email] }),
  }
}
