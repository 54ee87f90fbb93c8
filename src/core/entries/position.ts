import type { Difference } from '../block.ts'
/**
 * How new the data of a server is: the newest change of each origin (a server id, an invocation id, a replica id, each
 * behind its naming context). Values of one origin are digits or texts of fixed length: the longer one is newer, and of
 * equally long ones the one that sorts last.
 */
export type Position = Readonly<Record<string, string>>

export interface ServerEvidence {
  /** As configured: scheme, host and port. */
  readonly url: string
  readonly address: string
  /** Addresses behind the configured URLs; with more than one, the next read may reach another server. */
  readonly addresses: number
  /** `dc=example,dc=org ID` per naming context, joined by `; `. Positions are comparable within one database only. */
  readonly database: string | undefined
  /** At the end of the read, so the read has no later change; `undefined` where this account cannot read it. */
  readonly position: Position | undefined
  /** Before the first entry, if it has changed since: only changes up to here are certainly in the read. */
  readonly positionAtStart?: Position | undefined
  /** For a server without a position: another value means another or a newly filled server. */
  readonly hints: Readonly<Record<string, string>>
}

interface DatabasePosition {
  readonly database?: string | undefined
  readonly position: Position
}

/**
 * The seen position against the known one. `newer` has all of it and more; `older` has a part of it; `incomparable`
 * lacks something and has something else. `lacks` is the first difference that it lacks.
 */
type Comparison =
  | { readonly order: 'equal' | 'newer' }
  | { readonly order: 'older' | 'incomparable'; readonly lacks: Difference }

/**
 * Positions of different databases are incomparable; a known position without a database is compared with any. Naming
 * contexts that are not read any more do not count, unless all are different.
 */
export function comparePositions(known: DatabasePosition, seen: DatabasePosition): Comparison {
  const isRead = readContexts(known, seen)
  const databases = partsOf(seen.database)
  const other = partsOf(known.database)
    .filter(isRead)
    .find((part) => !databases.includes(part))
  if (other !== undefined)
    return { order: 'incomparable', lacks: { key: 'database', known: other, seen: seen.database ?? null } }
  const still = Object.fromEntries(Object.entries(known.position).filter(([key]) => isRead(key)))
  const lacks = firstLack(still, seen.position)
  const hasMore = firstLack(seen.position, still) !== undefined
  if (lacks === undefined) return { order: hasMore ? 'newer' : 'equal' }
  return { order: hasMore ? 'incomparable' : 'older', lacks }
}

function readContexts(known: DatabasePosition, seen: DatabasePosition): (key: string) => boolean {
  const now = new Set(partsOf(seen.database).map(contextOf))
  const before = new Set(partsOf(known.database).map(contextOf))
  const gone = before.isDisjointFrom(now) ? new Set<string>() : before.difference(now)
  return (key) => !gone.has(contextOf(key))
}

/** Each part is a naming context, a blank, and the server's name of that database. */
function partsOf(database: string | undefined): readonly string[] {
  return database === undefined ? [] : database.split('; ')
}

function contextOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf(' ')))
}

/** The first value that the other lacks, or that is not as it should be. */
function firstLack(
  known: Readonly<Record<string, string>>,
  seen: Readonly<Record<string, string>>,
  isEnough: (key: string, value: string, other: string) => boolean = (_, value, other) =>
    !isSmaller(other, value),
): Difference | undefined {
  for (const [key, value] of Object.entries(known).toSorted(byKey)) {
    const other = Object.hasOwn(seen, key) ? (seen[key] ?? null) : null
    if (other === null || !isEnough(key, value, other)) return { key, known: value, seen: other }
  }
  return undefined
}

/** Values of one key are digits without leading zeros, or texts of one length. */
function isSmaller(value: string, other: string): boolean {
  return value.length === other.length ? value < other : value.length < other.length
}

/** Hints that only grow; any other value of the other hints means another or a newly filled server. */
const CHANGE_NUMBER = /usn(?:;|$)/i

export function changedHint(
  known: ServerEvidence['hints'],
  seen: ServerEvidence['hints'],
): Difference | undefined {
  return firstLack(known, seen, fits)
}

function fits(key: string, known: string, seen: string): boolean {
  if (known === seen) return true
  const areNumbers = [known, seen].every((value) => /^-?\d+$/.test(value))
  return CHANGE_NUMBER.test(key) && areNumbers && BigInt(seen) >= BigInt(known)
}

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1
}
