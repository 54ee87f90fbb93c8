import { hash } from 'node:crypto'
import { canonicalEmail, canonicalName } from '../directory/normalize.ts'

/** Why an entry of the directory is to be deleted: gone from the source, or outside the sync's filter. */
export type DeleteReason = 'gone' | 'left-filter' | 'disabled'

/** What the directory shows of a user. */
export interface UserValues {
  readonly email: string | null
  readonly name: string | null
}

/** An e-mail that the directory shows with another user, who loses it in the same plan. */
export interface Takes {
  readonly from: string
  /** How many others must change before this one can; `null` in a circle and behind one. */
  readonly after: number | null
}

export interface CreateUser {
  readonly op: 'create-user'
  readonly id: string
  readonly want: { readonly email?: string; readonly name?: string; readonly employeeId?: string }
  readonly takes?: Takes
  /** Whom the same plan deletes and who has this e-mail: most likely the same person, whose id was changed. */
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
  readonly have: UserValues
  readonly why: DeleteReason
  /** Under which id the same plan creates most likely the same person. */
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
  /** The group's name, for the report. */
  readonly name: string
  /** Sorted ids of users, before and after. */
  readonly have: readonly string[]
  readonly want: readonly string[]
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

/**
 * A hash of what the change wants, on canonical values: two changes with one fingerprint do the same to the same
 * entry. Approvals and rejections name changes by it, quarantine remembers it. Whom an e-mail is taken from is part of it:
 * what a service refused while the address was somebody's is tried again as soon as it is free. 32 hexadecimal digits.
 */
export function fingerprint(change: Change): string {
  return hash('sha256', JSON.stringify([change.op, change.id, wantedValues(change)])).slice(0, 32)
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
