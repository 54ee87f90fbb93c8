import type { Wait } from '../../notice.ts'
import type { BlockParams } from '../../block.ts'
import type { Kind } from '../../entries/entry.ts'
import type { Sighting } from '../../entries/recheck.ts'
import { filterInSteps, forEachInSteps, type Steps } from '../../../base/steps.ts'
import { type EmptiedContainer, findEmptied } from '../baseline.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Plan } from '../changes.ts'
import { deletesById, type Evidence, type Finding, isUnapproved } from './finding.ts'

/** An unreadable entry looks gone, or outside of a filter whose attributes are hidden. */
const ABSENT: ReadonlySet<Sighting | undefined> = new Set(['absent', 'out-of-scope'])

/** Absent entries of an OU that lost all its entries: a revoked read right looks the same. */
export function* emptiedContainers(
  { source, sightings, waits }: PlanInputs,
  plan: Plan,
  { baselines, approved }: Evidence,
): Steps<Finding[]> {
  const { places } = source
  if (places === undefined || waits?.allButNew !== undefined) return []
  const findings: Finding[] = []
  for (const kind of ['user', 'group'] as const) {
    const before = baselines[kind]
    if (before === undefined) continue
    const planned = yield* deletesById(plan, kind)
    const isAbsent = (id: string) => ABSENT.has(sightings[kind].get(id))
    const absent = yield* filterInSteps([...sightings[kind].keys()], isAbsent)
    const emptied = yield* findEmptied(before, (visit) => places[kind].each(visit), absent)
    for (const found of emptied) {
      const ids = yield* filterInSteps(found.ids, (id) => isUnapproved(planned.get(id), approved))
      if (ids.length === 0) continue
      const { container, wasFound } = found
      const wait: Wait = { code: 'container-emptied', params: { container, wasFound } }
      const changes: string[] = []
      yield* forEachInSteps(ids, (id) => changes.push(planned.get(id) ?? ''))
      findings.push({
        code: 'container-emptied',
        params: yield* paramsOf(kind, found, sightings[kind]),
        changes,
        waitsFor: 'person',
        holds: [{ kind, ids, what: 'delete', wait }],
      })
    }
  }
  return findings
}

function* paramsOf(
  kind: Kind,
  { container, ids, wasFound }: EmptiedContainer,
  sightings: ReadonlyMap<string, Sighting>,
): Steps<BlockParams['container-emptied']> {
  const leftFilter = (yield* filterInSteps(ids, (id) => sightings.get(id) === 'out-of-scope')).length
  return { kind, container, absent: ids.length, leftFilter, wasFound }
}
