import type { Kind } from '../entries/entry.ts'
import type { Fact } from '../facts.ts'
import type { NoticeParams, NotMade, Wait } from '../notice.ts'
import { type Change, membersDifference } from './change.ts'
import type { Waits } from './inputs.ts'

type WaitNotice = Fact<Pick<NoticeParams, 'in-grace' | 'unproved' | 'reborn'>>

/** Members have their own rules, because new ones need not wait. */
export function whyWaits(waits: Waits | undefined, kind: Kind, change: Change): WaitNotice | undefined {
  if (waits === undefined) return undefined
  const { everything, allButNew, whyNotDeleted, isReborn } = waits
  const unlessNew = everything ?? allButNew
  switch (change.op) {
    case 'set-members':
      return everything && unproved(change, everything)
    case 'create-user':
    case 'create-group':
      if (everything !== undefined) return unproved(change, everything)
      return isReborn?.(kind, change.id) === true ? { code: 'reborn', params: notMade(change) } : undefined
    case 'update-user':
    case 'update-group':
      return unlessNew && unproved(change, unlessNew)
    case 'delete-user':
    case 'delete-group': {
      if (unlessNew !== undefined) return unproved(change, unlessNew)
      const wait = whyNotDeleted?.(kind, change.id)
      if (wait?.code === 'unproved') return unproved(change, wait.params.wait)
      return wait && { code: 'in-grace', params: { ...notMade(change), ...wait.params } }
    }
  }
}

function unproved(change: Change, wait: Wait): WaitNotice {
  return { code: 'unproved', params: { ...notMade(change), wait } }
}

/** With name and e-mail, because operators do not know users by id. */
export function notMade(change: Change): NotMade {
  const { op } = change
  if (op === 'set-members') {
    const { added, removed } = membersDifference(change)
    return { op, name: change.name, email: null, field: null, added: added.length, removed: removed.length }
  }
  const values: { readonly name?: string | null; readonly email?: string | null } =
    'have' in change ? change.have : change.want
  return {
    op,
    name: values.name ?? null,
    email: values.email ?? null,
    field: op === 'update-user' ? onlyField(change.want) : null,
    added: 0,
    removed: 0,
  }
}

function onlyField(want: { readonly email?: string; readonly name?: string }): 'email' | 'name' | null {
  if (want.email === undefined) return 'name'
  return want.name === undefined ? 'email' : null
}
