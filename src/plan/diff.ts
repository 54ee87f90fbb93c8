import type { DirectoryGroup, DirectoryUser, GroupEntry, UserEntry } from '../directory/entry.ts'
import { canonicalEmail, canonicalName, emailDomain } from '../directory/normalize.ts'
import type { Notice } from '../directory/snapshot.ts'
import type { Change, CreateUser, UpdateUser } from './change.ts'

/** What comparing one entry came to: at most one change, and what else there is to say about it. */
export interface Difference {
  readonly change?: Change
  readonly notice?: Notice
}

const SAME: Difference = {}

/** Compares one user of the source with the directory's, `undefined` where it has none. */
export function diffUser(
  want: UserEntry,
  have: DirectoryUser | undefined,
  allowedDomains: readonly string[],
): Difference {
  if (have === undefined) return createUser(want, allowedDomains)
  const changed = changedFields(want, have)
  if (changed.email !== undefined && !isAllowed(changed.email, allowedDomains)) {
    return { notice: notAllowed(want, changed.email) }
  }
  const kept = keptFields(want, have)
  const notice: Notice | undefined =
    kept.length === 0
      ? undefined
      : {
          kind: 'user',
          id: want.id,
          code: 'value-kept',
          detail: `the source has no ${kept.join(' and no ')} (${want.from}); the directory's is kept`,
        }
  if (changed.email === undefined && changed.name === undefined) return notice ? { notice } : SAME
  const change: UpdateUser = {
    op: 'update-user',
    id: want.id,
    have: { email: have.email, name: have.name },
    want: changed,
  }
  return notice ? { change, notice } : { change }
}

/** Compares one group of the source with the directory's; members are compared apart. */
export function diffGroup(want: GroupEntry, have: DirectoryGroup | undefined): Difference {
  if (have === undefined) return { change: { op: 'create-group', id: want.id, want: { name: want.name } } }
  if (canonicalName(want.name) === canonicalName(have.name)) return SAME
  return {
    change: { op: 'update-group', id: want.id, have: { name: have.name }, want: { name: want.name } },
  }
}

function createUser(want: UserEntry, allowedDomains: readonly string[]): Difference {
  if (want.email !== undefined && !isAllowed(want.email, allowedDomains)) {
    return { notice: notAllowed(want, want.email) }
  }
  const change: CreateUser = {
    op: 'create-user',
    id: want.id,
    want: {
      ...(want.email !== undefined && { email: want.email }),
      ...(want.name !== undefined && { name: want.name }),
      ...(want.employeeId !== undefined && { employeeId: want.employeeId }),
    },
  }
  if (want.email !== undefined) return { change }
  const detail = `the source has no e-mail (${want.from}); the user is created without one`
  return { change, notice: { kind: 'user', id: want.id, code: 'no-email', detail } }
}

function changedFields(want: UserEntry, have: DirectoryUser): { email?: string; name?: string } {
  const email =
    want.email !== undefined && canonicalEmail(want.email) !== canonicalEmail(have.email ?? '')
      ? want.email
      : undefined
  const name =
    want.name !== undefined && canonicalName(want.name) !== canonicalName(have.name ?? '')
      ? want.name
      : undefined
  return { ...(email !== undefined && { email }), ...(name !== undefined && { name }) }
}

function keptFields(want: UserEntry, have: DirectoryUser): string[] {
  const kept: string[] = []
  if (want.email === undefined && have.email) kept.push('e-mail')
  if (want.name === undefined && have.name) kept.push('name')
  return kept
}

function isAllowed(email: string, allowedDomains: readonly string[]): boolean {
  if (allowedDomains.length === 0) return true
  const domain = emailDomain(email)
  return allowedDomains.some((allowed) => allowed.toLowerCase() === domain)
}

function notAllowed(want: UserEntry, email: string): Notice {
  const detail = `the e-mail ${email} is outside the allowed domains (${want.from}); nothing is written for this user`
  return { kind: 'user', id: want.id, code: 'email-not-allowed', detail }
}
