import { sortedUnique } from '../entries/normalize.ts'
import {
  type Change,
  fingerprint,
  memberFingerprint,
  membersDifference,
  partFingerprints,
  type SetMembers,
  type UpdateUser,
  updatesOfOneValue,
} from './change.ts'

export interface Parted {
  /** The rest to do; `undefined` where nothing is left. */
  readonly change: Change | undefined
  readonly left: Change
  readonly rejected: readonly [string, ...string[]]
}

/** `undefined` where no part was rejected, or the change has no parts. */
export function withoutRejected(change: Change, isRejected: (print: string) => boolean): Parted | undefined {
  if (change.op === 'set-members') return withoutMembers(change, isRejected)
  return change.op === 'update-user' ? withoutValues(change, isRejected) : undefined
}

function withoutValues(change: UpdateUser, isRejected: (print: string) => boolean): Parted | undefined {
  const updates = updatesOfOneValue(change)
  const [left, ...others] = updates.filter((update) => isRejected(fingerprint(update)))
  // A single value is the whole change.
  if (left === undefined || updates.length === 1) return undefined
  const rest = updates.find((update) => !isRejected(fingerprint(update)))
  if (rest === undefined)
    return { change: undefined, left: change, rejected: [fingerprint(left), ...others.map(fingerprint)] }
  const { takes } = change
  const isEmail = rest.want.email !== undefined
  return {
    change: isEmail && takes !== undefined ? { ...rest, takes } : rest,
    left,
    rejected: [fingerprint(left)],
  }
}

/** Removes the members that `isRejected` names by their fingerprints; `undefined` where there are none. */
function withoutMembers(change: SetMembers, isRejected: (print: string) => boolean): Parted | undefined {
  const { id, have } = change
  const { added, removed } = membersDifference(change)
  const notAdded = added.filter((member) => isRejected(memberFingerprint(id, 'added', member)))
  const notRemoved = removed.filter((member) => isRejected(memberFingerprint(id, 'removed', member)))
  const [without, out] = [new Set(notAdded), new Set(notRemoved)]
  const want = sortedUnique([...change.want.filter((member) => !without.has(member)), ...notRemoved])
  const left = { ...change, want: sortedUnique([...have.filter((member) => !out.has(member)), ...notAdded]) }
  const [first, ...others] = partFingerprints(left)
  if (first === undefined) return undefined
  const isNothing = notAdded.length === added.length && notRemoved.length === removed.length
  return { change: isNothing ? undefined : { ...change, want }, left, rejected: [first, ...others] }
}
