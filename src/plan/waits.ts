import type { Kind } from '../directory/entry.ts'
import type { NoticeCode } from '../directory/snapshot.ts'
import type { Change } from './change.ts'
import type { Waits } from './inputs.ts'

/** Why this change waits, or `undefined`. Members have their own rules, because new ones need not wait. */
export function whyWaits(
  waits: Waits | undefined,
  kind: Kind,
  { op, id }: Change,
): { readonly code: NoticeCode; readonly detail: string } | undefined {
  if (waits === undefined) return undefined
  const { allButNew, whyNotDeleted, whyNotCreated } = waits
  switch (op) {
    case 'create-user':
    case 'create-group': {
      const detail = whyNotCreated?.(kind, id)
      return detail === undefined ? undefined : { code: 'reborn', detail }
    }
    case 'update-user':
    case 'update-group':
      return allButNew === undefined ? undefined : { code: 'unproved', detail: `not updated: ${allButNew}` }
    case 'delete-user':
    case 'delete-group':
      if (allButNew !== undefined) return { code: 'unproved', detail: `not deleted: ${allButNew}` }
      return whyNotDeleted?.(kind, id)
    case 'set-members':
      return undefined
  }
}
