import type { Kind } from '../directory/entry.ts'
import type { NoticeCode } from '../directory/snapshot.ts'
import type { Change, DeleteGroup, DeleteUser } from './change.ts'
import type { DeleteWait, Waits } from './inputs.ts'

/** Why this change waits, or `undefined`. Members have their own rules, because new ones need not wait. */
export function whyWaits(
  waits: Waits | undefined,
  kind: Kind,
  change: Change,
): { readonly code: NoticeCode; readonly detail: string } | undefined {
  if (waits === undefined) return undefined
  const { allButNew, whyNotCreated } = waits
  switch (change.op) {
    case 'create-user':
    case 'create-group': {
      const detail = whyNotCreated?.(kind, change.id)
      return detail === undefined ? undefined : { code: 'reborn', detail }
    }
    case 'update-user':
    case 'update-group':
      return allButNew === undefined ? undefined : { code: 'unproved', detail: `not updated: ${allButNew}` }
    case 'delete-user':
    case 'delete-group':
      return whyDeleteWaits(waits, kind, change)
    case 'set-members':
      return undefined
  }
}

/** With the entry's name, because a person who is absent is known by name. */
function whyDeleteWaits(
  { allButNew, whyNotDeleted }: Waits,
  kind: Kind,
  { id, have }: DeleteUser | DeleteGroup,
): DeleteWait | undefined {
  const wait: DeleteWait | undefined =
    allButNew === undefined
      ? whyNotDeleted?.(kind, id)
      : { code: 'unproved', detail: `not deleted: ${allButNew}` }
  if (wait === undefined || !have.name) return wait
  const email = 'email' in have && have.email ? ` <${have.email}>` : ''
  return { ...wait, detail: `${have.name}${email}: ${wait.detail}` }
}
