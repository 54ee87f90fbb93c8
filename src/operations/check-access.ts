import { randomUUID } from 'node:crypto'
import { isApiError } from '../api/client/api-error.ts'
import type { AccessManagementClient } from '../api/client/client.ts'
import { sentence } from '../base/errors.ts'
import { apiProblem } from '../target/api-problem.ts'
import { requireDirectory } from '../target/read-directory.ts'
import { amount } from '../base/wording.ts'

export interface AccessLine {
  readonly label: string
  readonly ok: boolean
  readonly detail: string
}

/**
 * Tests the rights of the token in the directory. Reads the directory, one user and one group. With `writes` it also
 * sends a PATCH for an id that cannot exist: 404 means that the token has the scope, 403 that it has not. Problems are
 * lines with `ok: false`; rejects only when the signal is aborted.
 */
export async function checkAccess(
  client: AccessManagementClient,
  { directoryId }: { readonly directoryId: number },
  { writes }: { readonly writes: boolean },
  signal: AbortSignal,
): Promise<AccessLine[]> {
  const params = { directory_id: directoryId }
  const lines = [
    await line('directory', signal, async () => {
      await requireDirectory(client, directoryId, { signal })
      return `directory ${directoryId} of organization ${client.organizationId} at ${client.baseUrl}`
    }),
  ]
  if (!lines[0]?.ok) return lines
  lines.push(
    await line('users', signal, async () =>
      seen('user', await client.listUsers(params, { perPage: 1, signal })),
    ),
    await line('groups', signal, async () =>
      seen('group', await client.listGroups(params, { perPage: 1, signal })),
    ),
  )
  if (writes) lines.push(await line('writing', signal, () => proveWriting(client, directoryId, signal)))
  if (client.tokenExpiresIn !== undefined) {
    const seconds = client.tokenExpiresIn
    const when = seconds > 0 ? `expires in ${inWords(seconds)}` : 'has expired'
    lines.push({ label: 'token', ok: seconds > 0, detail: `the service says that it ${when}` })
  }
  return lines
}

/** Whole days or hours if there are at least two, else seconds. */
function inWords(seconds: number): string {
  if (seconds >= 2 * 86_400) return `${Math.floor(seconds / 86_400)} days`
  if (seconds >= 2 * 3600) return `${Math.floor(seconds / 3600)} hours`
  return `${seconds} s`
}

async function line(label: string, signal: AbortSignal, prove: () => Promise<string>): Promise<AccessLine> {
  try {
    return { label, ok: true, detail: await prove() }
  } catch (error) {
    signal.throwIfAborted()
    return { label, ok: false, detail: sentence(apiProblem(error)) }
  }
}

function seen(
  noun: string,
  page: { readonly items: readonly unknown[]; readonly total: number | undefined },
): string {
  if (page.total === undefined) return `${noun}s can be read`
  return `${amount(page.total, noun)} can be read`
}

async function proveWriting(
  client: AccessManagementClient,
  directoryId: number,
  signal: AbortSignal,
): Promise<string> {
  const nobody = { directory_id: directoryId, external_id: `dirsyncd-check-${randomUUID()}` }
  try {
    // A write to an id that does not exist changes nothing, so a retry is always safe.
    await client.updateUser(nobody, { name: 'dirsyncd check' }, { signal, confirm: async () => undefined })
  } catch (error) {
    if (isApiError(error, 'not-found')) return 'the token has the scope ORG'
    if (isApiError(error, 'refused', 'conflict')) {
      return `the token was not refused, though the service answered ${error.status} to the change of an unknown user`
    }
    throw error
  }
  return 'the token has the scope ORG, though the service accepted the change of an unknown user'
}
