import type { Kind } from '../../directory/entry.ts'
import { explainGroup, explainUser, type RawEntry } from '../explain.ts'
import type { EntryTrace } from '../source.ts'
import type { Compiled, CompiledGroupColumn } from './compile.ts'
import { groupsOf, lookupOf } from './group-column.ts'
import type { CsvInput } from './input.ts'
import { readCsv } from './read-csv.ts'

/** Explains the entry of this id. A group of a column comes from every row that names it. */
export async function explain(
  { users, groups, groupColumn }: Compiled,
  kind: Kind,
  id: string,
  signal: AbortSignal,
): Promise<EntryTrace | undefined> {
  if (kind === 'user') {
    const raw = await findRow(users, users.map.id, id, signal)
    return raw && explainUser(raw, users.map)
  }
  if (groupColumn !== undefined) return explainColumnGroup(users, groupColumn, id, signal)
  const raw = groups && (await findRow(groups, groups.map.id, id, signal))
  return raw && groups && explainGroup(raw, groups.map)
}

async function explainColumnGroup(
  users: CsvInput,
  groupColumn: CompiledGroupColumn,
  id: string,
  signal: AbortSignal,
): Promise<EntryTrace | undefined> {
  let first: string | undefined
  let rows = 0
  await readCsv(users, signal, {
    onRow: ({ from, cells }) => {
      if (!groupsOf(groupColumn, cells).includes(id)) return
      first ??= from()
      rows += 1
    },
    onUnreadable: () => undefined,
  })
  if (first === undefined) return undefined
  const others = rows === 1 ? '' : ` and ${rows - 1} more row${rows === 2 ? '' : 's'}`
  const from = `column "${groupColumn.column}" of ${first}${others}`
  return explainGroup({ id, from, lookup: lookupOf(groupColumn, id) }, groupColumn.map)
}

async function findRow(
  input: CsvInput,
  column: string,
  id: string,
  signal: AbortSignal,
): Promise<RawEntry | undefined> {
  let found: RawEntry | undefined
  await readCsv(input, signal, {
    onRow: ({ from, cells }) => {
      if (found === undefined && cells(column).includes(id)) found = { id, from: from(), lookup: cells }
    },
    onUnreadable: () => undefined,
  })
  return found
}
