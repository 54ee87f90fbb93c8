import type { Kind } from '../entries/entry.ts'
import { type Change, type ChangeOf, membersDifference } from './change.ts'

/**
 * The state of a change that others need: it waits for a retry, or it was not made. `undecided`: the list of the
 * directory was not whole, so an unlisted user may have the e-mail.
 */
export type Unmet = 'waits' | 'not-made' | 'undecided'

export interface UnmetNeeds {
  /** The entries that were not created. */
  readonly creates: Readonly<Record<Kind, ReadonlyMap<string, Unmet>>>
  /** The users who keep the e-mail that another one gets. */
  readonly owners: ReadonlyMap<string, Unmet>
}

/** The change without the keys whose needs are not met. `Unmet` where it has to wait, or where nothing is left of it. */
export function withoutUnmet(change: Change, unmet: UnmetNeeds): Change | Unmet {
  if (change.op === 'set-members') return withoutMembers(change, unmet)
  return change.op === 'create-user' || change.op === 'update-user' ? withoutEmail(change, unmet) : change
}

function withoutEmail(
  change: ChangeOf<'create-user'> | ChangeOf<'update-user'>,
  { owners }: UnmetNeeds,
): Change | Unmet {
  const owner = change.takes && owners.get(change.takes.from)
  if (owner === undefined) return change
  if (owner !== 'not-made') return owner
  const { takes: _, ...rest } = change
  const { email: _email, ...want } = change.want
  const isEmpty = change.op === 'update-user' && want.name === undefined
  return isEmpty ? 'not-made' : { ...rest, want }
}

function withoutMembers(change: ChangeOf<'set-members'>, { creates }: UnmetNeeds): Change | Unmet {
  const group = creates.group.get(change.id)
  if (group !== undefined) return group
  if (creates.user.size === 0) return change
  const missing = change.want.filter((id) => creates.user.has(id))
  if (missing.length === 0) return change
  if (missing.some((id) => creates.user.get(id) === 'waits')) return 'waits'
  const left = { ...change, want: change.want.filter((id) => !creates.user.has(id)) }
  const { added, removed } = membersDifference(left)
  return added.length + removed.length === 0 ? 'not-made' : left
}
