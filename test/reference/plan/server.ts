import { hash } from 'node:crypto'
import type { Position, ServerEvidence } from '../directory/evidence.ts'
import { changedHint, comparePositions, type Difference } from '../directory/position.ts'
import { digits } from '../directory/wording.ts'
import type { Breach } from './guards.ts'

/** What the store keeps of the server of the last good read, as JSON. */
export interface ServerMemory extends Pick<ServerEvidence, 'url' | 'address' | 'hints'> {
  readonly database?: string | undefined
  readonly position?: ServerEvidence['position']
  /**
   * Of the servers that were not as new as the last good read, where they were when this sync added what only they
   * have.
   */
  readonly added?: readonly Position[] | undefined
  /** ISO 8601: since when no read was as new as the last good one. */
  readonly notNewerSince?: string | undefined
  /** ISO 8601: when a server without a position last looked like another or a newly filled one. */
  readonly changedAt?: string | undefined
}

/**
 * What a read of this server may change:
 * - `everything`
 * - `confirmed-deletes`: everything, but deletes only of what two good reads, `confirmAfter` apart, do not have
 * - `additions`: new users and groups are created, and members added
 * - `nothing`
 */
export type ServerScope = 'everything' | 'confirmed-deletes' | 'additions' | 'nothing'

/** The server is not as new as the last good read, and a person may accept it all the same. */
export interface ServerTrouble {
  /** Names the trouble: equal in every run until the server, its database or the last good read is another. */
  readonly token: string
  /** It has lasted for a day, so that a person must decide. */
  readonly needsPerson: boolean
}

export interface ServerJudgement {
  readonly scope: ServerScope
  /** One sentence without a full stop. */
  readonly detail: string
  readonly trouble: ServerTrouble | undefined
  /** What to keep when the run completes. */
  readonly next: ServerMemory
  /**
   * What to keep before anything is added on the word of a server that is not as new as the last good read: otherwise
   * the next read of another server would delete it again. `undefined` where nothing can be kept.
   */
  readonly withAdditions?: ServerMemory | undefined
  /** What to keep when it does not, because it fails or is held; `undefined` where nothing was kept before. */
  readonly meanwhile: ServerMemory | undefined
}

export interface Circumstances {
  readonly now: Date
  /** The time between the two reads that confirm a delete. */
  readonly confirmAfterMs: number
  /** Whether one address may lead to several servers. */
  readonly hidesServers: boolean
  /** Whether a person has accepted the trouble with this token. */
  readonly isAccepted: (token: string) => boolean
}

const NEEDS_PERSON_AFTER_MS = 24 * 60 * 60 * 1000

/**
 * Judges by the last good read how much a read of this server may change. The known position is replaced by one that
 * has all of it, or when a person accepts the server, and by nothing else.
 */
export function judgeServer(
  memory: ServerMemory | undefined,
  seen: ServerEvidence,
  circumstances: Circumstances,
): ServerJudgement {
  const doubt = doubtAbout(memory, seen)
  if (memory === undefined || doubt === undefined)
    return seen.position === undefined
      ? judgeByHints(memory, seen, circumstances)
      : allowed(
          `${nameOf(seen)} ${memory === undefined ? 'is read for the first time' : HAS_ALL}`,
          memory,
          seen,
        )
  return judgeDoubt(memory, seen, doubt, circumstances)
}

/** What waits because of the server, for the report. An approval names the trouble. */
export function serverFindings({ detail, trouble }: ServerJudgement): Breach[] {
  if (trouble === undefined) return []
  const { token, needsPerson } = trouble
  const changes = needsPerson ? [token] : []
  return [{ guard: 'server-not-newer', detail, changes, waitsFor: needsPerson ? 'person' : 'better-read' }]
}

interface Doubt {
  readonly scope: 'additions' | 'nothing'
  /** What is wrong, and what happens. */
  readonly sentence: string
}

/** Why this read may not have all that the last good read had; `undefined` without a known position. */
function doubtAbout(memory: ServerMemory | undefined, seen: ServerEvidence): Doubt | undefined {
  if (memory?.position === undefined) return undefined
  const server = nameOf(seen)
  if (seen.position === undefined) {
    const [key = 'position', known] = Object.entries(memory.position).toSorted()[0] ?? []
    const sentence = `${server} does not show how new its data is, and the last good read did (${said({ key, known, seen: undefined })})`
    return { scope: 'additions', sentence: `${sentence}; ${ONLY_ADDITIONS}; ${ASK_CHECK}` }
  }
  const known = { ...memory, position: memory.position }
  // A server that caught up while it was read gave its first entries before that.
  const position = seen.positionAtStart ?? seen.position
  const comparison = comparePositions(known, { ...seen, position })
  if (!('lacks' in comparison)) return doubtAboutAdded(memory, seen, position)
  const { order, lacks } = comparison
  const last = `the last good read, of ${nameOf(memory)}`
  if (order === 'older') {
    const sentence = `${server} is older than ${last} (${said(lacks)})`
    return { scope: 'nothing', sentence: `${sentence}; nothing is changed until it has caught up` }
  }
  const what =
    lacks.key === 'database'
      ? `has another database than ${last}`
      : `lacks changes that ${last}, had, and has other ones`
  return { scope: 'additions', sentence: `${server} ${what} (${said(lacks)}); ${ONLY_ADDITIONS}` }
}

