import { FIELDS, type Field, matching } from '../keys.ts'
import type { Check } from './check.ts'
import type { RunFacts } from './run-facts.ts'

const TAKING: readonly Field[] = ['leave', 'delete', '-member']

/** `upsert` deletes nothing and takes nobody out of a group; `create-only` changes no entry that exists. */
export const policy: Check<RunFacts> = {
  name: 'policy',
  *judge({ wanted, left, policy: of }) {
    if (of === 'mirror') return []
    const keys =
      of === 'upsert'
        ? matching(left, TAKING)
        : matching(left, FIELDS, ([kind, id, field]) => TAKING.includes(field) || wanted.isThere(kind, id))
    return [{ code: 'policy', params: { policy: of }, until: 'configuration', keys }]
  },
}
