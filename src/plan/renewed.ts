import { canonicalEmail } from '../directory/normalize.ts'
import type { Notice } from '../directory/snapshot.ts'
import type { Change } from './change.ts'

/**
 * Finds users whom the plan deletes and creates again under another id, sets `newId` and `oldId` on the two changes,
 * and adds a notice. Many such pairs mean that the id attribute of the sync is not stable.
 */
export function linkRenewed<P extends { readonly change: Change }>(
  planned: readonly P[],
): { readonly changes: readonly P[]; readonly notices: readonly Notice[] } {
  const left = deletedByEmail(planned.map(({ change }) => change))
  const notices: Notice[] = []
  const renewedAs = new Map<string, string>()
  const created = planned.map((each) => {
    const { change } = each
    if (change.op !== 'create-user' || change.want.email === undefined) return each
    const oldId = left.get(canonicalEmail(change.want.email))
    if (oldId === undefined) return each
    const detail = `looks like "${oldId}" under a new id, who is deleted in this plan: both have the e-mail ${change.want.email}`
    notices.push({ kind: 'user', id: change.id, code: 'new-id', detail })
    const other = renewedAs.get(oldId)
    if (other === undefined || change.id < other) renewedAs.set(oldId, change.id)
    return { ...each, change: { ...change, oldId } }
  })
  const changes = created.map((each) => {
    const newId = each.change.op === 'delete-user' ? renewedAs.get(each.change.id) : undefined
    return newId === undefined ? each : { ...each, change: { ...each.change, newId } }
  })
  return { changes, notices }
}

/** The ids of deleted users by e-mail; of several with the same e-mail, the smallest id. */
function deletedByEmail(changes: readonly Change[]): ReadonlyMap<string, string> {
  const left = new Map<string, string>()
  for (const change of changes) {
    if (change.op !== 'delete-user' || !change.have.email) continue
    const email = canonicalEmail(change.have.email)
    const other = left.get(email)
    if (other === undefined || change.id < other) left.set(email, change.id)
  }
  return left
}
