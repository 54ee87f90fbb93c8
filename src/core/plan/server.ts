import { hash } from 'node:crypto'
import { type Position, type ServerEvidence, changedHint, comparePositions } from '../entries/position.ts'
import type { Difference, NotNewer, ServerParams, ServerState } from '../block.ts'

/** The server of the last good read, stored as JSON. */
export interface ServerMemory extends Pick<ServerEvidence, 'url' | 'address' | 'hints'> {
  readonly database?: string | undefined
  readonly position?: ServerEvidence['position']
  /** Where servers older than the last good read were when this sync added entries from them. */
  readonly added?: readonly Position[] | undefined
  /** ISO 8601: since when no read was as new as the last good one. */
  readonly notNewerSince?: string | undefined
  /** ISO 8601: when a server without a position last looked like another or a newly filled one. */
  readonly changedAt?: string | undefined
}

/**
 * What a read of this server may change:
 * - `everything`
 * - `confirmed-deletes`: everything, but deletes only of entries that two good reads, `confirmAfter` apart, lack
 * - `additions`: new users and groups are created, and members added
 * - `nothing`
 */
type ServerScope = 'everything' | 'confirmed-deletes' | 'additions' | 'nothing'

/** The server is not as new as the last good read; an operator may accept it all the same. */
interface ServerTrouble {
  /** Stable until the server, its database or the last good read changes. */
  readonly token: string
  /** It has lasted for a day, so an operator must decide. */
  readonly needsApproval: boolean
}

interface ServerJudgement {
  readonly scope: ServerScope
  readonly state: ServerState
  readonly trouble: ServerTrouble | undefined
  /** What an operator accepted. */
  readonly accepted?: { readonly token: string; readonly params: NotNewer }
  /** The record to save when the run completes. */
  readonly next: ServerMemory
  /**
   * The record to save before entries of a server that is not as new as the last good read are added: otherwise the
   * next read of another server would delete them again. `undefined` without a record.
   */
  readonly withAdditions?: ServerMemory | undefined
  /** The record to save when the run fails or is held; `undefined` without an earlier record. */
  readonly meanwhile: ServerMemory | undefined
}

interface Circumstances {
  readonly now: Date
  /** The time between the two reads that confirm a delete. */
  readonly confirmAfterMs: number
  /** Whether one address may lead to several servers. */
  readonly hidesServers: boolean
  readonly isAccepted: (token: string) => boolean
}

const ASKS_AFTER_MS = 24 * 60 * 60 * 1000

/** Only a position that has all of the known one, or an operator's approval, replaces the known position. */
export function judgeServer(
  memory: ServerMemory | undefined,
  seen: ServerEvidence,
  circumstances: Circumstances,
): ServerJudgement {
  const doubt = doubtAbout(memory, seen)
  if (memory === undefined || doubt === undefined)
    return seen.position === undefined
      ? judgeByHints(memory, seen, circumstances)
      : allowed(memory === undefined ? 'first-read' : 'current', memory, seen)
  return judgeDoubt(memory, seen, doubt, circumstances)
}

type Doubt = Pick<NotNewer, 'how' | 'difference'>

/** Why this read may lack data of the last good read; `undefined` without a known position. */
function doubtAbout(memory: ServerMemory | undefined, seen: ServerEvidence): Doubt | undefined {
  if (memory?.position === undefined) return undefined
  if (seen.position === undefined) {
    const [key = 'position', known] = Object.entries(memory.position).toSorted()[0] ?? []
    return { how: 'hidden', difference: { key, known: known ?? null, seen: null } }
  }
  const known = { ...memory, position: memory.position }
  // A server that caught up during the read sent its first entries before that.
  const position = seen.positionAtStart ?? seen.position
  const comparison = comparePositions(known, { ...seen, position })
  if (!('lacks' in comparison)) return doubtAboutAdded(memory, seen, position)
  const { order, lacks: difference } = comparison
  if (order === 'older') return { how: 'older', difference }
  return { how: difference.key === 'database' ? 'other-database' : 'diverged', difference }
}

