import { canonicalName, isSameEmail } from '../directory/normalize.ts'
import type { DirectorySnapshot, SourceSnapshot } from '../directory/snapshot.ts'
import {
  type Change,
  type CreateUser,
  fingerprint,
  memberFingerprint,
  membersDifference,
  partFingerprints,
  type SetMembers,
  type UpdateUser,
  updatesOfOneValue,
} from './change.ts'

interface Sides {
  readonly source: SourceSnapshot
  readonly directory: DirectorySnapshot
}

/**
 * The fingerprints of a change that was decided about, and of its parts, that the source still asks for and the directory
 * does not have: another change may do the same together with something else, and hides it in a plan. The change itself
 * is one of them as long as any part of it is.
 */
export function stillAsked(change: Change, { source, directory }: Sides): readonly string[] {
  const { id } = change
  const print = fingerprint(change)
  switch (change.op) {
    case 'create-user':
      return !directory.users.has(id) && isWanted(change, source) ? [print, ...partFingerprints(change)] : []
    case 'update-user':
      return valuesAsked(change, { source, directory })
    case 'delete-user':
      return directory.users.has(id) && !source.seen.user.has(id) ? [print] : []
    case 'create-group':
      return !directory.groups.has(id) && isNamed(source.groups.get(id)?.name, change.want) ? [print] : []
    case 'update-group': {
      const have = directory.groups.get(id)
      const isOpen = have !== undefined && !isNamed(have.name, change.want)
      return isOpen && isNamed(source.groups.get(id)?.name, change.want) ? [print] : []
    }
    case 'delete-group':
      return directory.groups.has(id) && !source.seen.group.has(id) ? [print] : []
    case 'set-members': {
      const asked = membersAsked(change, { source, directory })
      return asked.length === 0 ? [] : [print, ...asked]
    }
  }
}

function isWanted({ id, want }: CreateUser, source: SourceSnapshot): boolean {
  const user = source.users.get(id)
  if (user === undefined) return false
  return (
    (want.email === undefined || isSameEmail(want.email, user.email ?? null)) &&
    (want.name === undefined || isNamed(user.name, { name: want.name })) &&
    (want.employeeId === undefined || want.employeeId === user.employeeId)
  )
}

function valuesAsked(change: UpdateUser, { source, directory }: Sides): readonly string[] {
  const [want, have] = [source.users.get(change.id), directory.users.get(change.id)]
  if (want === undefined || have === undefined) return []
  const asked = updatesOfOneValue(change).filter(({ want: { email, name } }) =>
    email === undefined
      ? isNamed(want.name, { name: name! }) && !isNamed(have.name ?? undefined, { name: name! })
      : isSameEmail(email, want.email ?? null) && !isSameEmail(email, have.email),
  )
  return asked.length === 0 ? [] : [fingerprint(change), ...asked.map(fingerprint)]
}

function membersAsked(change: SetMembers, { source, directory }: Sides): readonly string[] {
  const { id } = change
  const { added, removed } = membersDifference(change)
  const [listed, there] = [
    new Set(source.groups.get(id)?.members),
    new Set(directory.groups.get(id)?.members),
  ]
  if (!source.groups.has(id)) return []
  return [
    ...added
      .filter((member) => listed.has(member) && !there.has(member))
      .map((member) => memberFingerprint(id, 'added', member)),
    ...removed
      .filter((member) => !listed.has(member) && there.has(member))
      .map((member) => memberFingerprint(id, 'removed', member)),
  ]
}

function isNamed(name: string | undefined, want: { readonly name: string }): boolean {
  return name !== undefined && canonicalName(name) === canonicalName(want.name)
}
