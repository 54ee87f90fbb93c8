import type { ChangeView } from '../../../operations/control.ts'
import { DELETE_REASONS } from '../../messages/deletes.ts'
import {
  type Change,
  type ChangeOf,
  type Op,
  type Takes,
  type UserValues,
  membersDifference,
} from '../../../core/plan/change.ts'
import { digits } from '../../../base/wording.ts'
import { printable } from '../../../base/printable.ts'

const NAMED_MEMBERS = 3

const TITLES: Readonly<Record<Op, string>> = {
  'create-user': '+ create user',
  'update-user': '~ update user',
  'delete-user': '- delete user',
  'create-group': '+ create group',
  'update-group': '~ update group',
  'delete-group': '- delete group',
  'set-members': '~ set members',
}

const WIDTH = Math.max(...Object.values(TITLES).map((title) => title.length))

/** One line: `+ create user   e-1001  Ana Šimić <ana@example.org>`, with its state unless it is pending, applied or blocked. */
export function renderChange({ change, state, detail }: ChangeView): string {
  const line =
    `${TITLES[change.op].padEnd(WIDTH)}  ${printable(change.id)}  ${whatChanges(change, state)}`.trimEnd()
  if (state === 'pending' || state === 'applied' || state === 'blocked') return line
  const why = detail ?? (state === 'missing' ? 'it is not in the directory' : undefined)
  return `${line}  [${why === undefined ? state : `${state}: ${printable(why)}`}]`
}

function whatChanges(change: Change, state: ChangeView['state']): string {
  switch (change.op) {
    case 'create-user': {
      const { name = null, email = null } = change.want
      return `${person({ name, email })}${email === null ? ' (no e-mail)' : ''}${createReason(change)}`.trimStart()
    }
    case 'update-user':
      return [
        fieldChange('name', change.have.name, change.want.name),
        `${fieldChange('email', change.have.email, change.want.email)}${takenFrom(change)}`,
      ]
        .filter((field) => field !== '')
        .join(', ')
    case 'delete-user':
      return `${person(change.have)}${deleteReason(change, state)}${createdAgain(change)}`.trimStart()
    case 'create-group':
      return printable(change.want.name)
    case 'update-group':
      return fieldChange('name', change.have.name, change.want.name)
    case 'delete-group':
      return `${printable(change.have.name)}${deleteReason(change, state)}`
    case 'set-members':
      return `${printable(change.name)}: ${membersChange(change)}`
  }
}

/** A blocked delete is listed below its reason, which says more than that the entry is absent. */
function deleteReason(
  { why }: ChangeOf<'delete-user'> | ChangeOf<'delete-group'>,
  state: ChangeView['state'],
): string {
  return state === 'blocked' && why === 'gone' ? '' : ` (${DELETE_REASONS[why]})`
}

/** A changed id is a delete and a create; each line names the other id. */
function createReason({ oldId, takes }: ChangeOf<'create-user'>): string {
  return oldId === undefined ? takenFrom({ takes }) : ` (${printable(oldId)} under a new id)`
}

function createdAgain({ newId }: ChangeOf<'delete-user'>): string {
  return newId === undefined ? '' : ` (created again as ${printable(newId)})`
}

function takenFrom({ takes }: { readonly takes?: Takes | undefined }): string {
  return takes === undefined ? '' : ` (the e-mail of ${printable(takes.from)})`
}

function person({ name, email }: UserValues): string {
  const address = email === null ? '' : `<${printable(email)}>`
  return `${printable(name ?? '')} ${address}`.trim()
}

function fieldChange(field: string, have: string | null, want: string | undefined): string {
  if (want === undefined) return ''
  return `${field}: ${have === null ? '(none)' : printable(have)} → ${printable(want)}`
}

function membersChange(change: ChangeOf<'set-members'>): string {
  const { added, removed } = membersDifference(change)
  const parts = [membersPart('added', added), membersPart('removed', removed)]
  return parts.filter((part) => part !== '').join(', ')
}

function membersPart(verb: string, ids: readonly string[]): string {
  if (ids.length === 0) return ''
  const named = ids.slice(0, NAMED_MEMBERS).map(printable).join(' ')
  const more = ids.length > NAMED_MEMBERS ? ` and ${digits(ids.length - NAMED_MEMBERS)} more` : ''
  return `${digits(ids.length)} ${verb} (${named}${more})`
}
