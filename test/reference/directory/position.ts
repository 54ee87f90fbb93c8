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
 * How the seen position stands to the known one. `newer` has all that the known one has, and more; `older` has a part
 * of it; `incomparable` lacks something and has something else. `lacks` is the first thing that it lacks.
 */
export type Comparison =
  | { readonly order: 'equal' | 'newer' }
  | { readonly order: 'older' | 'incomparable'; readonly lacks: Difference }

/**
 * Positions of different databases are incomparable; a known position without a database is compared with any. Naming
 * contexts that are not read any more do not count, unless all are others.
 */
export function comparePositions(known: DatabasePosition, seen: DatabasePosition): Comparison {
  const isRead = readContexts(known, seen)
  const databases = partsOf(seen.database)
  const other = partsOf(known.database)
    .filter(isRead)
    .find((part) => !databases.includes(part))
  if (other !== undefined)
    return { order: 'incomparable', lacks: { key: 'database', known: other, seen: seen.database } }
  const still = Object.fromEntries(Object.entries(known.position).filter(([key]) => isRead(key)))
  const lacks = firstLack(still, seen.position)
  const hasMore = firstLack(seen.position, still) !== undefined
  if (lacks === undefined) return { order: hasMore ? 'newer' : 'equal' }
  return { order: hasMore ? 'incomparable' : 'older', lacks }
}

/** Whether a key or a database of the known position is not of a naming context that is no longer read. */
function readContexts(known: DatabasePosition, seen: DatabasePosition): (key: string) => boolean {
  const now = new Set(partsOf(seen.database).map(contextOf))
  const before = new Set(partsOf(known.database).map(contextOf))
  const gone = before.isDisjointFrom(now) ? new Set<string>() : before.difference(now)
  return (key) => !gone.has(contextOf(key))
}

/** Each of them is the name of a naming context, a blank, and what the server calls that database. */
function partsOf(database: string | undefined): readonly string[] {
  return database === undefined ? [] : database.split('; ')
}

function contextOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf(' ')))
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
