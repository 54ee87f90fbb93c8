import { hash } from 'node:crypto'
import { atOnce } from '../../base/steps.ts'
import { differenceInSteps } from '../../base/sorting.ts'
import type { Kind, MemberDifference } from '../entries/entry.ts'
import { canonicalEmail, canonicalName } from '../entries/normalize.ts'

/** Why the plan deletes an entry; `undone`: the run that the plan undoes has created it. */
export type DeleteReason = 'gone' | 'left-filter' | 'disabled' | 'undone'

export interface UserValues {
  readonly email: string | null
  readonly name: string | null
}

/** The e-mail of another user, who loses it in the same plan. */
export interface Takes {
  readonly from: string
  /** The length of the chain of changes that come first; `null` in a circle, or behind one. */
  readonly after: number | null
}

interface CreateUser {
  readonly op: 'create-user'
  readonly id: string
  readonly want: { readonly email?: string; readonly name?: string; readonly employeeId?: string }
  readonly takes?: Takes
  /** A user with this e-mail that the same plan deletes: probably the same user under the old id. */
  readonly oldId?: string
}

interface UpdateUser {
  readonly op: 'update-user'
  readonly id: string
  readonly have: UserValues
  readonly want: { readonly email?: string; readonly name?: string }
  readonly takes?: Takes
}

interface DeleteUser {
  readonly op: 'delete-user'
  readonly id: string
  readonly have: UserValues & {
    /** The ids of the groups that lose the user, sorted. */
    readonly groups: readonly string[]
  }
  readonly why: DeleteReason
  /** A user that the same plan creates: probably the same user under the new id. */
  readonly newId?: string
}

interface CreateGroup {
  readonly op: 'create-group'
  readonly id: string
  readonly want: { readonly name: string }
}

interface UpdateGroup {
  readonly op: 'update-group'
  readonly id: string
  readonly have: { readonly name: string }
  readonly want: { readonly name: string }
}

interface DeleteGroup {
  readonly op: 'delete-group'
  readonly id: string
  readonly have: { readonly name: string; readonly members: readonly string[] }
  readonly why: DeleteReason
}

interface SetMembers {
  readonly op: 'set-members'
  readonly id: string
  /** The group's name when the members are sent: the API requires it. */
  readonly name: string
  /** Sorted ids of users, before and after. */
  readonly have: readonly string[]
  readonly want: readonly string[]
}

/** Both lists are sorted. */
export function membersDifference({ have, want }: Pick<SetMembers, 'have' | 'want'>): MemberDifference {
  return atOnce(differenceInSteps(have, want))
}

/** Whether somebody loses an account, a group or a membership. */
export function takesAway(change: Change): boolean {
  return change.op === 'set-members'
    ? membersDifference(change).removed.length > 0
    : change.op === 'delete-user' || change.op === 'delete-group'
}

export type Change =
  | CreateUser
  | UpdateUser
  | DeleteUser
  | CreateGroup
  | UpdateGroup
  | DeleteGroup
  | SetMembers

export type Op = Change['op']

export type ChangeOf<O extends Op> = Extract<Change, { readonly op: O }>

export const OPS: readonly Op[] = [
  'create-user',
  'update-user',
  'delete-user',
  'create-group',
  'update-group',
  'delete-group',
  'set-members',
]

export function kindOf(op: Op): Kind {
  return op.endsWith('-user') ? 'user' : 'group'
}

/**
 * A hash of the change on canonical values, 32 hexadecimal digits: equal for changes with the same effect on the same
 * entry. Journal and quarantine identify changes by it. It covers `takes`, so a change that was
 * refused because its e-mail was taken gets a new fingerprint when the e-mail is free, and is retried at once.
 */
export function fingerprint(change: Change): string {
  return fingerprintOf(change.op, change.id, wantedValues(change))
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
