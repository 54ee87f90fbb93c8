import { filterInSteps, forEachInSteps } from '../../base/steps.ts'
import type { Kind } from '../entries/entry.ts'
import type { Sighting } from '../entries/recheck.ts'
import { KeySet, wholeOf } from '../keys.ts'
import { type Baseline, findEmptied, takeBaseline } from '../plan/baseline.ts'
import type { Check, RunFacts } from './check.ts'
import type { Block } from '../block.ts'
import { containersAsked } from './containers-asked.ts'

/** An unreadable entry looks gone, or outside of a filter whose attributes are hidden. */
const ABSENT: ReadonlySet<Sighting | undefined> = new Set(['absent', 'out-of-scope'])

/** Absent entries of a container that lost all its entries: a read right that was lost looks the same. */
export const containerEmptied: Check = {
  name: 'container-emptied',
  *next({ wanted, states }, moment) {
    const { places } = wanted.snapshots.source
    if (places === undefined || moment.at === 'begun' || moment.end !== 'applied') return {}
    const containers: { -readonly [K in Kind]?: Baseline } = {}
    for (const kind of ['user', 'group'] as const) {
      // An absent entry that was not deleted counts in its container, so that it does not look smaller than it was.
      const absent = [...wanted.absent[kind]].filter((id) => !moment.deleted[kind].has(id))
      const before = states.containers?.[kind]
      containers[kind] = yield* takeBaseline((visit) => places[kind].each(visit), { absent, before })
    }
    return { containers }
  },
  concerns: ['leave', 'delete'],
  *judge(facts) {
    const { places } = facts.wanted.snapshots.source
    if (places === undefined) return []
    const blocks: Block[] = []
    for (const kind of ['user', 'group'] as const) {
      const before = facts.states.containers?.[kind]
      if (before === undefined) continue
      const sightings = facts.rechecks.entries[kind]
      const absent = yield* filterInSteps([...sightings.keys()], (id) => ABSENT.has(sightings.get(id)))
      const found = yield* findEmptied(before, (visit) => places[kind].each(visit), absent)
      const asked = yield* containersAsked(facts.decisions, before, found, absent)
      for (const lost of [found, asked])
        for (const [container, ids] of lost) {
          const { keys, leftFilter } = yield* keysOf(facts, kind, ids)
          const params = { kind, container, absent: ids.length, leftFilter, isEmpty: lost === found }
          blocks.push({ code: 'container-emptied', params, until: 'decision', keys })
        }
    }
    return blocks
  },
}

function* keysOf({ left, rechecks }: RunFacts, kind: Kind, ids: readonly string[]) {
  const keys = new KeySet()
  let leftFilter = 0
  yield* forEachInSteps(ids, (id) => {
    if (rechecks.entries[kind].get(id) === 'out-of-scope') leftFilter += 1
    const key = wholeOf([kind, id, 'delete'])
    if (left.has(key)) keys.add(key)
  })
  return { keys, leftFilter }
}
