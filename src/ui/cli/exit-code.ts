import type { RunSummary, StoredBlock } from '../../operations/control.ts'
import { isDoubted } from '../../operations/doubted.ts'
import { total } from '../../operations/total.ts'
import { notMade } from '../messages/ends.ts'

/** Exit codes of commands that ran to their end; those of errors are in `errors.ts`. */
export const EXIT = { done: 0, error: 1, changes: 2, asks: 3, incomplete: 4 } as const

const BY_SEVERITY: readonly number[] = [EXIT.done, EXIT.changes, EXIT.incomplete, EXIT.asks, EXIT.error]

type Ending = Pick<RunSummary, 'state' | 'counts' | 'undo' | 'questions'> & {
  readonly blocks: readonly Pick<StoredBlock, 'code' | 'until' | 'asks' | 'changes'>[]
}

/** docs/errors.md has the table. A run of some entries asks only about them. */
export function runExitCode(run: Ending): number {
  const { state, counts, blocks, questions } = run
  if ((counts?.notices['unknown-id'] ?? 0) > 0) return EXIT.error
  if (state === 'planned') {
    const changes = total(counts?.planned ?? {}) + total(counts?.blocked ?? {})
    const isEqual = changes === 0 && blocks.every(({ asks }) => asks === null) && notMade(run).length === 0
    return isEqual ? EXIT.done : EXIT.changes
  }
  if (state !== 'done' && state !== 'held') return EXIT.error
  if (questions > 0) return EXIT.asks
  const isIncomplete = state === 'held' || notMade(run).length > 0 || blocks.some(isForLater)
  return isIncomplete ? EXIT.incomplete : EXIT.done
}

/** Changes that the run should have made. A run of some entries has blocks that name only others. */
function isForLater(block: Ending['blocks'][number]): boolean {
  return block.changes > 0 && (block.until === 'service' || isDoubted(block))
}

/** The worst code. An unknown code is worse than all known ones. */
export function worstExitCode(codes: readonly number[]): number {
  let worst: number = EXIT.done
  for (const code of codes) {
    if (severity(code) > severity(worst)) worst = code
  }
  return worst
}

function severity(code: number): number {
  const index = BY_SEVERITY.indexOf(code)
  return index < 0 ? BY_SEVERITY.length : index
}
