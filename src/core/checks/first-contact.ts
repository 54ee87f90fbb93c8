import { filterInSteps } from '../../base/steps.ts'
import type { Kind } from '../entries/entry.ts'
import { deletesIn, isDeletedLater, laterIn } from './tally.ts'
import { union } from '../keys.ts'
import type { Check } from './check.ts'

/** Deletes from a directory that this sync has not completed a run on: perhaps it is the wrong one. */
export const firstContact: Check = {
  name: 'first-contact',
  *next(facts, moment) {
    if (moment.at === 'begun') return {}
    const { size } = facts.states
    const { user, group } = moment.deleted
    // Deletes of a stopped plan were approved, so they are no loss any more.
    if (moment.end !== 'applied') {
      if (size === undefined) return {}
      return { size: { users: size.users - user.size, groups: size.groups - group.size } }
    }
    const { seen } = facts.wanted.snapshots.source
    // Entries whose delete is blocked must not look as if the source had lost them before.
    const blocked = (kind: Kind) =>
      filterInSteps(
        [...facts.wanted.absent[kind]],
        (id) => !moment.deleted[kind].has(id) && isDeletedLater(facts, kind, id),
      )
    const users = seen.user.size + (yield* blocked('user')).length
    return { size: { users, groups: seen.group.size + (yield* blocked('group')).length } }
  },
  *judge(facts) {
    if (facts.states.size !== undefined) return []
    const deletes = yield* deletesIn(facts)
    const later = { users: yield* laterIn(facts, 'users'), groups: yield* laterIn(facts, 'groups') }
    const [users, groups, memberships] = [deletes.users, deletes.groups, deletes.memberships]
    const waiting = later.users.size + later.groups.size
    if (users.count + groups.count + memberships.count + waiting === 0) return []
    const counts = { users: users.count, groups: groups.count, memberships: memberships.count }
    const keys = union([users.keys, groups.keys, memberships.keys, later.users, later.groups])
    const params = { deletes: counts, later: waiting }
    return [{ code: 'first-contact', params, stops: 'plan', until: 'decision', keys }]
  },
}
