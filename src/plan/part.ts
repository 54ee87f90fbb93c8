import type { Kind } from '../directory/entry.ts'
import { type Change, kindOf } from './change.ts'

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
  return isNamed(part, nameOf(change)) && isOfKind(part, kindOf(change.op)) && isOfIds(part, change.id)
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

function nameOf({ op }: Change): PartName {
  if (op === 'set-members') return 'members'
  return op.startsWith('create-') ? 'creates' : op.startsWith('delete-') ? 'deletes' : 'updates'
}
