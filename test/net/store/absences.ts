import type { Kind } from '../../../src/core/entries/entry.ts'
import type { Ram } from '../../reference/store/ram.ts'

export { absencesOf, forgetDeleted } from '../../reference/store/absences.ts'

export async function addAbsences(ram: Ram, _of: unknown, kind: Kind, ids: readonly string[]): Promise<void> {
  const absences = ram.absences[kind]
  for (const id of ids) {
    const { since, reads } = absences.get(id) ?? { since: new Date(ram.now), reads: 0 }
    absences.set(id, { since, reads: reads + 1 })
  }
}

export async function forgetAbsences(
  ram: Ram,
  _of: unknown,
  kind: Kind,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) ram.absences[kind].delete(id)
}
