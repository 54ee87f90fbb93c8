import { hash } from 'node:crypto'
import type { Kind } from '../directory/entry.ts'
import { canonicalEmail, canonicalName } from '../directory/normalize.ts'

/**
 * Why the plan deletes an entry: not in the source, outside the sync's filter, a disabled account, or created by the run
 * that the plan undoes.
 */
export type DeleteReason = 'gone' | 'left-filter' | 'disabled' | 'undone'

/** A user's values in the directory. */
export interface UserValues {
  readonly email: string | null
  readonly name: string | null
}

/** The change takes over an e-mail from another user, who loses it in the same plan. */
export interface Takes {
  readonly from: string
  /** How many other changes must come first, one after the other; `null` in a circle, or if it waits for one. */
  readonly after: number | null
}

export interface CreateUser {
  readonly op: 'create-user'
  readonly id: string
  readonly want: { readonly email?: string; readonly name?: string; readonly employeeId?: string }
  readonly takes?: Takes
  /** A user with this e-mail whom the same plan deletes: probably the same person under the old id. */
  readonly oldId?: string
}

export interface UpdateUser {
  readonly op: 'update-user'
  readonly id: string
  readonly have: UserValues
  /** Only the fields that differ. */
  readonly want: { readonly email?: string; readonly name?: string }
  readonly takes?: Takes
}

export interface DeleteUser {
  readonly op: 'delete-user'
  readonly id: string
  readonly have: UserValues & {
    /** The ids of the groups that lose the user, sorted; not in what older versions stored. */
    readonly groups?: readonly string[]
  }
  readonly why: DeleteReason
  /** A user whom the same plan creates: probably the same person under the new id. */
  readonly newId?: string
}

export interface CreateGroup {
  readonly op: 'create-group'
  readonly id: string
  readonly want: { readonly name: string }
}

export interface UpdateGroup {
  readonly op: 'update-group'
  readonly id: string
  readonly have: { readonly name: string }
  readonly want: { readonly name: string }
}

export interface DeleteGroup {
  readonly op: 'delete-group'
  readonly id: string
  readonly have: { readonly name: string; readonly members: readonly string[] }
  readonly why: DeleteReason
}

export interface SetMembers {
  readonly op: 'set-members'
  readonly id: string
  /** The group's name, which the API wants with its members: as the group has it when they are sent. */
  readonly name: string
  /** Sorted ids of users, before and after. */
  readonly have: readonly string[]
  readonly want: readonly string[]
}

/** Whom a group gains and whom it loses, in the order of the lists. */
export function membersDifference({ have, want }: Pick<SetMembers, 'have' | 'want'>): {
  readonly added: readonly string[]
  readonly removed: readonly string[]
} {
  const [before, after] = [new Set(have), new Set(want)]
  return { added: want.filter((id) => !before.has(id)), removed: have.filter((id) => !after.has(id)) }
}

/** One create, update or delete of one user or group, or a change of a group's members. */
export type Change =
  | CreateUser
  | UpdateUser
  | DeleteUser
  | CreateGroup
  | UpdateGroup
  | DeleteGroup
  | SetMembers

export type Op = Change['op']

export const OPS: readonly Op[] = [
  'create-user',
  'update-user',
  'delete-user',
  'create-group',
  'update-group',
  'delete-group',
  'set-members',
]

/** Members of a group are a part of the group. */
export function kindOf(op: Op): Kind {
  return op.endsWith('-user') ? 'user' : 'group'
}

/**
 * A hash of what the change does, on canonical values, as 32 hexadecimal digits: two changes with the same fingerprint
 * do the same to the same entry. Approvals, rejections and the quarantine identify changes by it. It covers `takes`, so
 * a change that was refused because its e-mail was taken gets a new fingerprint when the e-mail is free, and is tried
 * again at once.
 */
export function fingerprint(change: Change): string {
  return fingerprintOf(change.op, change.id, wantedValues(change))
}

/**
 * The fingerprints of what a person rejects together with this change, because another read may want only that: each
 * value of an update, a create without the e-mail, and each member whom a group gains or loses.
 */
export function partFingerprints(change: Change): readonly string[] {
  const { op, id } = change
  if (op === 'update-user') {
    const updates = updatesOfOneValue(change)
    return updates.length === 1 ? [] : updates.map(fingerprint)
  }
  if (op === 'create-user') {
    const { email: _, ...want } = change.want
    return change.want.email === undefined ? [] : [fingerprint({ op, id, want })]
  }
  if (op !== 'set-members') return []
  const { added, removed } = membersDifference(change)
  return [
    ...added.map((member) => memberFingerprint(id, 'added', member)),
    ...removed.map((member) => memberFingerprint(id, 'removed', member)),
  ]
}

/** The update as one for each value, whoever has the e-mail. */
export function updatesOfOneValue(change: UpdateUser): readonly UpdateUser[] {
  const { op, id, have } = change
  const { email, name } = change.want
  return [
    ...(email === undefined ? [] : [{ op, id, have, want: { email } }]),
    ...(name === undefined ? [] : [{ op, id, have, want: { name } }]),
  ]
}

/** The fingerprint of one member whom a group gains or loses. */
export function memberFingerprint(group: string, how: 'added' | 'removed', member: string): string {
  return fingerprintOf('set-members', group, { [how]: member })
}

/** The fingerprint of this entry's delete, whether or not a plan has it. */
export function deleteFingerprint(kind: Kind, id: string): string {
  return fingerprintOf(`delete-${kind}`, id, null)
}

function fingerprintOf(op: Op, id: string, wanted: unknown): string {
  return hash('sha256', JSON.stringify([op, id, wanted])).slice(0, 32)
}

function wantedValues(change: Change): unknown {
  switch (change.op) {
    case 'create-user':
      return [...userValues(change.want), change.want.employeeId ?? null, ...takenFrom(change.takes)]
    case 'update-user':
      return [...userValues(change.want), ...takenFrom(change.takes)]
    case 'create-group':
    case 'update-group':
      return canonicalName(change.want.name)
    case 'set-members':
      return change.want
    case 'delete-user':
    case 'delete-group':
      return null
  }
}

function userValues(want: { readonly email?: string; readonly name?: string }): (string | null)[] {
  return [
    want.email === undefined ? null : canonicalEmail(want.email),
    want.name === undefined ? null : canonicalName(want.name),
  ]
}

function takenFrom(takes: Takes | undefined): [] | [from: string, after: number | null] {
  return takes === undefined ? [] : [takes.from, takes.after]
}
