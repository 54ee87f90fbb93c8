import { DirsyncdError, networkReason, sentence, systemCode } from '../errors.ts'
import type { Log } from '../log/log.ts'
import { adviceOn } from './rights.ts'

/** Logs once that a server is away, and once that it is back, however many of its users find out. */
export interface Outage {
  /** Whether the error comes from a server that is away. Logs the first one, and then one a minute. */
  explains(error: unknown): boolean
  /** The server answers. */
  over(): void
}

const REMIND_MS = 60_000

export function createOutage(
  log: Log | undefined,
  messages: { readonly away: string; readonly back: string },
): Outage {
  let loggedAt: number | undefined
  return {
    explains(error) {
      if (!isAway(error)) return false
      if (loggedAt !== undefined && performance.now() - loggedAt < REMIND_MS) return true
      loggedAt = performance.now()
      log?.warn({ error: sentence(error) }, messages.away)
      return true
    },
    over() {
      if (loggedAt === undefined) return
      loggedAt = undefined
      log?.info(messages.back)
    },
  }
}

/**
 * Of SQL: no connection, a server that stops, has crashed, starts, or has no connection left, or one that ended the
 * transaction of a process which was frozen.
 */
const SQL_STATES = /^(08\w{3}|57P0[123]|53300|25P03)$/
/** What the drivers say without a code. */
const MESSAGES =
  /^(Connection terminated|Client (has encountered a connection error|was closed) and is not queryable|timeout exceeded when trying to connect|Connection is closed|LOADING )/

/** Answers of a Redis that is a replica, has too few replicas, or whose memory or disk is full. */
const NO_WRITES = /\b(READONLY|UNBLOCKED|NOREPLICAS|MASTERDOWN|OOM|MISCONF) /

/**
 * Whether a query failed because the server is away, broke the connection or takes no writes for now; it may answer again
 * in a moment.
 */
export function isAway(error: unknown): boolean {
  if (networkReason(error) !== undefined) return true
  if (!(error instanceof Error)) return false
  if ('code' in error && SQL_STATES.test(String(error.code))) return true
  return MESSAGES.test(error.message) || takesNoWrites(error)
}

/** Whether Redis answers, but refuses to write. BullMQ puts some of its answers into errors of its own. */
export function takesNoWrites(error: unknown): boolean {
  if (!(error instanceof Error) || !NO_WRITES.test(error.message)) return false
  return error.name === 'ReplyError' || error.message.startsWith('Failed to add repeatable job')
}

/** Why a server is away, in words that name nobody, for an error that {@link isAway} knows. */
export function whyAway(error: unknown): string {
  const code = systemCode(error) ?? ''
  if (code === '53300') return 'it has no connection left'
  if (code.startsWith('57P0')) return 'it stops or starts, or has crashed'
  if (takesNoWrites(error)) return 'it takes no writes'
  return networkReason(error) ?? 'the connection was lost or not made in time'
}

const DISK_FULL = '53100'
/** A failing disk, and data or an index that cannot be read. */
const DAMAGED = /^(58030|XX00[12])$/

/** An error that a person must do something about, in words; any other one as it is. */
export function explainStoreError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const explained = (what: string) => new DirsyncdError('store-unavailable', what, { cause: error })
  if (error.code === DISK_FULL)
    return explained(
      `The disk of the store is full: ${sentence(error)}. Free space there; the next run begins anew.`,
    )
  if (DAMAGED.test(String(error.code)))
    return explained(
      `The store is damaged, or its disk is: ${sentence(error)}. Check the disk, and restore a backup; moving an ` +
        'embedded store away starts with an empty history.',
    )
  const advice = adviceOn(error)
  return advice === undefined ? error : explained(`The store cannot be used: ${sentence(error)}; ${advice}.`)
}
