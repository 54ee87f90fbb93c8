import { listAt } from '../../base/lists.ts'
import { byCodeUnit } from '../../base/order.ts'
import { forEachInSteps, type Steps } from '../../base/steps.ts'
import type { DirectoryUser, UserEntry } from '../entries/entry.ts'
import { canonicalEmail } from '../entries/normalize.ts'

/** An e-mail that more than one user has or wants. */
interface EmailConflict {
  /** The user that gets it, or keeps it; `undefined` where nobody may. */
  readonly owner: string | undefined
  /** Who has it in the directory, by code unit. */
  readonly holders: readonly string[]
  /** Of these, who wants to keep it. */
  readonly keeping: readonly string[]
}

/** By canonical e-mail, only those with a conflict. */
export type EmailConflicts = ReadonlyMap<string, EmailConflict>

/**
 * Each e-mail has one owner: a user that has it and keeps it, so that it does not change hands with every run, otherwise
 * the one with the smallest id.
 *
 * @param claims users of the source whose e-mail this run may write, or which have it
 * @param holders at least the directory's users that share an e-mail with one of them
 */
export function* emailConflicts(
  claims: Iterable<UserEntry>,
  holders: Iterable<DirectoryUser>,
): Steps<EmailConflicts> {
  const wantedBy = yield* byEmail(claims)
  const heldBy = yield* byEmail(holders)
  const conflicts = new Map<string, EmailConflict>()
  yield* forEachInSteps(wantedBy, ([email, wanting]) => {
    const held = heldBy.get(email) ?? []
    if (wanting.length === 1 && held.every((id) => id === wanting[0])) return
    const all = new Set(wanting)
    const having = held.toSorted(byCodeUnit)
    const keeping = having.filter((id) => all.has(id))
    conflicts.set(email, { owner: keeping[0] ?? smallest(wanting), holders: having, keeping })
  })
  return conflicts
}

function* byEmail(
  users: Iterable<{ readonly id: string; readonly email: string | null | undefined }>,
): Steps<ReadonlyMap<string, readonly string[]>> {
  const ids = new Map<string, string[]>()
  yield* forEachInSteps(users, ({ id, email }) => {
    if (email) listAt(ids, canonicalEmail(email)).push(id)
  })
  return ids
}

function smallest(ids: readonly string[]): string | undefined {
  return ids.reduce((least, id) => (id < least ? id : least), ids[0]!)
}
