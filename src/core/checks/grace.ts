import type { Kind } from '../entries/entry.ts'
import { forEachInSteps, type Steps } from '../../base/steps.ts'
import { type Key, KeySet, keyText, wholeOf } from '../keys.ts'
import { isDeletedLater } from './tally.ts'
import type { Absence, Check, Moment, RunFacts, States } from './check.ts'
import { untilConfirmed, untilDue } from './delay.ts'

/**
 * An entry is deleted when it was absent for the grace period; its user leaves the groups at once. Where the server's
 * replication state is unknown, a second read has to lack the entry before anything of it is done.
 */
export const grace: Check = {
  name: 'grace',
  next: nextAbsences,
  *judge({ wanted, grace: rule, states, now }) {
    const [graceKeys, unconfirmed] = [new KeySet(), new KeySet()]
    const delays = new Map<string, ReturnType<typeof untilDue>>()
    for (const kind of ['user', 'group'] as const)
      yield* forEachInSteps(wanted.absent[kind], (id) => {
        const absence = states.grace?.[kind].get(id) ?? { since: now, reads: 0 }
        const [confirming, waiting] = [untilConfirmed(rule, absence, now), untilDue(rule, kind, absence, now)]
        const ofDelete: Key = [kind, id, 'delete']
        const key = confirming === undefined ? ofDelete : wholeOf(ofDelete)
        const delay = confirming ?? waiting
        if (delay === undefined) return
        delays.set(keyText(key), delay)
        if (confirming === undefined) graceKeys.add(key)
        else unconfirmed.add(key)
      })
    const of = (key: Key) => delays.get(keyText(key))
    return [
      { code: 'grace', params: {}, until: 'time', keys: graceKeys, of },
      { code: 'absence-unconfirmed', params: {}, until: 'time', keys: unconfirmed, of },
    ]
  },
}

const LONGEST_MS = 90 * 24 * 60 * 60 * 1000

/** The times since which entries are absent. The plan removes entries that are back; the end of a run adds missing ones. */
function* nextAbsences(facts: RunFacts, moment: Moment): Steps<Partial<States>> {
  const { wanted, states, rechecks, now } = facts
  const next = { user: new Map<string, Absence>(), group: new Map<string, Absence>() }
  for (const kind of ['user', 'group'] as const) {
    const before = states.grace?.[kind] ?? new Map<string, Absence>()
    const isBack = (id: string): boolean =>
      wanted.snapshots.source.seen[kind].has(id) || rechecks.entries[kind].get(id) === 'present'
    if (moment.at === 'begun')
      yield* forEachInSteps(before, ([id, absence]) => !isBack(id) && next[kind].set(id, absence))
    else {
      // The directory's list may lack an entry once; one that was deleted by hand is forgotten some day.
      const isForgotten = ({ since }: Absence): boolean => now.getTime() - since.getTime() > LONGEST_MS
      yield* forEachInSteps(before, ([id, absence]) => {
        const isOut = moment.deleted[kind].has(id) || isBack(id) || isForgotten(absence)
        if (!isOut && !wanted.isThere(kind, id)) next[kind].set(id, absence)
      })
      yield* forEachInSteps(wanted.absent[kind], (id) => {
        if (moment.deleted[kind].has(id) || isBack(id)) return
        const known = before.get(id)
        const { since, reads } = known ?? { since: now, reads: 0 }
        if (isDeletedLater(facts, kind, id)) next[kind].set(id, { since, reads: reads + 1 })
        else if (known !== undefined) next[kind].set(id, known)
      })
    }
  }
  const isSame = (kind: Kind): boolean => next[kind].size === (states.grace?.[kind].size ?? 0)
  return moment.at === 'begun' && isSame('user') && isSame('group') ? {} : { grace: next }
}
