import type { Kind } from '../directory/entry.ts'
import type { NoticeCode } from '../directory/snapshot.ts'
import { amount, digits } from '../directory/wording.ts'
import { type Change, membersDifference, type UpdateUser } from './change.ts'
import type { Waits } from './inputs.ts'

interface Wait {
  readonly code: NoticeCode
  readonly detail: string
}

/** Why this change waits, or `undefined`. Members have their own rules, because new ones need not wait. */
export function whyWaits(waits: Waits | undefined, kind: Kind, change: Change): Wait | undefined {
  if (waits === undefined) return undefined
  if (change.op === 'set-members')
    return waits.everything === undefined
      ? undefined
      : { code: 'unproved', detail: `${notMade(change)}: ${waits.everything}` }
  const wait = waitOf(waits, kind, change)
  const name = nameOf(change)
  return wait === undefined || name === '' ? wait : { ...wait, detail: `${name}: ${wait.detail}` }
}

/** `Ana Šimić <ana@example.org>: not deleted` */
export function notMade(change: Change): string {
  if (change.op === 'set-members') {
    const { added, removed } = membersDifference(change)
    return `"${change.name}": ${amount(added.length, 'member')} not added, ${digits(removed.length)} not removed`
  }
  const name = nameOf(change)
  const which = change.op === 'update-user' && Object.keys(change.want).length === 1 ? valueOf(change) : ''
  return `${name === '' ? '' : `${name}: `}${which}${NOT_MADE[change.op]}`
}

function valueOf({ want }: UpdateUser): string {
  return want.email === undefined ? 'name ' : 'e-mail '
}

const NOT_MADE: Readonly<Record<EntryChange['op'], string>> = {
  'create-user': 'not created',
  'update-user': 'not updated',
  'delete-user': 'not deleted',
  'create-group': 'not created',
  'update-group': 'not updated',
  'delete-group': 'not deleted',
}

type EntryChange = Exclude<Change, { op: 'set-members' }>

function waitOf(
  { everything, allButNew, whyNotDeleted, whyNotCreated }: Waits,
  kind: Kind,
  { op, id }: EntryChange,
): Wait | undefined {
  const unlessNew = everything ?? allButNew
  switch (op) {
    case 'create-user':
    case 'create-group': {
      if (everything !== undefined) return { code: 'unproved', detail: `not created: ${everything}` }
      const detail = whyNotCreated?.(kind, id)
      return detail === undefined ? undefined : { code: 'reborn', detail }
    }
    case 'update-user':
    case 'update-group':
      return unlessNew === undefined ? undefined : { code: 'unproved', detail: `not updated: ${unlessNew}` }
    case 'delete-user':
    case 'delete-group':
      if (unlessNew !== undefined) return { code: 'unproved', detail: `not deleted: ${unlessNew}` }
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
