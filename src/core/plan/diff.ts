import type { DirectoryGroup, DirectoryUser, GroupEntry, UserEntry } from '../entries/entry.ts'
import { addressFault } from '../entries/address.ts'
import { canonicalName, isInDomains, isSameEmail } from '../entries/normalize.ts'
import type { Notice } from '../notice.ts'
import { type Change, type CreateUser, fingerprint, type Takes, type UpdateUser } from './change.ts'
import type { EmailRuling } from './emails.ts'
import type { PlanRules } from './inputs.ts'
import { isMovedId } from './moved.ts'

/** At most one change, and notices. */
export interface Difference {
  readonly change?: Change
  readonly notices?: readonly Notice[]
}

const SAME: Difference = {}

/** Which e-mails may be written, and how users with others are handled. */
export type EmailRules = Pick<PlanRules, 'allowedDomains' | 'dropBadEmails'>

export function diffUser(
  want: UserEntry,
  have: DirectoryUser | undefined,
  rules: EmailRules,
  ruling?: EmailRuling,
): Difference {
  const wanted = ruling?.may === 'not-write' ? undefined : want.email
  const isBad = wanted !== undefined && !mayHaveEmail(wanted, have, rules)
  if (isBad && rules.dropBadEmails !== true) return { notices: [notAllowed(want, wanted, rules)] }
  const email = isBad ? undefined : wanted
  const takes = ruling?.may === 'take' ? ruling.takes : undefined
  const change = have === undefined ? createUser(want, email, takes) : updateUser(want, email, have, takes)
  const notices = [
    ...(isBad ? [dropped(want, wanted, have, rules)] : []),
    ...emailNotices(want, ruling),
    ...missingNotices(want, have),
    ...movedNotices(want, change),
  ]
  if (change === undefined) return notices.length === 0 ? SAME : { notices }
  return notices.length === 0 ? { change } : { change, notices }
}

/** The fingerprint of what the source wants for a user, whatever user has the e-mail; `undefined` for nothing. */
export function wishOf(
  want: UserEntry,
  have: DirectoryUser | undefined,
  rules: EmailRules,
): string | undefined {
  const { change } = diffUser(want, have, rules)
  return change === undefined ? undefined : fingerprint(change)
}

/** An e-mail that the directory already has may stay, whatever its domain. */
export function mayHaveEmail(
  email: string,
  have: DirectoryUser | undefined,
  { allowedDomains, dropBadEmails = false }: EmailRules,
): boolean {
  if (have !== undefined && isSameEmail(email, have.email)) return true
  if (dropBadEmails) return addressFault(email, allowedDomains) === undefined
  return allowedDomains.length === 0 || isInDomains(email, allowedDomains)
}

export function diffGroup(want: GroupEntry, have: DirectoryGroup | undefined): Difference {
  if (have === undefined) return { change: { op: 'create-group', id: want.id, want: { name: want.name } } }
  if (canonicalName(want.name) === canonicalName(have.name)) return SAME
  return {
    change: { op: 'update-group', id: want.id, have: { name: have.name }, want: { name: want.name } },
  }
}

function createUser(want: UserEntry, email: string | undefined, takes: Takes | undefined): CreateUser {
  return {
    op: 'create-user',
    id: want.id,
    want: {
      ...(email !== undefined && { email }),
      ...(want.name !== undefined && { name: want.name }),
      ...(want.employeeId !== undefined && { employeeId: want.employeeId }),
    },
    ...(takes !== undefined && { takes }),
  }
}

function updateUser(
  { id, name }: UserEntry,
  email: string | undefined,
  have: DirectoryUser,
  takes: Takes | undefined,
): UpdateUser | undefined {
  const isOtherEmail = email !== undefined && !isSameEmail(email, have.email)
  const isOtherName = name !== undefined && canonicalName(name) !== canonicalName(have.name ?? '')
  if (!isOtherEmail && !isOtherName) return undefined
  return {
    op: 'update-user',
    id,
    have: { email: have.email, name: have.name },
    want: { ...(isOtherEmail && { email }), ...(isOtherName && { name }) },
    ...(takes !== undefined && { takes }),
  }
}

function emailNotices(want: UserEntry, ruling: EmailRuling | undefined): Notice[] {
  if (ruling === undefined) return []
  const { id, from, email = '' } = want
  if (ruling.may !== 'take') {
    const { owner, how } = ruling
    return [
      {
        kind: 'user',
        id,
        code: 'duplicate-email',
        params: { from, email: ruling.email, owner, how, undo: null },
      },
    ]
  }
  if (ruling.takes.after !== null) return []
  const params = { email, owner: ruling.takes.from, isUndo: false }
  return [{ kind: 'user', id, code: 'email-swap', params }]
}

function missingNotices(want: UserEntry, have: DirectoryUser | undefined): Notice[] {
  const { id, from } = want
  if (have === undefined) {
    return want.email === undefined ? [{ kind: 'user', id, code: 'no-email', params: { from } }] : []
  }
  const fields = keptFields(want, have)
  return fields.length === 0 ? [] : [{ kind: 'user', id, code: 'value-kept', params: { from, fields } }]
}

function movedNotices(want: UserEntry, change: CreateUser | UpdateUser | undefined): Notice[] {
  if (change?.op !== 'update-user' || !isMovedId(change)) return []
  const { id, from } = want
  const after = { name: change.want.name ?? null, email: change.want.email ?? null }
  return [{ kind: 'user', id, code: 'id-moved', params: { from, before: change.have, after, undone: null } }]
}

function keptFields(want: UserEntry, have: DirectoryUser): ('email' | 'name')[] {
  const kept: ('email' | 'name')[] = []
  if (want.email === undefined && have.email) kept.push('email')
  if (want.name === undefined && have.name) kept.push('name')
  return kept
}

function notAllowed({ id, from }: UserEntry, email: string, { allowedDomains }: EmailRules): Notice {
  const why = addressFault(email, allowedDomains) ?? 'other-domain'
  return { kind: 'user', id, code: 'email-not-allowed', params: { from, email, why } }
}

function dropped(
  { id, from }: UserEntry,
  email: string,
  have: DirectoryUser | undefined,
  { allowedDomains }: EmailRules,
): Notice {
  const why = addressFault(email, allowedDomains) ?? 'other-domain'
  return {
    kind: 'user',
    id,
    code: 'email-dropped',
    params: { from, email, why, isKept: Boolean(have?.email) },
  }
}
