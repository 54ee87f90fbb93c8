import { randomUUID } from 'node:crypto'
import { isApiError } from '../client/api-error.ts'
import type { AccessManagementClient } from '../client/client.ts'
import { sentence } from '../errors.ts'
import type { Change } from '../plan/change.ts'
import { apiProblem } from './api-problem.ts'
import { applyChange } from './apply-change.ts'

/** What became of a member that was written. */
export interface TriedMembers {
  /** Whether the service shows it; `undefined` where that could not be found out. */
  readonly takes: boolean | undefined
  /** What the service answered instead, in a sentence. */
  readonly detail: string | undefined
  /** What was made and could not be deleted again, in sentences. */
  readonly left: readonly string[]
}

const NAME = 'dirsyncd check, to be deleted'

/** How long deleting may take, also after the signal was aborted, in milliseconds. */
const DELETING_MS = 30_000

/**
 * Finds out whether the service takes the members of groups, which its API does not describe: makes a user and a group
 * under a new id, writes the one into the other as a run would, looks, and deletes both. Rejects only when the signal is
 * aborted, after deleting.
 */
export async function tryMembers(
  client: AccessManagementClient,
  directoryId: number,
  signal: AbortSignal,
): Promise<TriedMembers> {
  const id = `dirsyncd-check-${randomUUID()}`
  const apply = (change: Change, by: AbortSignal) =>
    applyChange(client, { directoryId }, change, { check: false }, by)
  let left: readonly string[] = []
  let takes: boolean | undefined
  let detail: string | undefined
  try {
    await apply({ op: 'create-user', id, want: { name: NAME } }, signal)
    await apply({ op: 'create-group', id, want: { name: NAME } }, signal)
    try {
      await apply({ op: 'set-members', id, name: NAME, have: [], want: [id] }, signal)
      const group = await client.getGroup({ directory_id: directoryId, external_id: id }, { signal })
      takes = group.external_member_ids.includes(id)
    } catch (error) {
      if (!isApiError(error, 'refused', 'conflict')) throw error
      takes = false
      detail = sentence(apiProblem(error))
    }
  } catch (error) {
    if (!signal.aborted) detail = sentence(apiProblem(error))
  } finally {
    left = await deleteBoth(apply, id)
  }
  if (left.length === 0) signal.throwIfAborted()
  return { takes, detail, left }
}

/** The group first: a service may keep a user who is in one. What was never made is gone already. */
async function deleteBoth(
  apply: (change: Change, by: AbortSignal) => Promise<unknown>,
  id: string,
): Promise<readonly string[]> {
  const left: string[] = []
  const deletes: readonly Change[] = [
    { op: 'delete-group', id, have: { name: NAME, members: [] }, why: 'gone' },
    { op: 'delete-user', id, have: { email: null, name: NAME }, why: 'gone' },
  ]
  for (const change of deletes) {
    try {
      await apply(change, AbortSignal.timeout(DELETING_MS))
    } catch (error) {
      const kind = change.op === 'delete-user' ? 'user' : 'group'
      left.push(
        `The ${kind} ${id} could not be deleted: ${sentence(apiProblem(error))} Delete it in the service.`,
      )
    }
  }
  return left
}
