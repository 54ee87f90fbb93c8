import type { PartName } from '../../decide.ts'
import type { Kind } from '../../entries/entry.ts'
import { type Change, kindOf, type Op, OPS } from '../change.ts'

/** A part of a plan: the changes that match every field that is set. */
export interface Part {
  readonly names?: readonly PartName[] | undefined
  readonly kinds?: readonly Kind[] | undefined
  readonly ids?: readonly string[] | undefined
}

/** Members of a group belong to the group. */
export function isInPart(part: Part, change: Change): boolean {
  return isOpInPart(part, change.op) && isOfIds(part, change.id)
}

export function opsOfPart(part: Part): readonly Op[] {
  return OPS.filter((op) => isOpInPart(part, op))
}

function isOpInPart(part: Part, op: Op): boolean {
  return isNamed(part, nameOf(op)) && isOfKind(part, kindOf(op))
}

/** A membership belongs to the part by either of the two ids. */
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
