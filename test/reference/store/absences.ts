import type { Kind } from '../directory/entry.ts'
import { DONE, type Ram } from './ram.ts'

const KINDS = ['user', 'group'] as const

export async function absencesOf(ram: Ram, _of: unknown) {
  return ram.absences
}

export async function countAbsences(
  ram: Ram,
  _of: unknown,
  waiting: Readonly<Record<Kind, readonly string[]>>,
  isBack: (kind: Kind, id: string) => boolean,
): Promise<void> {
  for (const kind of KINDS) {
    const absences = ram.absences[kind]
    for (const id of absences.keys()) if (isBack(kind, id)) absences.delete(id)
    for (const id of waiting[kind]) {
      const { since, reads } = absences.get(id) ?? { since: new Date(ram.now), reads: 0 }
      absences.set(id, { since, reads: reads + 1 })
    }
  }
}

export async function forgetDeleted(ram: Ram, run: number): Promise<void> {
  for (const { op, entry_id: id, state } of ram.rowsOf(run))
    for (const kind of KINDS) if (op === `delete-${kind}` && DONE.has(state)) ram.absences[kind].delete(id)
}
