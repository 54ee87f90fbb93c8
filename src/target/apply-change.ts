import { type ApiError, asMaybeDone, isApiError } from '../api/client/api-error.ts'
import type { AccessManagementClient } from '../api/client/client.ts'
import type { Create } from '../core/plan/batches.ts'
import { type Change, kindOf } from '../core/plan/change.ts'
import type { Outcome } from '../core/plan/outcome.ts'
import type { Shown, VerifiedChange } from '../core/plan/verification.ts'
import {
  find,
  isDone,
  type RequestContext,
  requireEntryOf,
  sendCreates,
  sendDelete,
  sendValues,
} from './entries.ts'
import { requireDirectory } from './read-directory.ts'

/** Pass the same object for all changes, because it caches `seenAt`. */
export interface TargetDirectory {
  readonly directoryId: number
  /** When the directory was last read (`performance.now()`); set by `applyChange`. */
  seenAt?: number
}

export interface HowToApply {
  /** Look the entry up with GET first. */
  readonly check: boolean
  /** Called before each request; an error that it throws prevents the request. */
  readonly beforeRequest?: () => void
}

/** `requests` counts every request sent, including lookups and retries. */
export type Applied = Extract<Outcome, { readonly requests: number }>

type Done = Omit<Applied, 'requests'>

export interface WriteContext extends RequestContext {
  readonly target: TargetDirectory
  readonly check: boolean
  /** Returns how many requests were sent since its last call. */
  readonly takeRequests: () => number
}

/**
 * Applies one change idempotently. With `check` (an earlier attempt may have succeeded, or the directory changed while
 * it was read) it sends a GET before the write. After a lost answer it always sends a GET before a retry.
 *
 * Throws the client's `ApiError`, with `maybeDone` if the change may have been done, and a `DirsyncdError`
 * `directory-unknown` if the directory does not exist.
 */
export async function applyChange(
  client: AccessManagementClient,
  target: TargetDirectory,
  change: Change,
  how: HowToApply,
  signal: AbortSignal,
): Promise<Applied> {
  const context = contextOf(client, target, how, signal)
  const done = await applyOne(context, change)
  return { ...done, requests: context.takeRequests() }
}

export function contextOf(
  client: AccessManagementClient,
  target: TargetDirectory,
  { check, beforeRequest }: HowToApply,
  signal: AbortSignal,
): WriteContext {
  let requests = 0
  const onRequest = (): void => {
    beforeRequest?.()
    requests += 1
  }
  const takeRequests = (): number => {
    const taken = requests
    requests = 0
    return taken
  }
  const { directoryId } = target
  return { client, directoryId, signal, onRequest, whenLimited: 'throw', target, check, takeRequests }
}

function applyOne(context: WriteContext, change: Change): Promise<Done> {
  switch (change.op) {
    case 'create-user':
    case 'create-group':
      return create(context, change)
    case 'update-user':
    case 'update-group':
    case 'set-members':
      return update(context, change)
    case 'delete-user':
    case 'delete-group':
      return remove(context, change)
  }
}

export function findOf(context: RequestContext, { op, id }: Change): Promise<Shown | undefined> {
  return find(context, kindOf(op), id)
}

const SEEN_FOR_MS = 5_000
/** A request of this change did it, and its answer was lost. */
const FOUND: Done = { result: 'found', status: undefined }
const FOUND_BEFORE: Done = { ...FOUND, wasThere: true }

async function create(context: WriteContext, change: Create): Promise<Done> {
  const found = context.check ? await findOf(context, change) : undefined
  const sent = found === undefined ? await sendNew(context, change) : { found, wasThere: true }
  return 'found' in sent ? complete(context, change, sent) : sent
}

/** `wasThere`: no request of its change had created the entry. */
interface FoundEntry {
  readonly found: Shown
  readonly wasThere: boolean
}

/** Updates what differs in an existing entry. Throws `OtherEntry` where it has another id. */
export async function complete(
  context: WriteContext,
  change: Create,
  { found, wasThere }: FoundEntry,
): Promise<Done> {
  requireEntryOf(change.id, found)
  if (isDone(change, found)) return wasThere ? FOUND_BEFORE : FOUND
  try {
    const done = await send(context, change, found)
    return wasThere ? { ...done, wasThere } : done
  } catch (error) {
    // The next attempt must know that this one may have created the entry.
    if (!wasThere && isApiError(error, 'rate-limited')) throw asMaybeDone(error)
    throw error
  }
}

async function sendNew(context: WriteContext, change: Create): Promise<Done | FoundEntry> {
  try {
    const { status } = await sendCreates(context, [change])
    return { result: 'applied', status }
  } catch (error) {
    if (isApiError(error, 'not-found')) await requireTarget(context)
    if (!isApiError(error) || !(error.maybeDone || error.kind === 'conflict')) throw error
    // After a 409 the entry itself may exist. If it does not, the conflict is about its values.
    const found = await (error.maybeDone ? findLost(context, change, error) : findOf(context, change))
    if (found === undefined) throw error
    return { found, wasThere: !error.maybeDone }
  }
}

/** Finds what a request created whose answer was lost. */
async function findLost(context: WriteContext, change: Create, lost: ApiError): Promise<Shown | undefined> {
  try {
    return await findOf(context, change)
  } catch (error) {
    throw isApiError(error) ? asMaybeDone(error, lost) : error
  }
}

type Update = Exclude<VerifiedChange, Create>

/** `missing` if the entry does not exist. */
async function update(context: WriteContext, change: Update): Promise<Done> {
  if (context.check) {
    const found = await findOf(context, change)
    if (found === undefined) return nothingThere(context, 'missing')
    if (isDone(change, requireEntryOf(change.id, found))) return FOUND_BEFORE
  }
  return send(context, change)
}

async function send(context: WriteContext, change: VerifiedChange, there?: Shown): Promise<Done> {
  const confirm = async (): Promise<Shown | undefined> => {
    const found = await findOf(context, change)
    return found !== undefined && isDone(change, requireEntryOf(change.id, found)) ? found : undefined
  }
  try {
    const written = await sendValues(context, change, there, confirm)
    return written.found ? FOUND : { result: 'applied', status: written.status }
  } catch (error) {
    if (!isApiError(error, 'not-found')) throw error
    return nothingThere(context, 'missing')
  }
}

/** An entry that does not exist counts as deleted. */
async function remove(context: WriteContext, change: Change): Promise<Done> {
  const isGone = async (): Promise<true | undefined> => {
    const found = await findOf(context, change)
    if (found === undefined) return true
    requireEntryOf(change.id, found)
    return undefined
  }
  if (context.check && (await isGone())) {
    await requireTarget(context)
    return FOUND_BEFORE
  }
  try {
    const written = await sendDelete(context, kindOf(change.op), change.id, isGone)
    if (!written.found) return { result: 'applied', status: written.status }
    await requireTarget(context)
    return FOUND
  } catch (error) {
    if (!isApiError(error, 'not-found')) throw error
    return nothingThere(context, 'already')
  }
}

/** A 404 may also mean that the directory does not exist, so that is checked first. */
async function nothingThere(context: WriteContext, result: 'missing' | 'already'): Promise<Done> {
  await requireTarget(context)
  return { result, status: 404 }
}

async function requireTarget({ client, target, signal, onRequest }: WriteContext): Promise<void> {
  const { seenAt } = target
  if (seenAt !== undefined && performance.now() - seenAt < SEEN_FOR_MS) return
  await requireDirectory(client, target.directoryId, { signal, onRequest, whenLimited: 'throw' })
  target.seenAt = performance.now()
}
