import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { readService } from './read-service.ts'
import { changesBetween, readTruth, type Truth } from './ldif-truth.ts'
import { FIXTURE } from './fixture.ts'
import { ldif } from './people.ts'
import type { ProgramResult } from './program.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from './site.ts'
import { BASE, type Slapd } from './slapd.ts'
import { databaseConfig, directorySection } from './sync-config.ts'

/** A role whose occupants may not see what `hiddenUnit` hides. */
const BLIND = `cn=blind,ou=services,${BASE}`
const PEOPLE = `ou=people,${BASE}`

/** Members of the company: each has a uid, and the e-mail address uid@example.org. */
export interface Employee {
  readonly uid: string
  /** Below ou=people; left out: directly there. */
  readonly unit?: string
  readonly surname?: string
  readonly mail?: string
}

/** `count` employees of one unit. */
export function numbered(prefix: string, count: number, unit?: string): readonly Employee[] {
  return Array.from({ length: count }, (_, index) => ({
    uid: `${prefix}${String(index).padStart(4, '0')}`,
    ...(unit !== undefined && { unit }),
  }))
}

export function unitDn(unit?: string): string {
  return unit === undefined ? PEOPLE : `ou=${unit},${PEOPLE}`
}

export function employeeDn({ uid, unit }: Pick<Employee, 'uid' | 'unit'>): string {
  return `uid=${uid},${unitDn(unit)}`
}

/** LDIF records for the initial load. */
export const unitLdif = (unit: string): string => ldif(unitDn(unit), unitAttributes(unit))
export const employeeLdif = (employee: Employee): string =>
  ldif(employeeDn(employee), employeeAttributes(employee))
export function teamLdif(name: string, members: readonly Employee[]): string {
  return ldif(teamDn(name), { objectClass: ['groupOfNames'], cn: [name], member: members.map(employeeDn) })
}
export const blindLdif = (): string => ldif(BLIND, { objectClass: ['organizationalRole'], cn: ['blind'] })

/** LDIF changes for ldapmodify. */
export const openUnit = (unit: string): string =>
  ldif(unitDn(unit), { changetype: ['add'], ...unitAttributes(unit) })
export const closeUnit = (unit: string): string => ldif(unitDn(unit), { changetype: ['delete'] })
export const hire = (employee: Employee): string =>
  ldif(employeeDn(employee), { changetype: ['add'], ...employeeAttributes(employee) })
export const leave = (employee: Employee): string => ldif(employeeDn(employee), { changetype: ['delete'] })
export const marry = (employee: Employee, surname: string): string =>
  ldif(employeeDn(employee), { changetype: ['modify'], replace: ['sn'], sn: [surname] })
export const moveTo = (employee: Employee, unit: string): string =>
  ldif(employeeDn(employee), {
    changetype: ['modrdn'],
    newrdn: [`uid=${employee.uid}`],
    deleteoldrdn: ['0'],
    newsuperior: [unitDn(unit)],
  })

const OCCUPANTS = `group/organizationalRole/roleOccupant.exact="${BLIND}"`

/**
 * `access to` lines: accounts with the role `blind` may not see this OU, the objectClass of the entries below a DN, or
 * the memberUid of a group.
 */
export const hiddenUnit = (unit: string): string => hidden(unitDn(unit))
export const hiddenClasses = (dn: string): string => hidden(dn, ' attrs=objectClass')
export const hiddenNames = (dn: string): string => hidden(dn, ' attrs=memberUid')

function hidden(dn: string, what = ''): string {
  return `access to dn.subtree="${dn}"${what} by ${OCCUPANTS} none by * break`
}

/** Gives the reader the role `blind`, or takes it away. */
export function blind({ readers }: Slapd, isBlind: boolean): string {
  const what = isBlind ? 'add' : 'delete'
  return ldif(BLIND, { changetype: ['modify'], [what]: ['roleOccupant'], roleOccupant: [readers.reader.dn] })
}

export const teamDn = (name: string): string => `cn=${name},ou=groups,${BASE}`

function unitAttributes(unit: string) {
  return { objectClass: ['organizationalUnit'], ou: [unit.split(',')[0] ?? unit] }
}

