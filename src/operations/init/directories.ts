import { randomUUID } from 'node:crypto'
import { isApiError } from '../../api/client/api-error.ts'
import type { SyncConfig } from '../../config/config.ts'
import { DirsyncdError } from '../../base/errors.ts'
import type { Log } from '../../base/log/log.ts'
import { apiProblem } from '../../target/api-problem.ts'
import { openClient } from '../../compose/site.ts'

export interface ListedDirectory {
  readonly id: number
  readonly name: string
  /** As the service calls it, such as `ldap`. */
  readonly type: string
  /** `undefined` where the service does not say. */
  readonly users: number | undefined
}

const MOST = 1000

/** Directories beyond these get no number of users. */
const COUNTED = 30

/** Throws what a run would, and `directory-unknown` for an unknown organization. */
export async function listDirectories(
  sync: SyncConfig,
  log: Log,
  signal: AbortSignal,
): Promise<readonly ListedDirectory[]> {
  const deviceId = `dirsyncd-init-${randomUUID()}`
  await using client = openClient(sync, { deviceId, limit: undefined, onTokenLife: () => {}, log })
  const found: ListedDirectory[] = []
  try {
    for await (const { id, name, target_type: type } of client.each.listDirectories({}, { signal })) {
      found.push({ id, name, type, users: undefined })
      if (found.length === MOST) break
    }
    const counted = found.slice(0, COUNTED)
    // Without its number a directory can be chosen all the same.
    const totals = await Promise.all(
      counted.map(({ id }) =>
        client.listUsers({ directory_id: id }, { perPage: 1, signal }).then(
          ({ total }) => total,
          () => undefined,
        ),
      ),
    )
    return found.map((each, at) => ({ ...each, users: totals[at] }))
  } catch (error) {
    signal.throwIfAborted()
    if (isApiError(error, 'not-found')) throw organizationUnknown(sync, error)
    throw apiProblem(error)
  }
}

function organizationUnknown({ directory: { organizationId, baseUrl } }: SyncConfig, cause: unknown) {
  return new DirsyncdError(
    'directory-unknown',
    `${baseUrl} knows no organization ${organizationId} to which this token belongs: check its number and the address.`,
    { cause },
  )
}
