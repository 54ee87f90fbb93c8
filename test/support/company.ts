import { parse, stringify } from 'yaml'
import { FIXTURE_YAML } from './fixture.ts'
import { inLong } from './long.ts'

/** The content of a company's CSV files, and of its directory after a complete sync. */
export interface Company {
  readonly users: ReadonlyMap<string, { readonly name: string; readonly email: string }>
  readonly groups: ReadonlyMap<string, { readonly name: string; readonly members: readonly string[] }>
}

/** A company without groups. */
export function people(count: number): Company {
  const users = range(0, count).map((index) => [userId(index), user(index, 0)] as const)
  return { users: new Map(users), groups: new Map() }
}

const DELETED_USERS = inLong(25, 250)
const UPDATED_USERS = inLong(55, 600)
const USERS = inLong(110, 1100)
const NEW_USERS = inLong(70, 700)
const DELETED_GROUPS = inLong(6, 50)
export const GROUPS = inLong(18, 150)
const NEW_GROUPS = inLong(12, 100)

/** The requests from `companyBefore` to `companyAfter`: every remaining group gets a new name and new members. */
export const CHANGES = {
  'create-user': NEW_USERS,
  'update-user': UPDATED_USERS,
  'delete-user': DELETED_USERS,
  'create-group': NEW_GROUPS,
  'update-group': GROUPS - DELETED_GROUPS,
  'delete-group': DELETED_GROUPS,
  'set-members': GROUPS - DELETED_GROUPS + NEW_GROUPS,
}

export function companyBefore(): Company {
  const groups = range(0, GROUPS).map((index) => [groupId(index), group(index, 0)] as const)
  return { ...people(USERS), groups: new Map(groups) }
}

/** The same company after hundreds of changes, some of every operation. */
export function companyAfter(): Company {
  const users = range(DELETED_USERS, USERS + NEW_USERS).map((index) => {
    return [userId(index), user(index, index < DELETED_USERS + UPDATED_USERS ? 1 : 0)] as const
  })
  const groups = range(DELETED_GROUPS, GROUPS + NEW_GROUPS).map((index) => {
    return [groupId(index), group(index, index < GROUPS ? 1 : 0)] as const
  })
  return { users: new Map(users), groups: new Map(groups) }
}

/** File name → text of each CSV file. */
export function csvFiles(company: Company): Readonly<Record<string, string>> {
  let users = 'id,mail,name\n'
  for (const [id, { email, name }] of company.users) users += `${id},${email},${name}\n`
  let groups = 'id,name\n'
  let members = 'group,user\n'
  for (const [id, { name, members: all }] of company.groups) {
    groups += `${id},${name}\n`
    for (const member of all) members += `${id},${member}\n`
  }
  return { 'users.csv': users, 'groups.csv': groups, 'members.csv': members }
}

/** The service's fixture with a directory that equals the company. */
export function fixtureOf({ users, groups }: Company): string {
  const { providers, organizations } = parse(FIXTURE_YAML)
  organizations[0].directories[0].users = [...users].map(([id, each]) => ({ external_id: id, ...each }))
  organizations[0].directories[0].groups = [...groups].map(([id, { name, members }]) => {
    return { external_id: id, name, external_member_ids: members }
  })
  return stringify({ providers, organizations })
}

/** The `source` section that reads the files. */
export const CSV_SOURCE = {
  type: 'csv',
  users: { path: './users.csv', map: { external_id: 'id', email: 'mail', name: 'name' } },
  groups: { path: './groups.csv', map: { external_id: 'id', name: 'name' } },
  members: { path: './members.csv', map: { group: 'group', user: 'user' } },
}

/** Version 1 has another name for even indexes and another e-mail for odd ones. */
function user(index: number, version: number): { name: string; email: string } {
  const name = version === 1 && index % 2 === 0 ? `Renamed ${index}` : `Person ${index}`
  const box = version === 1 && index % 2 === 1 ? `moved${index}` : `person${index}`
  return { name, email: `${box}@example.org` }
}

/** Many members in version 0 are users who are deleted later; all members in version 1 remain. */
function group(index: number, version: number): { name: string; members: string[] } {
  const first = version === 1 || index >= GROUPS ? DELETED_USERS + 3 * index : 3 * index
  const members = range(first, first + 5).map(userId)
  return { name: version === 1 ? `Renamed team ${index}` : `Team ${index}`, members: members.toSorted() }
}

function userId(index: number): string {
  return `u${index}`
}

function groupId(index: number): string {
  return `g${index}`
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, offset) => from + offset)
}
