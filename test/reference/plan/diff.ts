import type { DirectoryGroup, DirectoryUser, GroupEntry, UserEntry } from '../directory/entry.ts'
import { addressFault } from '../directory/address.ts'
import { canonicalName, isInDomains, isSameEmail } from '../directory/normalize.ts'
import type { Notice } from '../directory/snapshot.ts'
import { type Change, type CreateUser, fingerprint, type Takes, type UpdateUser } from './change.ts'
import type { EmailRuling } from './emails.ts'
import type { PlanRules } from './inputs.ts'
import { isMovedId } from './moved.ts'

/** The result of comparing one entry: at most one change, and notices. */
export interface Difference {
  readonly change?: Change
  readonly notices?: readonly Notice[]
}

const SAME: Difference = {}

/** Which e-mails may be written, and what becomes of users with others. */
export type EmailRules = Pick<PlanRules, 'allowedDomains' | 'dropBadEmails'>

/** Compares one user of the source with the same user in the directory, `undefined` if there is none. */
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

/** The fingerprint of what the source wants for a user, whoever has the e-mail; `undefined` where that is nothing. */
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

/** Compares one group of the source with the directory's, but not its members. */
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
  if (ruling.may === 'not-write') {
    const detail = `${ruling.detail}; the rest of this user (${want.from}) is written without it`
    return [{ kind: 'user', id: want.id, code: 'duplicate-email', detail }]
  }
  if (ruling.may === 'share') {
    return [
      { kind: 'user', id: want.id, code: 'duplicate-email', detail: `${ruling.detail}; this is not changed` },
    ]
  }
  if (ruling.takes.after !== null) return []
  const detail =
    `gets the e-mail ${want.email} of "${ruling.takes.from}", who gets another one, in a circle of such changes. ` +
    'If the service refuses this, because it allows each e-mail only once, give one of these users any other e-mail ' +
    'in the service: the next run then changes them all'
  return [{ kind: 'user', id: want.id, code: 'email-swap', detail }]
}

function missingNotices(want: UserEntry, have: DirectoryUser | undefined): Notice[] {
  if (have === undefined) {
    if (want.email !== undefined) return []
    const detail = `the source has no usable e-mail (${want.from}); the user is created without one`
    return [{ kind: 'user', id: want.id, code: 'no-email', detail }]
  }
  const kept = keptFields(want, have)
  if (kept.length === 0) return []
  const detail = `the source has no usable ${kept.join(' and no usable ')} (${want.from}); the directory keeps its own`
  return [{ kind: 'user', id: want.id, code: 'value-kept', detail }]
}

function movedNotices(want: UserEntry, change: CreateUser | UpdateUser | undefined): Notice[] {
  if (change?.op !== 'update-user' || !isMovedId(change)) return []
  const { have } = change
  const detail =
    `was ${have.name} <${have.email}> and is ${change.want.name} <${change.want.email}> in the source (${want.from}): ` +
    'the id may have been given to another person'
  return [{ kind: 'user', id: want.id, code: 'id-moved', detail }]
}

function keptFields(want: UserEntry, have: DirectoryUser): string[] {
  const kept: string[] = []
  if (want.email === undefined && have.email) kept.push('e-mail')
  if (want.name === undefined && have.name) kept.push('name')
  return kept
}

function notAllowed({ id, from }: UserEntry, email: string, { allowedDomains }: EmailRules): Notice {
  const fault = addressFault(email, allowedDomains)
  const detail = `the e-mail ${email} ${fault} (${from}); nothing is written for this user`
  return { kind: 'user', id, code: 'email-not-allowed', detail }
}

function dropped(
  { id, from }: UserEntry,
  email: string,
  have: DirectoryUser | undefined,
  { allowedDomains }: EmailRules,
): Notice {
  const fault = addressFault(email, allowedDomains)
  const rest = have?.email ? 'the directory keeps its own' : 'this user is written without it'
  const detail = `the e-mail ${email} ${fault} (${from}); ${rest}`
  return { kind: 'user', id, code: 'email-dropped', detail }
}
