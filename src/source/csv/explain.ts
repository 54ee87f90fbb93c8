import type { Kind } from '../../directory/entry.ts'
import { explainGroup, explainUser, type RawEntry } from '../explain.ts'
import type { EntryTrace } from '../source.ts'
import type { Compiled } from './compile.ts'
import type { CsvInput } from './input.ts'
import { readCsv } from './read-csv.ts'

/** How the entry of this id came about. Groups that are the values of a column have no row of their own: `undefined`. */
export async function explain(
  { users, groups }: Compiled,
  kind: Kind,
  id: string,
  signal: AbortSignal,
): Promise<EntryTrace | undefined> {
  if (kind === 'user') {
    const raw = await findRow(users, users.map.id, id, signal)
    return raw && explainUser(raw, users.map)
  }
  const raw = groups && (await findRow(groups, groups.map.id, id, signal))
  return raw && groups && explainGroup(raw, groups.map)
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
