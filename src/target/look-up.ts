import { isApiError } from '../api/client/api-error.ts'
import type { AccessManagementClient } from '../api/client/client.ts'
import type { DirectoryGroup, DirectoryUser, Kind } from '../core/entries/entry.ts'
import { idProblem } from '../core/entries/identity.ts'
import { sortedUnique } from '../core/entries/normalize.ts'
import { kindOf } from '../core/plan/change.ts'
import type { Look, Shown, VerifiedChange } from '../core/plan/verification.ts'
import { apiProblem } from './api-problem.ts'
import { find, requireEntryOf, type RequestContext } from './entries.ts'
import { requireDirectory } from './read-directory.ts'

/** `undefined` on a 404. Throws a `DirsyncdError`, also where the service answers with another id. */
export async function lookUp(
  client: AccessManagementClient,
  directoryId: number,
  { kind, id }: { readonly kind: Kind; readonly id: string },
  signal: AbortSignal,
): Promise<DirectoryUser | DirectoryGroup | undefined> {
  if (idProblem(id) !== undefined) return undefined
  try {
    const shown = await look({ client, directoryId, signal, whenLimited: 'throw' }, kind, id)
    if (shown === undefined) return undefined
    const { email, name, members } = requireEntryOf(id, shown)
    return kind === 'user' ? { id, email, name } : { id, name: name ?? '', members: sortedUnique(members) }
  } catch (error) {
    throw apiProblem(error)
  }
}

/**
 * Reads the entry of a change by id. Waits after a 429. Throws a `DirsyncdError` when the token is refused, the
 * directory does not exist or the answer is not the service's; temporary failures are `unavailable`.
 */
export async function lookBack(
  client: AccessManagementClient,
  directoryId: number,
  { op, id }: VerifiedChange,
  signal: AbortSignal,
): Promise<Look> {
  try {
    return { result: 'looked', shown: await look({ client, directoryId, signal }, kindOf(op), id) }
  } catch (error) {
    if (isApiError(error, 'aborted', 'closed')) throw error
    const isPassing = isApiError(error, 'unreachable', 'server-error', 'rate-limited')
    if (isPassing || (isApiError(error) && error.isFromProxy))
      return { result: 'unavailable', detail: error.message }
    throw apiProblem(error)
  }
}

/** A 404 may also mean that the directory does not exist. */
async function look(context: RequestContext, kind: Kind, id: string): Promise<Shown | undefined> {
  const { client, directoryId, signal } = context
  const shown = await find(context, kind, id)
  if (shown === undefined) await requireDirectory(client, directoryId, { signal })
  return shown
}
