import { canonicalEmail } from '../directory/normalize.ts'
import type { Notice, NoticeCode, SourceSnapshot } from '../directory/snapshot.ts'
import { digits } from '../directory/wording.ts'

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

/** Everything about a read that is worth a look, the worst first. */
export function findingsOf(snapshot: SourceSnapshot, mapped: Mapped): Finding[] {
  const { users, notices, covers } = snapshot
  const found: (Finding | undefined)[] = [nobody(snapshot)]
  const byCode = Map.groupBy(notices, (notice) => notice.code)
  found.push(
    unreadable(snapshot, byCode.get('unreadable') ?? []),
    duplicateIds(byCode.get('duplicate-id') ?? []),
  )
  if (mapped.email) found.push(without(snapshot, 'email', 'no-email', 'no e-mail'), duplicateEmails(snapshot))
  if (mapped.name) found.push(without(snapshot, 'name', 'no-name', 'no name'))
  if (covers.members && users.size > 0) found.push(foreignMembers(byCode.get('unknown-members') ?? []))
  found.push(hiddenMembers(byCode.get('members-hidden') ?? []))
  found.push(namelessGroups(byCode.get('no-name') ?? []))
  for (const [code, group] of byCode) if (!TOLD.has(code)) found.push(told(code, group))
  return found.filter((finding) => finding !== undefined)
}

/** The notices that have a sentence of their own here. */
const TOLD: ReadonlySet<NoticeCode> = new Set([
  'unreadable',
  'duplicate-id',
  'unknown-members',
  'members-hidden',
  'no-name',
])

function nobody({ users }: SourceSnapshot): Finding | undefined {
  if (users.size > 0) return undefined
  return { code: 'nobody', count: 0, sentence: 'there is no user that can be used', examples: [] }
}

function unreadable({ unreadable: count }: SourceSnapshot, notices: readonly Notice[]): Finding | undefined {
  if (count === 0) return undefined
  const sentence = `${entries(count)} cannot be understood; nothing is deleted while that is so`
  return { code: 'unreadable', count, sentence, examples: detailsOf(notices) }
}

function duplicateIds(notices: readonly Notice[]): Finding | undefined {
  if (notices.length === 0) return undefined
  const ids = new Set(notices.map(({ kind, id }) => `${kind} ${id ?? ''}`))
  const what = ids.size === 1 ? '1 id is' : `${digits(ids.size)} ids are`
  const sentence = `${what} there more than once, ${entries(notices.length)} in all; none of them is used`
  return { code: 'duplicate-id', count: ids.size, sentence, examples: [...ids].slice(0, EXAMPLES) }
}

function without(
  { users }: SourceSnapshot,
  field: 'email' | 'name',
  code: 'no-email' | 'no-name',
  words: string,
): Finding | undefined {
  const ids: string[] = []
  let count = 0
  for (const user of users.values()) {
    if (user[field] !== undefined) continue
    count += 1
    if (ids.length < EXAMPLES) ids.push(user.id)
  }
  if (count === 0) return undefined
  const doubt = count === users.size ? '; is the mapping right, and may the reader see it?' : ''
  const sentence = `${words}: ${percent(count, users.size)} (${digits(count)} of ${users.size === 1 ? '1 user' : `${digits(users.size)} users`})${doubt}`
  return { code, count, sentence, examples: count === users.size ? [] : ids }
}

function duplicateEmails({ users }: SourceSnapshot): Finding | undefined {
  const first = new Set<string>()
  const shared = new Set<string>()
  for (const { email } of users.values()) {
    if (email === undefined) continue
    const canonical = canonicalEmail(email)
    if (first.has(canonical)) shared.add(canonical)
    else first.add(canonical)
  }
  if (shared.size === 0) return undefined
  let owners = 0
  for (const { email } of users.values())
    if (email !== undefined && shared.has(canonicalEmail(email))) owners += 1
  const what = shared.size === 1 ? '1 e-mail address is' : `${digits(shared.size)} e-mail addresses are`
  const sentence = `${what} that of more than one user, ${digits(owners)} users in all`
  return { code: 'duplicate-email', count: shared.size, sentence, examples: [...shared].slice(0, EXAMPLES) }
}

function foreignMembers(notices: readonly Notice[]): Finding | undefined {
  if (notices.length === 0) return undefined
  const what = notices.length === 1 ? '1 group has' : `${digits(notices.length)} groups have`
  const sentence = `${what} members that are no users of this sync; those are left out`
  return { code: 'unknown-members', count: notices.length, sentence, examples: detailsOf(notices) }
}

function hiddenMembers(notices: readonly Notice[]): Finding | undefined {
  if (notices.length === 0) return undefined
  const what =
    notices.length === 1
      ? '1 group is left as it is: this server does not have all of its members'
      : `${digits(notices.length)} groups are left as they are: this server does not have all of their members`
  return { code: 'members-hidden', count: notices.length, sentence: what, examples: detailsOf(notices) }
}

function namelessGroups(notices: readonly Notice[]): Finding | undefined {
  if (notices.length === 0) return undefined
  const what =
    notices.length === 1
      ? '1 group has no name and is'
      : `${digits(notices.length)} groups have no name and are`
  return {
    code: 'no-name',
    count: notices.length,
    sentence: `${what} left out`,
    examples: detailsOf(notices),
  }
}

/** What else the notices of a read are about. */
const WHAT: ReadonlyMap<NoticeCode, string> = new Map([
  ['disabled', 'that cannot log in: skipped, or treated as gone'],
  ['value-failed', 'with a value that the mapping could not work out'],
  ['doubtful-text', 'with text that seems to be in another encoding'],
])

/** The report of a run tells more of these. */
function told(code: NoticeCode, notices: readonly Notice[]): Finding {
  return {
    code,
    count: notices.length,
    sentence: `${entries(notices.length)} ${WHAT.get(code) ?? 'noted'}`,
    examples: detailsOf(notices),
  }
}

function detailsOf(notices: readonly Notice[]): string[] {
  return notices.slice(0, EXAMPLES).map(({ detail }) => detail)
}

function entries(count: number): string {
  return count === 1 ? '1 entry' : `${digits(count)} entries`
}

/** A share that is there is never shown as 0 %, and one that is not whole never as 100 %. */
export function percent(part: number, whole: number): string {
  const share = (100 * part) / whole
  if (part > 0 && share < 1) return 'under 1 %'
  if (part < whole && share > 99) return 'over 99 %'
  return `${Math.round(share)} %`
}
