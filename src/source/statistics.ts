import { canonicalEmail } from '../core/entries/normalize.ts'
import type { SourceSnapshot } from '../core/entries/snapshot.ts'
import type { Notice, NoticeCode } from '../core/notice.ts'
import { amount, digits } from '../base/wording.ts'

export interface SourceCounts {
  readonly users: number
  readonly groups: number
  readonly memberships: number
  readonly usersWithEmail: number
  readonly usersWithName: number
  readonly usersWithEmployeeId: number
  readonly groupsWithoutMembers: number
}

export interface Finding {
  readonly code: 'nobody' | 'no-email' | 'no-name' | 'duplicate-email' | NoticeCode
  readonly count: number
  /** Has no personal data. */
  readonly sentence: string
  /** Up to three of the entries concerned; personal data. */
  readonly examples: readonly string[]
}

/** Only a mapped field of users can be reported as missing. */
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

interface ReadFacts extends SourceSnapshot {
  readonly mapped: Mapped
  readonly noticesOf: (code: NoticeCode) => readonly Notice[]
}

interface FindingRule {
  readonly code: Finding['code']
  /** One text for each case: an id, an address, or a place. */
  readonly cases: (read: ReadFacts) => readonly string[]
  readonly sentence: (count: number, read: ReadFacts) => string
}

/** The worst first. Every code of a source's notices has a rule. */
const FINDING_RULES: readonly FindingRule[] = [
  {
    code: 'unreadable',
    cases: details('unreadable'),
    sentence: (count) =>
      `${amount(count, 'entry')} cannot be understood; until that is corrected, nothing is deleted`,
  },
  {
    code: 'duplicate-id',
    cases: ({ noticesOf }) => [
      ...new Set(noticesOf('duplicate-id').map(({ kind, id }) => `${kind} ${id ?? ''}`)),
    ],
    sentence: (count, { noticesOf }) =>
      `${pluralize(count, 'id is', 'ids are')} used more than once, by ${amount(noticesOf('duplicate-id').length, 'entry')} in all; all of them are skipped`,
  },
  {
    code: 'no-email',
    cases: (read) => (read.mapped.email ? usersWithout(read, 'email') : []),
    sentence: (count, { users }) => `no e-mail: ${shareOf(count, users.size)}`,
  },
  {
    code: 'duplicate-email',
    cases: ({ users, mapped }) => (mapped.email ? [...sharedEmails(users).keys()] : []),
    sentence: (count, { users }) =>
      `${pluralize(count, 'e-mail address is', 'e-mail addresses are')} used by more than one user, ${digits(sum(sharedEmails(users).values()))} users in all`,
  },
  {
    code: 'no-name',
    cases: (read) => (read.mapped.name ? usersWithout(read, 'name') : []),
    sentence: (count, { users }) => `no name: ${shareOf(count, users.size)}`,
  },
  {
    code: 'unknown-members',
    cases: (read) => (read.covers.members && read.users.size > 0 ? details('unknown-members')(read) : []),
    sentence: (count) =>
      `${pluralize(count, 'group has', 'groups have')} members that are no users of this sync; those are left out`,
  },
  {
    code: 'members-hidden',
    cases: details('members-hidden'),
    sentence: (count) =>
      pluralize(
        count,
        'group is left as it is: this server does not have all of its members',
        'groups are left as they are: this server does not have all of their members',
      ),
  },
  {
    code: 'no-name',
    cases: details('no-name'),
    sentence: (count) =>
      `${pluralize(count, 'group has no name and is', 'groups have no name and are')} left out`,
  },
  {
    code: 'disabled',
    cases: details('disabled'),
    sentence: (count) =>
      `${amount(count, 'entry')} that cannot log in: not created, and else as users.disabled says`,
  },
  {
    code: 'value-failed',
    cases: details('value-failed'),
    sentence: (count) => `${amount(count, 'entry')} with a value that the mapping could not compute`,
  },
  {
    code: 'doubtful-text',
    cases: details('doubtful-text'),
    sentence: (count) => `${amount(count, 'entry')} with text that seems to be in another encoding`,
  },
]

/** The worst first. */
export function findingsOf(snapshot: SourceSnapshot, mapped: Mapped): Finding[] {
  const byCode = Map.groupBy(snapshot.notices, (notice) => notice.code)
  const read: ReadFacts = { ...snapshot, mapped, noticesOf: (code) => byCode.get(code) ?? [] }
  const findings: Finding[] = []
  if (snapshot.users.size === 0) {
    findings.push({ code: 'nobody', count: 0, sentence: 'there is no user that can be used', examples: [] })
  }
  for (const { code, cases, sentence } of FINDING_RULES) {
    const all = cases(read)
    const count = all.length
    if (count > 0)
      findings.push({ code, count, sentence: sentence(count, read), examples: all.slice(0, EXAMPLES) })
  }
  return findings
}

/** A place, and what is wrong there, where that differs from entry to entry. */
function details(code: NoticeCode): FindingRule['cases'] {
  return ({ noticesOf }) =>
    noticesOf(code).map(({ id, params }) => {
      const place = 'from' in params && params.from !== null ? params.from : (id ?? '')
      if ('examples' in params) return `${place}: ${params.examples.join(', ')}`
      return 'fault' in params ? `${place}: ${params.fault}` : place
    })
}

function usersWithout({ users }: ReadFacts, field: 'email' | 'name'): string[] {
  return [...users.values()].filter((user) => user[field] === undefined).map(({ id }) => id)
}

/** By e-mail address that several users have, the number of these users. */
function sharedEmails(users: ReadFacts['users']): ReadonlyMap<string, number> {
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
  const advice = count === users ? '; check the mapping and the read permission' : ''
  return `${percent(count, users)} (${digits(count)} of ${amount(users, 'user')})${advice}`
}

function sum(counts: Iterable<number>): number {
  let all = 0
  for (const count of counts) all += count
  return all
}

function pluralize(count: number, one: string, more: string): string {
  return `${digits(count)} ${count === 1 ? one : more}`
}

/** Rounds a share, but never to 0 % when it is more, nor to 100 % when it is less. */
export function percent(part: number, whole: number): string {
  const share = (100 * part) / whole
  if (part > 0 && share < 1) return 'under 1 %'
  if (part < whole && share > 99) return 'over 99 %'
  return `${Math.round(share)} %`
}
