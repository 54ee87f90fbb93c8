import type { GroupMapping, Lookup, UserMapping } from './mapping.ts'
import type { EntryTrace } from './source.ts'

/** An entry as the source has it: where it was read, and all its values. */
export interface RawEntry {
  readonly id: string
  readonly from: string
  readonly lookup: Lookup
}

/** Explains step by step how the fields of a user get their values. */
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

/** Explains how the name of a group gets its value. Members are not mapped; the run's report names missing ones. */
export function explainGroup({ id, from, lookup }: RawEntry, map: GroupMapping): EntryTrace {
  return {
    kind: 'group',
    id,
    from,
    fields: [{ field: 'name', steps: map.name.trace(lookup), value: map.name.valueOf(lookup) }],
  }
}
