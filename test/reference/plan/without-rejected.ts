import { sortedUnique } from '../directory/normalize.ts'
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

/** A change of which a person rejected some or all parts. */
export interface Parted {
  /** What is left to do; `undefined` where that is nothing. */
  readonly change: Change | undefined
  /** What is not done. */
  readonly left: Change
  /** The fingerprints of its parts. */
  readonly rejected: readonly [string, ...string[]]
}

/** A change without the parts whose fingerprints a person rejected; `undefined` where there are none, or it has no parts. */
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

/**
 * The change without the members whom `isRejected` names by their fingerprints, what is left of it as it is, and these
 * fingerprints; `undefined` where there are none.
 */
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
