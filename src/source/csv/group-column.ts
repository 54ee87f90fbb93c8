import type { Collector } from '../collect.ts'
import type { Finder } from '../find.ts'
import type { Lookup } from '../mapping.ts'
import type { CompiledGroupColumn } from './compile.ts'
import type { MemberTable } from './member-table.ts'

export function groupsOf({ column, separator }: CompiledGroupColumn, cells: Lookup): string[] {
  const [text = ''] = cells(column)
  const parts = separator === undefined ? [text] : text.split(separator)
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

/** A group of the column has a single value: the text that names it. */
function lookupOf({ column }: CompiledGroupColumn, group: string): Lookup {
  return (name) => (name === column ? [group] : [])
}

/** The members of a group are the users of the rows that name it. */
export function addGroupsOfColumn(
  groupColumn: CompiledGroupColumn,
  members: MemberTable,
  collector: Collector,
  finder: Finder | undefined,
): void {
  const { column, map } = groupColumn
  for (const { group, users } of members.remaining()) {
    const lookup = lookupOf(groupColumn, group)
    const found = { ids: [group], idName: column, from: `column "${column}"`, ...map.fieldsOf(lookup) }
    finder?.see('group', { ...found, lookup, members: users.length }, map)
    collector.addGroup({ ...found, members: users, unknownMembers: [] })
  }
}
