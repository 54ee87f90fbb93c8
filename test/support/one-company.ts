import { ldif } from './people.ts'
import type { Site } from './site.ts'
import { BASE, type Slapd } from './slapd.ts'

/** A user of a small company that each kind of source can have. */
export interface Somebody {
  readonly id: string
  readonly name?: string
  readonly mail?: string
  /** In LDAP: `here` is within base and filter (the default), `left` is outside of the filter, `unit` is in a unit. */
  readonly place?: 'here' | 'left' | 'elsewhere' | 'unit' | 'locked'
}

export interface Team {
  readonly id: string
  readonly name: string
  readonly members: readonly string[]
}

export interface Company {
  readonly users: readonly Somebody[]
  readonly groups?: readonly Team[]
}

/** A source of one kind with a company of its own. */
export interface CompanySource {
  readonly kind: 'ldap' | 'csv'
  /** The `source` section of its sync. */
  readonly section: object
  /** Makes the source have exactly this company. */
  write(company: Company): Promise<void>
}

const MAP = {
  users: { external_id: 'id', email: 'mail', name: 'name' },
  groups: { external_id: 'id', name: 'name' },
}

/** Two CSV files and one of members; `name` keeps companies of one site apart. */
export function csvCompany(site: Site, name: string): CompanySource {
  const file = (what: string) => `${name}-${what}.csv`
  return {
    kind: 'csv',
    section: {
      type: 'csv',
      users: { path: `./${file('users')}`, map: MAP.users },
      groups: { path: `./${file('groups')}`, map: MAP.groups },
      members: { path: `./${file('members')}`, map: { group: 'group', user: 'user' } },
    },
    async write({ users, groups = [] }) {
      const rows = users.map(({ id, mail = '', name: called = '' }) => [id, mail, called])
      await site.write(file('users'), csv([['id', 'mail', 'name'], ...rows]))
      await site.write(
        file('groups'),
        csv([['id', 'name'], ...groups.map((group) => [group.id, group.name])]),
      )
      const members = groups.flatMap((group) => group.members.map((user) => [group.id, user]))
      await site.write(file('members'), csv([['group', 'user'], ...members]))
    },
  }
}

function csv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join()}\n`).join('')
}

/** A subtree of its own; the id is the uid, the name the displayName. */
export async function ldapCompany(slapd: Slapd, site: Site, name: string): Promise<CompanySource> {
  const top = `ou=${name},${BASE}`
  const units = [top, `ou=in,${top}`, `ou=unit,ou=in,${top}`, `ou=out,${top}`, `ou=groups,${top}`]
  await slapd.modify(units.map(unitAt).join(''))
  await site.write('ldap-password', slapd.readers.reader.password)
  let written: readonly string[] = []
  return {
    kind: 'ldap',
    section: {
      type: 'ldap',
      url: slapd.url,
      bind: { dn: slapd.readers.reader.dn, password: { file: './ldap-password' } },
      users: {
        base: `ou=in,${top}`,
        filter: '(&(objectClass=inetOrgPerson)(!(employeeType=left)))',
        disabled: 'delete',
        disabledWhen: '(employeeType=locked)',
        map: { external_id: 'uid', email: 'mail', name: 'displayName' },
      },
      groups: {
        base: `ou=groups,${top}`,
        filter: '(objectClass=groupOfNames)',
        map: { external_id: 'cn', name: 'description', members: 'member' },
      },
    },
    async write({ users, groups = [] }) {
      const people = users.map(
        (user, index) => [personDn(user, index, top), attributesOf(user, index)] as const,
      )
      const dnOf = new Map(users.map((user, index) => [user.id, people[index]![0]]))
      const teams = groups.map(
        (group) => [`cn=${group.id},ou=groups,${top}`, teamAttributes(group, dnOf)] as const,
      )
      const all = [...people, ...teams]
      await slapd.modify(
        [
          ...written.map((dn) => ldif(dn, { changetype: ['delete'] })),
          ...all.map(([dn, attributes]) => ldif(dn, { changetype: ['add'], ...attributes })),
        ].join(''),
      )
      written = all.map(([dn]) => dn)
    },
  }
}

function unitAt(dn: string): string {
  const ou = dn.slice(3, dn.indexOf(','))
  return ldif(dn, { changetype: ['add'], objectClass: ['organizationalUnit'], ou: [ou] })
}

function personDn({ place = 'here' }: Somebody, index: number, top: string): string {
  const units = { here: 'ou=in', left: 'ou=in', locked: 'ou=in', elsewhere: 'ou=out', unit: 'ou=unit,ou=in' }
  return `employeeNumber=${index},${units[place]},${top}`
}

function attributesOf({ id, name, mail, place }: Somebody, index: number) {
  const [given = '', ...rest] = (name ?? id).split(' ')
  return {
    objectClass: ['inetOrgPerson'],
    employeeNumber: [String(index)],
    ...(id !== '' && { uid: [id] }),
    cn: [`number ${index}`],
    givenName: [given],
    sn: [rest.join(' ') || given],
    ...(name !== undefined && { displayName: [name] }),
    ...(mail !== undefined && { mail: [mail] }),
    ...((place === 'left' || place === 'locked') && { employeeType: [place] }),
  }
}

function teamAttributes({ id, name, members }: Team, dnOf: ReadonlyMap<string, string>) {
  const member = members.map((each) => dnOf.get(each) ?? `uid=${each},${BASE}`)
  return { objectClass: ['groupOfNames'], cn: [id], description: [name], member }
}
