import type { Position, ServerEvidence } from './evidence.ts'

/** A position and the database that it is of. */
export interface DatabasePosition {
  readonly database?: string | undefined
  readonly position: Position
}

/** One thing that two reads say differently; `undefined` where a read says nothing of it. */
export interface Difference {
  /** A key of the position, the name of a hint, or `database`. */
  readonly key: string
  readonly known: string | undefined
  readonly seen: string | undefined
}

/**
 * How the seen position stands to the known one. `newer` has all that the known one has, and more; `older` has a part of
 * it; `incomparable` lacks something and has something else. `lacks` is the first thing that it lacks.
 */
export type Comparison =
  | { readonly order: 'equal' | 'newer' }
  | { readonly order: 'older' | 'incomparable'; readonly lacks: Difference }

/** Positions of different databases are incomparable; a known position without a database is compared with any. */
export function comparePositions(known: DatabasePosition, seen: DatabasePosition): Comparison {
  if (known.database !== undefined && known.database !== seen.database)
    return {
      order: 'incomparable',
      lacks: { key: 'database', known: known.database, seen: seen.database },
    }
  const lacks = firstLack(known.position, seen.position)
  const hasMore = firstLack(seen.position, known.position) !== undefined
  if (lacks === undefined) return { order: hasMore ? 'newer' : 'equal' }
  return { order: hasMore ? 'incomparable' : 'older', lacks }
}

/** The first key of `known` that is not in `seen`, or smaller there. */
function firstLack(known: Position, seen: Position): Difference | undefined {
  for (const [key, value] of Object.entries(known).toSorted(byKey)) {
    const other = Object.hasOwn(seen, key) ? seen[key] : undefined
    if (other === undefined || isSmaller(other, value)) return { key, known: value, seen: other }
  }
  return undefined
}

/** Values of one key are digits without leading zeros, or texts of one length. */
function isSmaller(value: string, other: string): boolean {
  return value.length === other.length ? value < other : value.length < other.length
}

/** Hints that only grow; any other value of the other hints means another or a newly filled server. */
const CHANGE_NUMBER = /usn(?:;|$)/i

/** The first known hint that does not fit what the server shows now; `undefined` where all of them fit. */
export function changedHint(
  known: ServerEvidence['hints'],
  seen: ServerEvidence['hints'],
): Difference | undefined {
  for (const [key, value] of Object.entries(known).toSorted(byKey)) {
    const other = Object.hasOwn(seen, key) ? seen[key] : undefined
    if (other === undefined || !fits(key, value, other)) return { key, known: value, seen: other }
  }
  return undefined
}

function fits(key: string, known: string, seen: string): boolean {
  if (known === seen) return true
  const areNumbers = [known, seen].every((value) => /^-?\d+$/.test(value))
  return CHANGE_NUMBER.test(key) && areNumbers && BigInt(seen) >= BigInt(known)
}

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1
}
