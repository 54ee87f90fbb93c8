import { DirsyncdError, networkReason, sentence, systemCode } from '../errors.ts'
import type { Log } from '../log/log.ts'
import { adviceOn } from './rights.ts'

/** Logs once that a server is away, and once that it is back, for all of its users. */
export interface Outage {
  /** Whether the error comes from a server that is away. Logs the first one, and then one a minute. */
  explains(error: unknown): boolean
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
 * SQL states: no connection, a server that stops, has crashed, starts, or has no connection left, or one that ended the
 * transaction of a frozen process.
 */
const SQL_STATES = /^(08\w{3}|57P0[123]|53300|25P03)$/
/** Errors of the drivers without a code. */
const MESSAGES =
  /^(Connection terminated|Client (has encountered a connection error|was closed) and is not queryable|timeout exceeded when trying to connect|Connection is closed|LOADING )/

/** Redis is a replica, has too few replicas, or its memory or disk is full. */
const NO_WRITES = /\b(READONLY|UNBLOCKED|NOREPLICAS|MASTERDOWN|OOM|MISCONF) /

/** The server is away, broke the connection or takes no writes for now; it may answer again in a moment. */
export function isAway(error: unknown): boolean {
  if (networkReason(error) !== undefined) return true
  if (!(error instanceof Error)) return false
  if ('code' in error && SQL_STATES.test(String(error.code))) return true
  return MESSAGES.test(error.message) || takesNoWrites(error)
}

/** Redis answers, but refuses to write. BullMQ wraps some of its answers in errors of its own. */
export function takesNoWrites(error: unknown): boolean {
  if (!(error instanceof Error) || !NO_WRITES.test(error.message)) return false
  return error.name === 'ReplyError' || error.message.startsWith('Failed to add repeatable job')
}

/** For an error that {@link isAway} knows; names no host and no user. */
export function whyAway(error: unknown): string {
  const code = systemCode(error) ?? ''
  if (code === '53300') return 'it has no connection left'
  if (code.startsWith('57P0')) return 'it stops or starts, or has crashed'
  if (takesNoWrites(error)) return 'it takes no writes'
  return networkReason(error) ?? 'the connection was lost or not made in time'
}

const DISK_FULL = '53100'
/** A failing disk, or damaged data or indexes. */
const DAMAGED = /^(58030|XX00[12])$/

/** Explains an error that the operator must fix; returns any other one as it is. */
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
