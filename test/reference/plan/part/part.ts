import type { Kind } from '../../directory/entry.ts'
import { type Change, kindOf, type Op, OPS } from '../change.ts'

export const PART_NAMES = ['creates', 'updates', 'deletes', 'members'] as const
export type PartName = (typeof PART_NAMES)[number]

/** A part of a plan: the changes that meet everything that is set. */
export interface Part {
  readonly names?: readonly PartName[] | undefined
  readonly kinds?: readonly Kind[] | undefined
  /** External ids of users and groups. */
  readonly ids?: readonly string[] | undefined
}

/** Whether the change belongs to the part. Members of a group are a part of the group. */
export function isInPart(part: Part, change: Change): boolean {
  return isOpInPart(part, change.op) && isOfIds(part, change.id)
}

/** The operations of the part's changes. */
export function opsOfPart(part: Part): readonly Op[] {
  return OPS.filter((op) => isOpInPart(part, op))
}

function isOpInPart(part: Part, op: Op): boolean {
  return isNamed(part, nameOf(op)) && isOfKind(part, kindOf(op))
}

/** Whether the membership of a user in a group belongs to the part: it does by either of the two ids. */
export function isMembershipInPart(part: Part, group: string, user: string): boolean {
  return isNamed(part, 'members') && isOfKind(part, 'group') && isOfIds(part, group, user)
}

function isNamed({ names }: Part, name: PartName): boolean {
  return names === undefined || names.includes(name)
}

function isOfKind({ kinds }: Part, kind: Kind): boolean {
  return kinds === undefined || kinds.includes(kind)
}

function isOfIds({ ids }: Part, ...some: readonly string[]): boolean {
  return ids === undefined || some.some((id) => ids.includes(id))
}

function nameOf(op: Op): PartName {
  if (op === 'set-members') return 'members'
  return op.startsWith('create-') ? 'creates' : op.startsWith('delete-') ? 'deletes' : 'updates'
}
