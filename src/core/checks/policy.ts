import { FIELDS, type Field, matching } from '../keys.ts'
import type { Check } from './check.ts'

const TAKING: readonly Field[] = ['leave', 'delete', '-member']

/** `upsert` deletes nothing and takes nobody out of a group; `create-only` changes no entry that exists. */
export const policy: Check = {
  name: 'policy',
  *judge({ wanted, left }) {
    const { policy: of } = wanted.rules
    if (of === 'mirror') return []
    const keys =
      of === 'upsert'
        ? matching(left, TAKING)
        : matching(left, FIELDS, ([kind, id, field]) => TAKING.includes(field) || wanted.isThere(kind, id))
    return [{ code: 'policy', params: { policy: of }, until: 'configuration', keys }]
  },
}
