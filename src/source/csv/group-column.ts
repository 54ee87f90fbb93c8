import type { Collector } from '../collect.ts'
import type { Lookup } from '../mapping.ts'
import type { CompiledGroupColumn } from './compile.ts'
import type { MemberTable } from './member-table.ts'

/** The groups that a row names, without the blanks around each. */
export function groupsOf({ column, separator }: CompiledGroupColumn, cells: Lookup): string[] {
  const [text = ''] = cells(column)
  const parts = separator === undefined ? [text] : text.split(separator)
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

/** All that is known of a group of the column: the text that names it. */
export function lookupOf({ column }: CompiledGroupColumn, group: string): Lookup {
  return (name) => (name === column ? [group] : [])
}

/** Every group that a row named, with those who named it. */
export function addGroupsOfColumn(
  groupColumn: CompiledGroupColumn,
  members: MemberTable,
  collector: Collector,
): void {
  const { column, map } = groupColumn
  for (const { group, users } of members.orphans()) {
    collector.addGroup({
      ids: [group],
      idName: column,
      from: `column "${column}"`,
      ...map.fieldsOf(lookupOf(groupColumn, group)),
      members: users,
      strangers: [],
    })
  }
}
