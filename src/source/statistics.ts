import { canonicalEmail } from '../directory/normalize.ts'
import type { Notice, NoticeCode, SourceSnapshot } from '../directory/snapshot.ts'
import { amount, digits } from '../directory/wording.ts'

/** What a complete read adds up to. */
export interface SourceCounts {
  readonly users: number
  readonly groups: number
  readonly memberships: number
  readonly usersWithEmail: number
  readonly usersWithName: number
  readonly usersWithEmployeeId: number
  readonly groupsWithoutMembers: number
}

/** Something that somebody should look at. */
export interface Finding {
  readonly code: 'nobody' | 'no-email' | 'no-name' | 'duplicate-email' | NoticeCode
  readonly count: number
  /** Without the name of anybody. */
  readonly sentence: string
  /** Up to three of them by name; personal data. */
  readonly examples: readonly string[]
}

/** Which of a user's fields the configuration maps at all: what is not mapped is not missed. */
export interface Mapped {
  readonly email: boolean
  readonly name: boolean
}

const EXAMPLES = 3

export function countSource({ users, groups }: SourceSnapshot): SourceCounts {
  const counts = { usersWithEmail: 0, usersWithName: 0, usersWithEmployeeId: 0 }
  for (const { email, name, employeeId } of users.values()) {
    if (email !== undefined) counts.usersWithEmail += 1
    if (name !== undefined) counts.usersWithName += 1
    if (employeeId !== undefined) counts.usersWithEmployeeId += 1
  }
  let memberships = 0
  let groupsWithoutMembers = 0
  for (const { members } of groups.values()) {
    memberships += members.length
    if (members.length === 0) groupsWithoutMembers += 1
  }
  return { users: users.size, groups: groups.size, memberships, ...counts, groupsWithoutMembers }
}

interface Read extends SourceSnapshot {
  readonly mapped: Mapped
  readonly noticesOf: (code: NoticeCode) => readonly Notice[]
}

interface Row {
  readonly code: Finding['code']
  /** One text for each thing that is found: an id, an address, or the sentence of a notice. */
  readonly found: (read: Read) => readonly string[]
  readonly sentence: (count: number, read: Read) => string
}

/** The findings, the worst first. Every notice that a source makes has its row. */
const TABLE: readonly Row[] = [
  {
    code: 'unreadable',
    found: details('unreadable'),
    sentence: (count) => `${entries(count)} cannot be understood; nothing is deleted while that is so`,
  },
  {
    code: 'duplicate-id',
    found: ({ noticesOf }) => [
      ...new Set(noticesOf('duplicate-id').map(({ kind, id }) => `${kind} ${id ?? ''}`)),
    ],
    sentence: (count, { noticesOf }) =>
      `${several(count, 'id is', 'ids are')} there more than once, ${entries(noticesOf('duplicate-id').length)} in all; none of them is used`,
  },
  {
    code: 'no-email',
    found: (read) => (read.mapped.email ? usersWithout(read, 'email') : []),
    sentence: (count, { users }) => `no e-mail: ${shareOf(count, users.size)}`,
  },
  {
    code: 'duplicate-email',
    found: ({ users, mapped }) => (mapped.email ? [...emailOwners(users).keys()] : []),
    sentence: (count, { users }) =>
      `${several(count, 'e-mail address is', 'e-mail addresses are')} that of more than one user, ${digits(sum(emailOwners(users).values()))} users in all`,
  },
  {
    code: 'no-name',
    found: (read) => (read.mapped.name ? usersWithout(read, 'name') : []),
    sentence: (count, { users }) => `no name: ${shareOf(count, users.size)}`,
  },
  {
    code: 'unknown-members',
    found: (read) => (read.covers.members && read.users.size > 0 ? details('unknown-members')(read) : []),
    sentence: (count) =>
      `${several(count, 'group has', 'groups have')} members that are no users of this sync; those are left out`,
  },
  {
    code: 'members-hidden',
    found: details('members-hidden'),
    sentence: (count) =>
      several(
        count,
        'group is left as it is: this server does not have all of its members',
        'groups are left as they are: this server does not have all of their members',
      ),
  },
  {
    code: 'no-name',
    found: details('no-name'),
    sentence: (count) =>
      `${several(count, 'group has no name and is', 'groups have no name and are')} left out`,
  },
  {
    code: 'disabled',
    found: details('disabled'),
    sentence: (count) => `${entries(count)} that cannot log in: skipped, or treated as gone`,
  },
  {
    code: 'value-failed',
    found: details('value-failed'),
    sentence: (count) => `${entries(count)} with a value that the mapping could not work out`,
  },
  {
    code: 'doubtful-text',
    found: details('doubtful-text'),
    sentence: (count) => `${entries(count)} with text that seems to be in another encoding`,
  },
]

/** Everything about a read that is worth a look, the worst first. */
export function findingsOf(snapshot: SourceSnapshot, mapped: Mapped): Finding[] {
  const byCode = Map.groupBy(snapshot.notices, (notice) => notice.code)
  const read: Read = { ...snapshot, mapped, noticesOf: (code) => byCode.get(code) ?? [] }
  const findings: Finding[] = []
  if (snapshot.users.size === 0) {
    findings.push({ code: 'nobody', count: 0, sentence: 'there is no user that can be used', examples: [] })
  }
  for (const { code, found, sentence } of TABLE) {
    const all = found(read)
    const count = all.length
    if (count > 0)
      findings.push({ code, count, sentence: sentence(count, read), examples: all.slice(0, EXAMPLES) })
  }
  return findings
}

function details(code: NoticeCode): Row['found'] {
  return ({ noticesOf }) => noticesOf(code).map(({ detail }) => detail)
}

function usersWithout({ users }: Read, field: 'email' | 'name'): string[] {
  return [...users.values()].filter((user) => user[field] === undefined).map(({ id }) => id)
}

/** How many users share an e-mail address, for each address that more than one has. */
function emailOwners(users: Read['users']): ReadonlyMap<string, number> {
  const owners = new Map<string, number>()
  for (const { email } of users.values()) {
    if (email === undefined) continue
    const canonical = canonicalEmail(email)
    owners.set(canonical, (owners.get(canonical) ?? 0) + 1)
  }
  for (const [email, count] of owners) if (count === 1) owners.delete(email)
  return owners
}

function shareOf(count: number, users: number): string {
  const doubt = count === users ? '; is the mapping right, and may the reader see it?' : ''
  return `${percent(count, users)} (${digits(count)} of ${amount(users, 'user')})${doubt}`
}

function sum(counts: Iterable<number>): number {
  let all = 0
  for (const count of counts) all += count
  return all
}

function several(count: number, one: string, more: string): string {
  return `${digits(count)} ${count === 1 ? one : more}`
}

function entries(count: number): string {
  return several(count, 'entry', 'entries')
}

/** A share that is there is never shown as 0 %, and one that is not whole never as 100 %. */
export function percent(part: number, whole: number): string {
  const share = (100 * part) / whole
  if (part > 0 && share < 1) return 'under 1 %'
  if (part < whole && share > 99) return 'over 99 %'
  return `${Math.round(share)} %`
}
