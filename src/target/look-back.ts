import { isApiError } from '../api/client/api-error.ts'
import type { AccessManagementClient } from '../api/client/client.ts'
import type { VerifiedChange, Look, Shown } from '../core/plan/verification.ts'
import { orMissing, shownGroup, shownUser } from './entries.ts'
import { apiProblem } from './api-problem.ts'
import { requireDirectory } from './read-directory.ts'

/**
 * Reads the entry of a change by id. Waits after a 429. Throws a `DirsyncdError` when the token is refused, the
 * directory does not exist or the answer is not the service's; temporary failures are `unavailable`.
 */
export async function lookBack(
  client: AccessManagementClient,
  directoryId: number,
  change: VerifiedChange,
  signal: AbortSignal,
): Promise<Look> {
  try {
    const shown = await shownOf(client, directoryId, change, signal)
    // A 404 may also mean that the directory does not exist.
    if (shown === undefined) await requireDirectory(client, directoryId, { signal })
    return { result: 'looked', shown }
  } catch (error) {
    if (isApiError(error, 'aborted', 'closed')) throw error
    const isPassing = isApiError(error, 'unreachable', 'server-error', 'rate-limited')
    if (isPassing || (isApiError(error) && error.isFromProxy))
      return { result: 'unavailable', detail: error.message }
    throw apiProblem(error)
  }
}

async function shownOf(
  client: AccessManagementClient,
  directoryId: number,
  { op, id }: VerifiedChange,
  signal: AbortSignal,
): Promise<Shown | undefined> {
  const params = { directory_id: directoryId, external_id: id }
  if (op === 'create-user' || op === 'update-user') {
    const user = await orMissing(client.getUser(params, { signal }))
    return user && shownUser(user)
  }
  const group = await orMissing(client.getGroup(params, { signal }))
  return group && shownGroup(group)
}
