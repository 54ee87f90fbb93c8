import type { StoredBlock } from './control.ts'

const DOUBTED: ReadonlySet<string> = new Set(['recently-deleted', 'removals-not-confirmed'])

/** Whether the read is doubted for these changes: a later one has to confirm them, and no operator is asked. */
export function isDoubted({ code, until }: Pick<StoredBlock, 'code' | 'until'>): boolean {
  return until === 'read' || DOUBTED.has(code)
}
