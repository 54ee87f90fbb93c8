import type { GroupMapping, Lookup, UserMapping } from './mapping.ts'
import type { EntryTrace } from './source.ts'

/** Where an entry was read, and all that was read of it. */
export interface RawEntry {
  readonly id: string
  readonly from: string
  readonly lookup: Lookup
}

/** How the fields of a user come about, step by step. */
export function explainUser({ id, from, lookup }: RawEntry, map: UserMapping): EntryTrace {
  return {
    kind: 'user',
    id,
    from,
    fields: [
      { field: 'email', steps: map.email.trace(lookup), value: map.email.valueOf(lookup) },
      { field: 'name', steps: map.name.trace(lookup), value: map.name.valueOf(lookup) },
      { field: 'employee_id', steps: map.employeeId.trace(lookup), value: map.employeeId.valueOf(lookup) },
    ],
  }
}

/** How the name of a group comes about. Its members are no mapping: the report of a run names those that are missing. */
export function explainGroup({ id, from, lookup }: RawEntry, map: GroupMapping): EntryTrace {
  return {
    kind: 'group',
    id,
    from,
    fields: [{ field: 'name', steps: map.name.trace(lookup), value: map.name.valueOf(lookup) }],
  }
}
