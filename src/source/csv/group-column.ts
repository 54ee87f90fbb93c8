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

/** Every group that a row named, with those who named it. */
export function addGroupsOfColumn(
  { column, map }: CompiledGroupColumn,
  members: MemberTable,
  collector: Collector,
): void {
  for (const { group, users } of members.orphans()) {
    collector.addGroup({
      ids: [group],
      idName: column,
      from: `column "${column}"`,
      ...map.fieldsOf((name) => (name === column ? [group] : [])),
      members: users,
      strangers: [],
    })
  }
}