/** Users added from another server seem to have left on a server that does not know them yet. */
function doubtAboutAdded(
  { added = [], database }: ServerMemory,
  seen: ServerEvidence,
  position: Position,
): Doubt | undefined {
  for (const known of added) {
    const comparison = comparePositions({ database, position: known }, { ...seen, position })
    if ('lacks' in comparison) return { how: 'lacks-additions', difference: comparison.lacks }
  }
  return undefined
}

function judgeDoubt(
  memory: ServerMemory,
  seen: ServerEvidence,
  doubt: Doubt,
  { now, isAccepted }: Circumstances,
): ServerJudgement {
  const token = tokenOf(memory, seen)
  const server = nameOf(seen)
  const start = sinceOf(memory, now)
  const end = new Date(start.getTime() + ASKS_AFTER_MS)
  const needsApproval = now >= end
  const [since, until] = [start.toISOString(), end.toISOString()]
  const params = { ...doubt, server, last: nameOf(memory), since, until, needsApproval }
  if (isAccepted(token)) {
    const state: ServerState = { code: 'accepted', params: { server } }
    const [next, accepted] = [remember(seen), { token, params }]
    return { scope: 'everything', state, trouble: undefined, accepted, next, meanwhile: memory }
  }
  const kept = { ...memory, notNewerSince: since }
  return {
    // An older server shows deleted entries again; the others lack some that are there.
    scope: doubt.how === 'older' ? 'nothing' : 'additions',
    state: { code: 'not-newer', params },
    trouble: { token, needsApproval },
    next: kept,
    withAdditions: doubt.how === 'older' ? undefined : withAdded(kept, seen),
    meanwhile: kept,
  }
}

/** A position of another database is never reached, and a hidden one cannot be compared. */
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

/** Without a position and without a known one, only addresses and hints tell servers apart. */
function judgeByHints(
  memory: ServerMemory | undefined,
  seen: ServerEvidence,
  { now, confirmAfterMs, hidesServers }: Circumstances,
): ServerJudgement {
  const change = memory === undefined ? undefined : changeOf(memory, seen)
  const changedAt = change === undefined ? memory?.changedAt : now.toISOString()
  // In both directions, because the clock may have been set back.
  const isRecent = changedAt !== undefined && Math.abs(now.getTime() - Date.parse(changedAt)) < confirmAfterMs
  if (!isRecent && !hidesServers && seen.addresses <= 1) return allowed('only-server', memory, seen)
  const why: ServerParams['no-state']['why'] =
    change !== undefined
      ? { how: 'other-server', difference: change }
      : isRecent
        ? { how: 'was-other-server', at: changedAt }
        : seen.addresses > 1
          ? { how: 'several-addresses', addresses: seen.addresses }
          : { how: 'perhaps-several' }
  const state: ServerState = { code: 'no-state', params: { server: nameOf(seen), why } }
  const next = { ...remember(seen), ...(isRecent && { changedAt }) }
  return { scope: 'confirmed-deletes', state, trouble: undefined, next, meanwhile: memory }
}

/** The first sign that this is another server than that of the last good read, or in another state. */
function changeOf(memory: ServerMemory, seen: ServerEvidence): Difference | undefined {
  if (memory.address !== seen.address) return { key: 'address', known: memory.address, seen: seen.address }
  if (memory.database !== seen.database)
    return { key: 'database', known: memory.database ?? null, seen: seen.database ?? null }
  return changedHint(memory.hints, seen.hints)
}

function allowed(
  code: 'first-read' | 'current' | 'only-server',
  memory: ServerMemory | undefined,
  seen: ServerEvidence,
): ServerJudgement {
  const meanwhile = memory && { ...memory, notNewerSince: undefined }
  const state: ServerState = { code, params: { server: nameOf(seen) } }
  return { scope: 'everything', state, trouble: undefined, next: remember(seen), meanwhile }
}

function remember({ url, address, database, position, hints }: ServerEvidence): ServerMemory {
  return { url, address, database, position, hints }
}

/** The URL, and the address where the URL does not contain it. */
function nameOf({ url, address }: Pick<ServerEvidence, 'url' | 'address'>): string {
  const saysIt = url.includes(`//${address}:`) || url.includes(`//[${address}]:`)
  return saysIt ? url : `${url} (${address})`
}