function employeeAttributes({ uid, surname = `of ${uid}`, mail = `${uid}@example.org` }: Employee) {
  return {
    objectClass: ['inetOrgPerson'],
    uid: [uid],
    cn: [uid],
    givenName: ['Someone'],
    sn: [surname],
    mail: [mail],
  }
}

export interface OpenLdapSite extends AsyncDisposable {
  readonly site: Site
  readonly service: ServiceSite
  /** Writes the configuration of a sync `corp`. */
  configure(sync: {
    url: string | readonly string[]
    source?: object
    groups?: object
    guards?: object
  }): Promise<void>
  /** Runs `dirsyncd sync corp`. */
  sync(): Promise<ProgramResult>
  /** What the directory has, by external id. */
  content(): Promise<Truth>
  /** The uids of the users of the directory by their e-mail addresses, sorted. */
  uids(): Promise<readonly string[]>
  /** The uids of the members of each group of the directory, by the group's name. */
  teams(): Promise<ReadonlyMap<string, readonly string[]>>
  /** How many requests besides GET the service has got, with one of these methods. */
  writes(...methods: readonly string[]): Promise<number>
}

/** The access-management service and a folder with the program's configuration, for a source that is this OpenLDAP. */
export async function openOpenLdapSite({ readers }: Slapd): Promise<OpenLdapSite> {
  await using stack = new AsyncDisposableStack()
  const service = stack.use(await startServiceSite())
  const site = stack.use(await openSite())
  await site.write('ldap-password', readers.reader.password)
  const content = () => readService({ ...FIXTURE, baseUrl: service.baseUrl })
  const owned = stack.move()
  return {
    site,
    service,
    configure: ({ url, source = {}, groups = {}, guards = {} }) => {
      const bind = { dn: readers.reader.dn, password: { file: './ldap-password' } }
      const sections = { users: SECTIONS.users, groups: { ...SECTIONS.groups, ...groups } }
      const ldap = { type: 'ldap', url, bind, pageSize: 100, ...sections, ...source }
      const sync = { name: 'corp', source: ldap, directory: directorySection(service), guards }
      return site.configure(databaseConfig([sync]))
    },
    sync: () => site.run('sync', 'corp'),
    content,
    uids: async () => [...(await content()).users.values()].map(uidOf).toSorted(),
    teams: async () => {
      const { users, groups } = await content()
      return new Map(
        [...groups.values()].map(({ name, members }) => [
          name,
          members.map((id) => uidOf(users.get(id))).toSorted(),
        ]),
      )
    },
    writes: async (...methods) =>
      (await service.requests()).filter(({ method }) => methods.includes(method)).length,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Expects a run to end well and to have nothing to say on stderr. */
export async function expectDone(corp: OpenLdapSite): Promise<void> {
  expect(await corp.sync()).toMatchObject({ code: 0, stderr: '' })
}

/** Expects the directory to have what the server tells an administrator. */
export async function expectTruth(corp: OpenLdapSite, slapd: Slapd): Promise<void> {
  expect(changesBetween(await corp.content(), await readTruth(slapd))).toEqual([])
}

/** The position of this server, as an administrator reads it. */
export async function contextCsn({ url, admin }: Slapd): Promise<string> {
  const login = ['-x', '-H', url, '-D', admin.dn, '-w', admin.password]
  const search = ['-LLL', '-b', BASE, '-s', 'base', '(objectClass=*)', 'contextCSN']
  return (await promisify(execFile)('ldapsearch', [...login, ...search])).stdout
}

function uidOf(user: { readonly email: string | null } | undefined): string {
  return user?.email?.split('@')[0] ?? ''
}

const SECTIONS = {
  users: {
    base: PEOPLE,
    filter: '(objectClass=inetOrgPerson)',
    map: { external_id: 'entryUUID', email: 'mail', name: '{givenName} {sn}' },
  },
  groups: {
    base: `ou=groups,${BASE}`,
    filter: '(objectClass=groupOfNames)',
    map: { external_id: 'entryUUID', name: 'cn', members: 'member' },
  },
}
