import type { AccessManagementClient } from '../api/client/client.ts'
import type { DirectoryGroup, DirectoryUser, Kind } from '../core/entries/entry.ts'
import { idProblem } from '../core/entries/identity.ts'
import { sortedUnique } from '../core/entries/normalize.ts'
import { apiProblem } from './api-problem.ts'
import { findGroup, findUser, requireEntryOf } from './entries.ts'
import { requireDirectory } from './read-directory.ts'

/** `undefined` on a 404. Throws a `DirsyncdError`, also where the service answers with another id. */
export async function lookUp(
  client: AccessManagementClient,
  directoryId: number,
  { kind, id }: { readonly kind: Kind; readonly id: string },
  signal: AbortSignal,
): Promise<DirectoryUser | DirectoryGroup | undefined> {
  if (idProblem(id) !== undefined) return undefined
  const context = { client, directoryId, signal, onRequest: () => undefined }
  try {
    if (kind === 'user') {
      const user = await findUser(context, id)
      if (user !== undefined) {
        const { email, name } = requireEntryOf(id, user)
        return { id, email, name }
      }
    } else {
      const group = await findGroup(context, id)
      if (group !== undefined) {
        const { name, external_member_ids: members } = requireEntryOf(id, group)
        return { id, name, members: sortedUnique(members) }
      }
    }
    // A 404 may also mean that the directory does not exist.
    await requireDirectory(client, directoryId, { signal })
    return undefined
  } catch (error) {
    throw apiProblem(error)
  }
}
