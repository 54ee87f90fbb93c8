import type { AccessManagementClient } from '../api/client/client.ts'
import type { Change } from '../core/plan/change.ts'
import { groupCreation, userCreation } from './creations.ts'
import {
  findGroup,
  findUser,
  type Group,
  hasMembers,
  hasName,
  hasValues,
  paramsOf,
  sendGroup,
  sendUser,
  type User,
  writeOptions,
} from './entries.ts'
import { type WriteContext, create, type Done, remove, type TargetDirectory, update } from './idempotent.ts'

export interface Applied extends Done {
  /** Every request sent, including lookups and retries. */
  readonly requests: number
}

export interface HowToApply {
  readonly check: boolean
  /** Called before each request; an error that it throws prevents the request. */
  readonly beforeRequest?: () => void
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
  { check, beforeRequest }: HowToApply,
  signal: AbortSignal,
): Promise<Applied> {
  let requests = 0
  const onRequest = (): void => {
    beforeRequest?.()
    requests += 1
  }
  const { directoryId } = target
  const done = await applyOne({ client, directoryId, signal, onRequest, target, check }, change)
  return { ...done, requests }
}

function applyOne(context: WriteContext, change: Change): Promise<Done> {
  const { id } = change
  const { client } = context
  switch (change.op) {
    case 'create-user':
      return create(context, userCreation(context, change))
    case 'update-user':
      return update<User>(context, {
        id,
        find: () => findUser(context, id),
        isDone: (user) => hasValues(user, change.want),
        send: sendUser(context, id, change.want),
      })
    case 'delete-user':
      return remove(context, { id, find: () => findUser(context, id) }, (confirm) =>
        client.deleteUser(paramsOf(context, id), writeOptions(context, confirm)),
      )
    case 'create-group':
      return create(context, groupCreation(context, change))
    case 'update-group':
      return update<Group>(context, {
        id,
        find: () => findGroup(context, id),
        isDone: (group) => hasName(group, change.want.name),
        send: sendGroup(context, id, change.want),
      })
    case 'set-members':
      return update<Group>(context, {
        id,
        find: () => findGroup(context, id),
        isDone: (group) => hasMembers(group, change.want),
        send: sendGroup(context, id, { name: change.name, external_member_ids: [...change.want] }),
      })
    case 'delete-group':
      return remove(context, { id, find: () => findGroup(context, id) }, (confirm) =>
        client.deleteGroup(paramsOf(context, id), writeOptions(context, confirm)),
      )
  }
}
