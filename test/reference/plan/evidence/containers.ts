import type { Kind } from '../../directory/entry.ts'
import type { Sighting } from '../../directory/snapshot.ts'
import type { Steps } from '../../directory/steps.ts'
import { amount, digits } from '../../directory/wording.ts'
import { type EmptiedContainer, findEmptied } from '../baseline.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Plan } from '../changes.ts'
import { deletesById, type Evidence, type Finding, isUnapproved } from './finding.ts'

/** Who cannot be read any more looks gone, or outside of a filter whose attributes are hidden. */
const ABSENT: ReadonlySet<Sighting | undefined> = new Set(['gone', 'left-filter'])

/**
 * Entries of one container that are absent by id, in which nobody is left: perhaps the reader may not see it any more.
 */
export function* emptiedContainers(
  { source, sightings, waits }: PlanInputs,
  plan: Plan,
  { baselines, approved }: Evidence,
): Steps<Finding[]> {
  const { eachPlace } = source
  if (eachPlace === undefined || waits?.allButNew !== undefined) return []
  const findings: Finding[] = []
  for (const kind of ['user', 'group'] as const) {
    const before = baselines[kind]
    if (before === undefined) continue
    const planned = deletesById(plan, kind)
    const absent = [...sightings[kind].keys()].filter((id) => ABSENT.has(sightings[kind].get(id)))
    const emptied = yield* findEmptied(before, (visit) => eachPlace(kind, visit), absent)
    for (const found of emptied) {
      const ids = found.ids.filter((id) => isUnapproved(planned.get(id), approved))
      if (ids.length === 0) continue
      const { container, wasFound } = found
      const notice = `is absent, and no ${kind} ${wasFound ? 'was' : 'is'} left in "${container}": not deleted`
      findings.push({
        guard: 'container-emptied',
        detail: detailOf(kind, found, sightings[kind]),
        changes: ids.map((id) => planned.get(id) ?? ''),
        waitsFor: 'person',
        container,
        holds: [{ kind, ids, what: 'delete', notice }],
      })
    }
  }
  return findings
}

function detailOf(
  kind: Kind,
  { container, ids, wasFound }: EmptiedContainer,
  sightings: ReadonlyMap<string, Sighting>,
): string {
  const outside = ids.filter((id) => sightings.get(id) === 'left-filter').length
  return (
    `${amount(ids.length, kind)} of "${container}" ${ids.length === 1 ? 'is' : 'are'} absent` +
    `${outside === 0 ? '' : ` (${digits(outside)} still in the source, but outside the sync's filter)`}, and no ${kind} ` +
    `${wasFound ? 'was left there in an earlier run' : 'is left there'}; perhaps the reader may not see ` +
    `${outside === 0 ? 'it' : 'what the filter asks for'} any more, or the sync has another base or filter`
  )
}
