import { person, type PersonGroup, personGroup } from '../test/support/people.ts'

/** Users and groups of the service after a sync from the test slapd. */
export interface Entries {
  readonly users: readonly { external_id: string; email: string; name: string; employee_id: string }[]
  readonly groups: readonly { external_id: string; name: string; external_member_ids: string[] }[]
}

export const NOBODY: Entries = { users: [], groups: [] }

/** Any base DN: the service does not store it. */
const BASE = 'dc=example,dc=org'

/** So many groups with up to 44 members. */
export function teams(count: number, people: number): PersonGroup[] {
  return Array.from({ length: count }, (_, index) => personGroup(index, BASE, people))
}

export function entriesOf(people: number, groups: readonly PersonGroup[] = []): Entries {
  return {
    users: Array.from({ length: people }, (_, index) => {
      const { entryUuid, mail, givenName, sn, employeeNumber } = person(index, BASE)
      return { external_id: entryUuid, email: mail, name: `${givenName} ${sn}`, employee_id: employeeNumber }
    }),
    groups: groups.map(({ entryUuid, cn, members }) => {
      const ids = members.map((member) => person(member, BASE).entryUuid).toSorted()
      return { external_id: entryUuid, name: cn, external_member_ids: ids }
    }),
  }
}

/** The people as a CSV export. */
export function csvOf({ users }: Entries): string {
  const lines = users.map((user) =>
    [user.external_id, user.email, `"${user.name}"`, user.employee_id].join(','),
  )
  return ['id,mail,name,number', ...lines, ''].join('\n')
}
