import type { Kind } from '../directory/entry.ts'
import type { NoticeCode } from '../directory/snapshot.ts'
import type { Change } from './change.ts'
import type { Waits } from './inputs.ts'

interface Wait {
  readonly code: NoticeCode
  readonly detail: string
}

/** Why this change waits, or `undefined`. Members have their own rules, because new ones need not wait. */
export function whyWaits(waits: Waits | undefined, kind: Kind, change: Change): Wait | undefined {
  if (waits === undefined || change.op === 'set-members') return undefined
  const wait = waitOf(waits, kind, change)
  const name = nameOf(change)
  return wait === undefined || name === '' ? wait : { ...wait, detail: `${name}: ${wait.detail}` }
}

type EntryChange = Exclude<Change, { op: 'set-members' }>

function waitOf(
  { allButNew, whyNotDeleted, whyNotCreated }: Waits,
  kind: Kind,
  { op, id }: EntryChange,
): Wait | undefined {
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
  }
}

/** `Ana Šimić <ana@example.org>`, because nobody knows people by their ids. */
function nameOf(change: EntryChange): string {
  const values: { readonly name?: string | null; readonly email?: string | null } =
    'have' in change ? change.have : change.want
  const { name, email } = values
  return [name ?? '', email ? `<${email}>` : ''].filter((part) => part !== '').join(' ')
}
