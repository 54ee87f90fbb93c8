import { isApiError } from '../client/api-error.ts'
import type { Confirm, Send, RequestContext } from './entries.ts'
import { requireDirectory } from './read-directory.ts'

/** The directory that changes go to. Hand in one and the same object for all of them. */
export interface TargetDirectory {
  readonly directoryId: number | string
  /** When the directory itself was last seen (`performance.now()`); kept here by `applyChange`. */
  seenAt?: number
}

/** What every change of a directory is written with. */
export interface WriteContext extends RequestContext {
  readonly target: TargetDirectory
  /** Look before anything is sent. */
  readonly check: boolean
}

export interface Done {
  /**
   * `applied`: the service did it now. `found`: the wanted state was there already, from an earlier attempt, a lost
   * answer or somebody else. `already`: there was nothing to delete. `missing`: there was nothing to update; the next
   * run creates it.
   */
  readonly outcome: 'applied' | 'found' | 'already' | 'missing'
  /** Of the write's answer; `undefined` where none was needed. */
  readonly status: number | undefined
}

const SEEN_FOR_MS = 5_000
const FOUND: Done = { outcome: 'found', status: undefined }

export interface Creation<Found> {
  readonly find: () => Promise<Found | undefined>
  readonly send: Send<Found>
  readonly isDone: (found: Found) => boolean
  /** Brings an entry that is there already to the wanted values. */
  readonly correct: (found: Found) => Send<Found>
}

/** A create that finds the entry compares it and updates what differs. */
export async function create<Found>(context: WriteContext, creation: Creation<Found>): Promise<Done> {
  const found = context.check ? await creation.find() : undefined
  const sent = found === undefined ? await sendNew(context, creation) : { found }
  if (!('found' in sent)) return sent
  if (creation.isDone(sent.found)) return FOUND
  const { find, isDone } = creation
  return update(context, { find, isDone, send: creation.correct(sent.found) }, 'sure')
}

async function sendNew<Found>(
  context: WriteContext,
  { find, send }: Creation<Found>,
): Promise<Done | { readonly found: Found }> {
  try {
    const written = await send(find)
    return written.found ? { found: written.value } : { outcome: 'applied', status: written.status }
  } catch (error) {
    if (isApiError(error, 'not-found')) await requireTarget(context)
    if (!isApiError(error, 'conflict')) throw error
    // The id may be taken by the entry itself. Anything else that is in conflict is the entry's own fault.
    const found = await find()
    if (found === undefined) throw error
    return { found }
  }
}

export interface Update<Found> {
  readonly find: () => Promise<Found | undefined>
  readonly isDone: (found: Found) => boolean
  readonly send: Send<Found>
}

/** An update that finds nothing reports it. `sure` says that somebody has just looked. */
export async function update<Found>(
  context: WriteContext,
  { find, isDone, send }: Update<Found>,
  looked: 'sure' | 'unsure' = context.check ? 'unsure' : 'sure',
): Promise<Done> {
  if (looked === 'unsure') {
    const found = await find()
    if (found === undefined) return nothingThere(context, 'missing')
    if (isDone(found)) return FOUND
  }
  const confirm: Confirm<Found> = async () => {
    const found = await find()
    return found !== undefined && isDone(found) ? found : undefined
  }
  try {
    const written = await send(confirm)
    return written.found ? FOUND : { outcome: 'applied', status: written.status }
  } catch (error) {
    if (!isApiError(error, 'not-found')) throw error
    return nothingThere(context, 'missing')
  }
}

/** A delete that finds nothing is done. */
export async function remove(
  context: WriteContext,
  find: () => Promise<unknown>,
  send: Send<true>,
): Promise<Done> {
  const isGone = async (): Promise<true | undefined> => ((await find()) === undefined ? true : undefined)
  if (context.check && (await isGone())) {
    await requireTarget(context)
    return FOUND
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

/** Not found may also mean that the whole directory is gone, and then nothing is as it should be. */
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
