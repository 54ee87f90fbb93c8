import { canonicalName, isSameEmail } from '../../entries/normalize.ts'
import type { UpdateUser, UserValues } from '../change.ts'

/** On canonical values. */
export function hasValues(now: UserValues, { email, name }: UserValues): boolean {
  return isSameEmail(now.email, email) && isSameName(now.name, name)
}

/** Whether only the e-mail is missing: an undo of a part may have left it with another user. */
export function isWithoutEmail(now: UserValues, before: UserValues): boolean {
  return !now.email && Boolean(before.email) && isSameName(now.name, before.name)
}

interface RestoredFields {
  readonly email: string | undefined
  readonly name: string | undefined
  /** The fields that were empty before. */
  readonly lost: readonly ('email' | 'name')[]
}

/** Fields that still have what the update wrote. `undefined` where one has neither that nor what it had before. */
export function restoredFields(
  now: UserValues,
  have: UserValues,
  want: UpdateUser['want'],
): RestoredFields | undefined {
  const restored: { email?: string; name?: string } = {}
  const lost: ('email' | 'name')[] = []
  for (const field of ['email', 'name'] as const) {
    const written = want[field]
    if (written === undefined || IS_SAME[field](now[field], have[field])) continue
    if (!IS_SAME[field](now[field], written)) return undefined
    const before = have[field]
    if (before) restored[field] = before
    else lost.push(field)
  }
  return { email: restored.email, name: restored.name, lost }
}

function isSameName(name: string | null, other: string | null): boolean {
  return canonicalName(name ?? '') === canonicalName(other ?? '')
}

const IS_SAME = { email: isSameEmail, name: isSameName }