/** Whoever was added on the word of another server seems to have left on a server that has not heard of them yet. */
function doubtAboutAdded(
  { added = [], database }: ServerMemory,
  seen: ServerEvidence,
  position: Position,
): Doubt | undefined {
  for (const known of added) {
    const comparison = comparePositions({ database, position: known }, { ...seen, position })
    if (!('lacks' in comparison)) continue
    const what =
      'lacks changes of another server, from which this sync has added users, groups or members since the last good read'
    const sentence = `${nameOf(seen)} ${what} (${said(comparison.lacks)}); ${ONLY_ADDITIONS}`
    return { scope: 'additions', sentence }
  }
  return undefined
}

const HAS_ALL = 'has all that the last good read had'

const ONLY_ADDITIONS = 'users, groups and members are only added until it has all that the last good read had'

const ASK_CHECK = 'dirsyncd check says what its reader must be allowed to see'

function said({ key, known = 'nothing', seen = 'nothing' }: Difference): string {
  return `${key}: ${known} then, ${seen} now`
}

function judgeDoubt(
  memory: ServerMemory,
  seen: ServerEvidence,
  { scope, sentence }: Doubt,
  { now, isAccepted }: Circumstances,
): ServerJudgement {
  const token = tokenOf(memory, seen)
  if (isAccepted(token)) {
    const detail = `a person accepted the state of ${nameOf(seen)}`
    return { scope: 'everything', detail, trouble: undefined, next: remember(seen), meanwhile: memory }
  }
  const since = sinceOf(memory, now)
  const needsPerson = now >= endOfPatience(since)
  const kept = { ...memory, notNewerSince: since.toISOString() }
  const remedy = needsPerson
    ? `it has been so since ${since.toISOString()}: approve to accept the state of this server`
    : `if that lasts until ${endOfPatience(since).toISOString()}, a run asks a person to accept this server`
  const withAdditions = scope === 'additions' ? withAdded(kept, seen) : undefined
  const detail = `${sentence}; ${remedy}`
  return { scope, detail, trouble: { token, needsPerson }, next: kept, withAdditions, meanwhile: kept }
}

function endOfPatience(since: Date): Date {
  return new Date(since.getTime() + NEEDS_PERSON_AFTER_MS)
}

/** A position of another database can never be caught up with, and one that is not shown cannot be compared. */
function withAdded(memory: ServerMemory, { database, position }: ServerEvidence): ServerMemory | undefined {
  if (position === undefined || database !== memory.database) return undefined
  const isMore = (known: Position): boolean =>
    'lacks' in comparePositions({ database, position: known }, { database, position })
  return { ...memory, added: [...(memory.added ?? []).filter(isMore), position] }
}

/** A clock that was set back must not delay the decision for ever. */
function sinceOf({ notNewerSince }: ServerMemory, now: Date): Date {
  const since = notNewerSince === undefined ? now : new Date(notNewerSince)
  return since.getTime() <= now.getTime() ? since : now
}

function tokenOf(memory: ServerMemory, { url, address, database }: ServerEvidence): string {
  const known = Object.entries(memory.position ?? {}).toSorted()
  const text = JSON.stringify([url, address, database ?? null, memory.database ?? null, known])
  return `server-${hash('sha256', text).slice(0, 32)}`
}

/** Without a position and without a known one, only the addresses and the hints tell one server from another. */
function judgeByHints(
  memory: ServerMemory | undefined,
  seen: ServerEvidence,
  { now, confirmAfterMs, hidesServers }: Circumstances,
): ServerJudgement {
  const server = nameOf(seen)
  const change = memory === undefined ? undefined : changeOf(memory, seen)
  const changedAt = change === undefined ? memory?.changedAt : now.toISOString()
  // Either way, because the clock may have been set back.
  const isRecent = changedAt !== undefined && Math.abs(now.getTime() - Date.parse(changedAt)) < confirmAfterMs
  if (!isRecent && !hidesServers && seen.addresses <= 1)
    return allowed(`${server} shows no position, and is the only server`, memory, seen)
  const reason =
    change !== undefined
      ? `is another or a newly filled server (${said(change)})`
      : isRecent
        ? `was another or a newly filled server at ${changedAt}`
        : seen.addresses > 1
          ? `is one of ${digits(seen.addresses)} addresses of the source`
          : 'may be one of several behind its address'
  const detail = `${server} shows no position and ${reason}, so a delete waits for a second read that confirms it`
  const next = { ...remember(seen), ...(isRecent && { changedAt }) }
  return { scope: 'confirmed-deletes', detail, trouble: undefined, next, meanwhile: memory }
}

/** What says that this is not the server of the last good read, or not in its state of then. */
function changeOf(memory: ServerMemory, seen: ServerEvidence): Difference | undefined {
  if (memory.address !== seen.address) return { key: 'address', known: memory.address, seen: seen.address }
  if (memory.database !== seen.database)
    return { key: 'database', known: memory.database, seen: seen.database }
  return changedHint(memory.hints, seen.hints)
}

function allowed(detail: string, memory: ServerMemory | undefined, seen: ServerEvidence): ServerJudgement {
  const meanwhile = memory && { ...memory, notNewerSince: undefined }
  return { scope: 'everything', detail, trouble: undefined, next: remember(seen), meanwhile }
}

function remember({ url, address, database, position, hints }: ServerEvidence): ServerMemory {
  return { url, address, database, position, hints }
}

/** The URL, and the address where the URL does not say it. */
function nameOf({ url, address }: Pick<ServerEvidence, 'url' | 'address'>): string {
  const saysIt = url.includes(`//${address}:`) || url.includes(`//[${address}]:`)
  return saysIt ? url : `${url} (${address})`
}
