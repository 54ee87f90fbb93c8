import { type ApiError, asMaybeDone, isApiError } from '../api/client/api-error.ts'
import type { Written } from '../api/client/methods.ts'
import { type Confirm, type Identified, type RequestContext, requireEntryOf, type Send } from './entries.ts'
import { requireDirectory } from './read-directory.ts'

/** Pass the same object for all changes, because it caches `seenAt`. */
export interface TargetDirectory {
  readonly directoryId: number
  /** When the directory was last read (`performance.now()`); set by `applyChange`. */
  seenAt?: number
}

export interface WriteContext extends RequestContext {
  readonly target: TargetDirectory
  readonly check: boolean
}

export interface Done {
  /**
   * `applied`: the service did it now. `found`: a lookup found it done, by an earlier request or another client.
   * `already`: the entry to delete did not exist. `missing`: the entry to update did not exist; the next run creates
   * it.
   */
  readonly outcome: 'applied' | 'found' | 'already' | 'missing'
  /** The HTTP status of the write; `undefined` if no write was needed. */
  readonly status: number | undefined
  /** The wanted state was there before the first request: for a delete, the entry was gone. */
  readonly wasThere?: boolean
}

const SEEN_FOR_MS = 5_000
/** A request of this change did it, and its answer was lost. */
const FOUND: Done = { outcome: 'found', status: undefined }
const FOUND_BEFORE: Done = { ...FOUND, wasThere: true }

export interface Creation<Found> {
  readonly id: string
  /** What the service shows for the id; the entry may have another id. */
  readonly find: () => Promise<Found | undefined>
  /** Sent once: after a lost answer the service may have created the entry, or may still do so. */
  readonly send: () => Promise<Written<unknown>>
  readonly isDone: (found: Found) => boolean
  readonly correct: (found: Found) => Send<Found>
}

export async function create<Found extends Identified>(
  context: WriteContext,
  creation: Creation<Found>,
): Promise<Done> {
  const found = context.check ? await creation.find() : undefined
  const sent = found === undefined ? await sendNew(context, creation) : { found, wasThere: true }
  return 'found' in sent ? complete(context, creation, sent) : sent
}

/** `wasThere`: no request of its change had created the entry. */
export interface FoundEntry<Found> {
  readonly found: Found
  readonly wasThere: boolean
}

/** Updates what differs in an existing entry. Throws `OtherEntry` where it has another id. */
export async function complete<Found extends Identified>(
  context: WriteContext,
  { id, find, isDone, correct }: Creation<Found>,
  { found, wasThere }: FoundEntry<Found>,
): Promise<Done> {
  requireEntryOf(id, found)
  if (isDone(found)) return wasThere ? FOUND_BEFORE : FOUND
  try {
    const done = await update(context, { id, find, isDone, send: correct(found) }, 'sure')
    return wasThere ? { ...done, wasThere } : done
  } catch (error) {
    // The next attempt must know that this one may have created the entry.
    if (!wasThere && isApiError(error, 'rate-limited')) throw asMaybeDone(error)
    throw error
  }
}

async function sendNew<Found>(
  context: WriteContext,
  { find, send }: Pick<Creation<Found>, 'find' | 'send'>,
): Promise<Done | FoundEntry<Found>> {
  try {
    const { status } = await send()
    return { outcome: 'applied', status }
  } catch (error) {
    if (isApiError(error, 'not-found')) await requireTarget(context)
    if (!isApiError(error) || !(error.maybeDone || error.kind === 'conflict')) throw error
    // After a 409 the entry itself may exist. If it does not, the conflict is about its values.
    const found = await (error.maybeDone ? findLost(find, error) : find())
    if (found === undefined) throw error
    return { found, wasThere: !error.maybeDone }
  }
}

/** Finds what a request created whose answer was lost. */
async function findLost<Found>(find: Creation<Found>['find'], lost: ApiError): Promise<Found | undefined> {
  try {
    return await find()
  } catch (error) {
    throw isApiError(error) ? asMaybeDone(error, lost) : error
  }
}

interface Update<Found> {
  readonly id: string
  readonly find: () => Promise<Found | undefined>
  readonly isDone: (found: Found) => boolean
  readonly send: Send<Found>
}

/** `missing` if the entry does not exist. `sure`: no lookup is needed first. */
export async function update<Found extends Identified>(
  context: WriteContext,
  { id, find, isDone, send }: Update<Found>,
  looked: 'sure' | 'unsure' = context.check ? 'unsure' : 'sure',
): Promise<Done> {
  if (looked === 'unsure') {
    const found = await find()
    if (found === undefined) return nothingThere(context, 'missing')
    if (isDone(requireEntryOf(id, found))) return FOUND_BEFORE
  }
  const confirm: Confirm<Found> = async () => {
    const found = await find()
    return found !== undefined && isDone(requireEntryOf(id, found)) ? found : undefined
  }
  try {
    const written = await send(confirm)
    return written.found ? FOUND : { outcome: 'applied', status: written.status }
  } catch (error) {
    if (!isApiError(error, 'not-found')) throw error
    return nothingThere(context, 'missing')
  }
}

/** An entry that does not exist counts as deleted. */
export async function remove(
  context: WriteContext,
  { id, find }: Pick<Creation<Identified>, 'id' | 'find'>,
  send: Send<true>,
): Promise<Done> {
  const isGone = async (): Promise<true | undefined> => {
    const found = await find()
    if (found === undefined) return true
    requireEntryOf(id, found)
    return undefined
  }
  if (context.check && (await isGone())) {
    await requireTarget(context)
    return FOUND_BEFORE
  }
  try {
    const written = await send(isGone)
    if (!written.found) return { outcome: 'applied', status: written.status }
    await requireTarget(context)
    return FOUND
  } catch (error) {
    if (!isApiError(error, 'not-found')) throw error
    return nothingThere(context, 'already')
  }
}

/** A 404 may also mean that the directory does not exist, so that is checked first. */
async function nothingThere(context: WriteContext, outcome: 'missing' | 'already'): Promise<Done> {
  await requireTarget(context)
  return { outcome, status: 404 }
}

async function requireTarget({ client, target, signal, onRequest }: WriteContext): Promise<void> {
  const { seenAt } = target
  if (seenAt !== undefined && performance.now() - seenAt < SEEN_FOR_MS) return
  await requireDirectory(client, target.directoryId, { signal, onRequest, whenLimited: 'throw' })
  target.seenAt = performance.now()
}
